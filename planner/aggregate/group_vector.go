package aggregate

import (
	"math"
	"strings"

	"scrim/engine/estimator"
	"scrim/engine/estimator/continual"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/view"
	"scrim/functions"
)

// FitsGroupVector reports whether an aggregate has no loss or method of its own, and is of a kind
// that can be answered in all groups at once.
func (a *Aggregate) FitsGroupVector() bool {
	if a.Vector != nil || a.Parts != nil || a.targeted || a.Paired() {
		return false
	}
	for _, o := range a.Call.Options.Given {
		switch o {
		case "lower", "upper", "weight":
		default:
			return false
		}
	}
	return a.Call.Function.InGroups != nil
}

// joined is the aggregate that stands for its members in all groups.
func GroupVectorOf(members []*Aggregate) *Aggregate {
	t := &Aggregate{Parts: members, GroupVector: true, Call: members[0].Call}
	texts := make([]string, len(members))
	for i, m := range members {
		texts[i] = m.Text
	}
	t.Text = strings.Join(texts, ", ")
	t.Call.Options = functions.Options{}
	return t
}

// Measure is what the estimator of all groups tells of an aggregate.
func (a *Aggregate) Measure() groups.Measure { return a.Call.Function.InGroups(a.Call) }

// Width is the number of a person's columns for one group.
func (a *Aggregate) Width() int {
	n := 0
	for _, m := range a.Parts {
		n += len(m.Measure().Kinds())
	}
	return n
}

// presentsOf are the members' ways to present their part of a group.
func presentsOf(members []*Aggregate) []func(estimator.Estimate) any {
	out := make([]func(estimator.Estimate) any, len(members))
	for i, m := range members {
		out[i] = func(e estimator.Estimate) any { return m.presentOne(e.Values[i]) }
	}
	return out
}

// cellsOf give what is released of each member in one cell of a view, as a view.Cell.
func cellsOf(members []*Aggregate) []func(estimator.Estimate) any {
	out := make([]func(estimator.Estimate) any, len(members))
	for i := range members {
		out[i] = func(e estimator.Estimate) any { return view.CellOf(e, i) }
	}
	return out
}

// daysOf give what is released of each member on one day, as a continual.Day.
func daysOf(members []*Aggregate) []func(estimator.Estimate) any {
	out := make([]func(estimator.Estimate) any, len(members))
	for i := range members {
		out[i] = func(e estimator.Estimate) any { return continual.DayOf(e, i) }
	}
	return out
}

// presentOne presents one released number, NULL where the estimator has none.
func (a *Aggregate) presentOne(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return a.Present(estimator.Estimate{Values: []float64{v}})
}
