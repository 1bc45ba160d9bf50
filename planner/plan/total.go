package plan

import (
	"fmt"
	"strings"
)

// Total says that the groups of a release sum up those of another: both are of the same rows, and
// each group of Under is a part of one of Of. The executor makes their released numbers agree
// (package engine/estimator/reconcile).
type Total struct {
	Of, Under *Release
	// of each group number of Under, that of Of; -1: no row is in it, whatever the data
	Groups []int
	Values []TotalValue
}

// TotalValue is a count or a sum that both releases have.
type TotalValue struct{ Of, Under ValueAt }

// ValueAt is a value of a release's answer: an aggregate, and one of its parts.
type ValueAt struct{ Aggregate, Part int }

// lines says of the totals of a release what they agree with, for EXPLAIN.
func (s *Statement) totalLines(r *Release) []string {
	var out []string
	for _, t := range s.Totals {
		if t.Of == r {
			out = append(out, fmt.Sprintf("totals of %s: %s by weighted least squares", KeyNames(t.Under), agreeing(len(t.Values))))
		}
	}
	return out
}

// verifyTotals checks what the executor relies on: see Verify.
func (s *Statement) verifyTotals(known map[*Release]bool) error {
	under, of := map[*Release]bool{}, map[*Release]bool{}
	for _, t := range s.Totals {
		_, a := known[t.Of]
		_, b := known[t.Under]
		switch {
		case !a || !b || t.Of == t.Under || under[t.Under] || of[t.Of] || t.Of.Selection != nil || t.Under.Selection != nil:
			return fmt.Errorf("invariant 13: totals of %s", strings.Join(t.Under.Tables, ", "))
		case len(t.Groups) != t.Under.Groups || len(t.Of.Keys) >= len(t.Under.Keys):
			return fmt.Errorf("invariant 13: totals of %d groups", len(t.Groups))
		}
		under[t.Under], of[t.Of] = true, true
		for _, g := range t.Groups {
			if g < -1 || g >= t.Of.Groups {
				return fmt.Errorf("invariant 13: a part of group %d", g)
			}
		}
		for _, v := range t.Values {
			if !v.Of.in(t.Of) || !v.Under.in(t.Under) {
				return fmt.Errorf("invariant 13: a value that is not there")
			}
		}
	}
	return nil
}

func (v ValueAt) in(r *Release) bool {
	return v.Aggregate >= 0 && v.Aggregate < len(r.Aggregates) && v.Part >= 0 && v.Part < len(r.Aggregates[v.Aggregate].ErrorBars)
}

func agreeing(values int) string {
	if values == 1 {
		return "one value agrees"
	}
	return fmt.Sprintf("%d values agree", values)
}
