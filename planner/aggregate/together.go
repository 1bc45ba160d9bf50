package aggregate

import (
	"slices"
	"strings"

	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
	"scrim/engine/estimator/mean"
	"scrim/functions"
	"scrim/internal/lists"
	"scrim/internal/params"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// sharesSums reports whether an aggregate is a number of rows, a sum or a mean over rows without a
// loss or method of its own, without a declared range by which nothing is searched for.
func (s *Binder) sharesSums(r *rel.Relation, a *Aggregate) bool {
	c := a.Call
	if a.Vector != nil || a.Parts != nil || a.Other != nil || a.targeted || a.Paired() || a.Moment != NoMoment || a.Pure || c.Units || c.Distinct || c.Owners != functions.OneOwner {
		return false
	}
	for _, o := range c.Options.Given {
		if o != "weight" {
			return false
		}
	}
	switch m := s.params.Method(r.Private); {
	case c.Function.Counts:
		return true
	case c.Function.Averages:
		return (c.Options.Weight == functions.ByRow || a.MaxRows == 1) && (m == "" || m == params.Auto) && !a.KnownApart()
	}
	return c.Function.Adds && !a.KnownApart()
}

// sameRows reports whether two aggregates are over the same rows, whatever the data are.
func (s *Binder) sameRows(a, b *Aggregate) bool {
	all := func(a *Aggregate) bool { return a.Arg == nil || !a.Value.Nullable }
	return all(a) && all(b) || a.Arg != nil && b.Arg != nil && tree.Same(s.ctx, a.Arg, b.Arg)
}

// Together returns the aggregate that stands for those of a list that share sums with one of them,
// a mean: means over the same rows, sums of what they average and the number of these rows are
// answered by one number of rows and one sum for each argument. It is nil where no number is asked
// for and the sums are no fewer than the answers.
func (s *Binder) Together(r *rel.Relation, list []*Aggregate, first *Aggregate) *Aggregate {
	fits := func(a *Aggregate) bool { return s.sharesSums(r, a) && s.sameRows(first, a) }
	if !first.Call.Function.Averages || !fits(first) {
		return nil
	}
	t := &Aggregate{Call: first.Call, Value: first.Value, MaxRows: first.MaxRows, Kinds: []estimator.Kind{estimator.Rows}}
	sumOf := func(a *Aggregate) int {
		return slices.IndexFunc(t.Sums, func(b *Aggregate) bool { return tree.Same(s.ctx, a.Arg, b.Arg) })
	}
	for _, a := range list {
		if a.Call.Function.Averages && fits(a) && sumOf(a) < 0 {
			t.Sums, t.Kinds = append(t.Sums, a), append(t.Kinds, estimator.Sum)
		}
	}
	counted := false
	for _, a := range list {
		f, asked := a.Call.Function, mean.Asked{Argument: -1}
		if !fits(a) {
			continue
		}
		if counted = counted || f.Counts; !f.Counts {
			if asked = (mean.Asked{Argument: sumOf(a), Mean: f.Averages}); asked.Argument < 0 {
				continue
			}
		}
		t.Parts, t.answers = append(t.Parts, a), append(t.answers, asked)
	}
	if !counted && len(t.Parts) <= t.Share() || len(t.Parts) < t.Share() {
		return nil
	}
	texts := lists.Map(t.Parts, func(m *Aggregate) string { return m.Text })
	t.Text = strings.Join(texts, ", ")
	return t
}

// SumsFromMeans notes of each sum among aggregates that are answered in all groups at once whether
// a mean of its argument and the number of its rows are among them: these answer it.
func (s *Binder) SumsFromMeans(list []*Aggregate) {
	for _, a := range list {
		if a.Measure() != groups.Sum {
			continue
		}
		a.mean = 1 + slices.IndexFunc(list, func(b *Aggregate) bool {
			return b.Measure() == groups.RowMean && tree.Same(s.ctx, a.Arg, b.Arg) && len(a.Call.Options.Given)+len(b.Call.Options.Given) == 0
		})
		a.count = 1 + slices.IndexFunc(list, func(b *Aggregate) bool { return b.Measure() == groups.Rows && s.sameRows(a, b) })
		if a.mean == 0 || a.count == 0 {
			a.mean, a.count = 0, 0
		}
	}
}

// togetherBy builds the mechanism of an aggregate whose parts share sums, under the facts p.
func (a *Aggregate) togetherBy(p estimator.Params) (estimator.Estimator, error) {
	sums := lists.Map(a.Sums, func(m *Aggregate) estimator.Params { return m.Facts() })
	return mean.NewTogether(p, sums, a.answers)
}
