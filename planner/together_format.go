package planner

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

// divided reports whether the loss of some aggregate is divided by the groups that a unit may be in, or keys are selected, which
// bounds them as well.
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

// groupLines are the lines of EXPLAIN on an aggregate of all groups at once.
func (r *Release) groupLines(a Aggregate) []string {
	if a.Groups == nil {
		return nil
	}
	n := fmt.Sprintf("groups=%d", r.Groups)
	if r.Selection != nil {
		n = "groups=those selected"
	}
	lines := []string{fmt.Sprintf("one vector a unit  %s  columns=%d  memory=%d bytes a unit and group", n, len(a.Columns), 8*(2+len(a.Columns))+20*len(a.Columns))}
	if r, ok := a.Estimator.(estimator.Reasoned); ok && r.Reason() != "" {
		lines = append(lines, "method: "+r.Reason())
	}
	return lines
}
