package plan

import (
	"fmt"

	"scrim/engine/estimator"
)

// scope says what the loss of an aggregate's estimator is for.
func (a Aggregate) scope() string {
	if a.Groups != nil {
		return "all groups"
	}
	return "a group"
}

// divided reports whether the loss of some aggregate is divided by the groups that a unit may be
// in, or keys are selected, which bounds them as well.
func (r *Release) divided() bool {
	if r.Selection != nil {
		return true
	}
	for _, a := range r.Aggregates {
		if a.Groups == nil {
			return true
		}
	}
	return len(r.Aggregates) == 0
}

// steps are the steps of an aggregate's mechanism. The numbers of answers that go with the number
// of groups are left out where that is private.
func (r *Release) steps(a Aggregate) []estimator.Step {
	steps := a.Estimator.Steps()
	if a.Groups == nil || r.Selection == nil {
		return steps
	}
	for i, s := range steps {
		if s.Queries == a.Groups.Groups*a.Groups.Width() {
			steps[i].Queries = 0
		}
	}
	return steps
}

// groupLines are the lines of EXPLAIN on an aggregate of all groups at once.
func (r *Release) groupLines(a Aggregate) []string {
	if a.Groups == nil {
		return nil
	}
	n := fmt.Sprintf("groups=%d", r.Groups)
	if r.Selection != nil {
		n = "groups=those selected"
		if r.Other {
			n += " and that of all others"
		}
		n += fmt.Sprintf(", here as for %d", a.Groups.Groups)
	}
	return []string{fmt.Sprintf("one vector a unit  %s  columns=%d", n, len(a.Columns))}
}
