package exec

import (
	"maps"
	"math"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/engine/estimator/reconcile"
	"scrim/internal/lists"
	"scrim/planner/plan"
)

// reconciled returns the answers with the counts and sums of one another's parts made to agree
// (plan.Total): post-processing of released numbers. What is kept for replays is what was released,
// so that a release is reconciled with whatever it is asked beside. It tells how many totals were
// left as they are.
func reconciled(s *plan.Statement, answers map[*plan.Release]*answer) (map[*plan.Release]*answer, reconcile.Apart) {
	if len(s.Totals) == 0 {
		return unclamped(s, answers), reconcile.Apart{}
	}
	f := &family{answers: answers, first: map[member]int{}}
	for _, t := range s.Totals {
		for _, v := range t.Values {
			of, under := f.add(member{t.Of, v.Of}), f.add(member{t.Under, v.Under})
			for g, to := range t.Groups {
				if to >= 0 {
					f.nodes[under+g].Parent = of + to
				}
			}
		}
	}
	results, apart := reconcile.Nodes(f.nodes)
	out := map[*plan.Release]*answer{}
	for r, a := range answers {
		out[r] = &answer{Groups: slices.Clone(a.Groups)}
	}
	touched := map[*estimator.Estimate]bool{}
	for m, first := range f.first {
		groups := out[m.release].Groups
		for i := range groups {
			g := &groups[i]
			if res := results[first+g.Number]; res.Changed {
				if e := &answers[m.release].Groups[i].Estimates[m.value.Aggregate]; !touched[e] {
					touched[e] = true
					if !ownEstimates(g, answers[m.release].Groups[i]) {
						g.Estimates = slices.Clone(g.Estimates)
					}
					g.Estimates[m.value.Aggregate] = e.Each()
				}
				agree(&g.Estimates[m.value.Aggregate], m.at(), res)
			}
		}
	}
	return unclamped(s, out), apart
}

// unclamped returns the answers with the numbers by public keys that may not be under 0, of which
// noise has brought some there, as the nearest that are not and add up to what they did. Each shown
// as 0 by itself, all others stay, and what is added up of them is too much: of two persons a group
// by half as much again. Intervals stay those of the numbers as they were released.
func unclamped(s *plan.Statement, answers map[*plan.Release]*answer) map[*plan.Release]*answer {
	out := answers
	for r, a := range answers {
		if len(r.Keys) == 0 || r.Selection != nil || slices.ContainsFunc(s.Totals, func(t plan.Total) bool { return t.Of == r || t.Under == r }) {
			continue
		}
		groups := slices.Clone(a.Groups)
		changed := false
		for k := range r.Aggregates {
			for part, bar := range r.Aggregates[k].ErrorBars {
				if bar.Clamp && bar.At >= 0 {
					changed = notUnder0(r, groups, a, member{r, plan.ValueAt{Aggregate: k, Part: part}}) || changed
				}
			}
		}
		if changed {
			out = maps.Clone(out)
			out[r] = &answer{Groups: groups}
		}
	}
	return out
}

// notUnder0 changes a value in all groups that are shown; false where none of them is under 0.
func notUnder0(r *plan.Release, groups []answerGroup, a *answer, m member) bool {
	visible := lists.Set(lists.Map(a.shown(r), func(g answerGroup) int { return g.Number }))
	var list []int
	var values, noise []float64
	for i, g := range groups {
		if n := node(g.Estimates[m.value.Aggregate], m); !n.Absent && visible[g.Number] {
			list, values, noise = append(list, i), append(values, n.Value), append(noise, n.Noise)
		}
	}
	if len(list) == 0 || slices.Min(values) >= 0 {
		return false
	}
	for i, x := range reconcile.NotUnder0(values, noise, m.bar().Digits) {
		g := &groups[list[i]]
		if !ownEstimates(g, a.Groups[list[i]]) {
			g.Estimates = slices.Clone(g.Estimates)
		}
		e := g.Estimates[m.value.Aggregate].Each()
		e.Values[m.at()] = x
		g.Estimates[m.value.Aggregate] = e
	}
	return true
}

// ownEstimates reports whether a group's list of estimates has been copied from the one it was.
func ownEstimates(g *answerGroup, of answerGroup) bool { return &g.Estimates[0] != &of.Estimates[0] }

// family is the numbers that sum up one another, as nodes.
type family struct {
	answers map[*plan.Release]*answer
	first   map[member]int // the node of group 0
	nodes   []reconcile.Node
}

// member is one value of a release, in all groups.
type member struct {
	release *plan.Release
	value   plan.ValueAt
}

// at is its place among the values of an estimate.
func (m member) at() int { return m.bar().At }

func (m member) bar() plan.ErrorBar {
	return m.release.Aggregates[m.value.Aggregate].ErrorBars[m.value.Part]
}

// add adds the nodes of a member once, and returns the first.
func (f *family) add(m member) int {
	if first, ok := f.first[m]; ok {
		return first
	}
	first := len(f.nodes)
	f.first[m] = first
	for range m.release.Groups {
		f.nodes = append(f.nodes, reconcile.Node{Parent: -1, Absent: true})
	}
	for _, g := range f.answers[m.release].Groups {
		f.nodes[first+g.Number] = node(g.Estimates[m.value.Aggregate], m)
	}
	return first
}

// node is a released number with the noise that it has, absent where there is none or its noise is
// not known.
func node(e estimator.Estimate, m member) reconcile.Node {
	i, bar := m.at(), m.bar()
	n := reconcile.Node{Parent: -1, Absent: true, NonNegative: bar.Clamp, Digits: bar.Digits}
	if e.Status != estimator.OK || i < 0 || i >= len(e.Values) || e.Error == nil || e.Error.Form != estimator.Quotient ||
		estimator.Entry(e.Error.Under, i) != 0 || math.IsInf(estimator.Entry(e.Error.Step, i), 1) || math.IsNaN(e.StdErr[i]) || math.IsInf(e.StdErr[i], 0) || math.IsNaN(e.Values[i]) {
		return n
	}
	n.Absent, n.Value, n.Noise = false, e.Values[i], e.StdErr[i]
	if e.Error.Raw != nil {
		n.Value = e.Error.Raw[i]
	}
	if c := e.Error.Cut; len(c) > 0 {
		n.Cut = c[min(i, len(c)-1)]
	}
	return n
}

// agree puts a reconciled number in the place of value i. Its interval is that of the combination,
// where all noise is Gaussian and it is shorter; else that of the number as it was released, made
// longer to hold the one shown. Which of the two follows from the sizes of noises and cuts.
func agree(e *estimator.Estimate, i int, r reconcile.Result) {
	next := *e
	next.Values, next.StdErr = slices.Clone(e.Values), slices.Clone(e.StdErr)
	x := *e.Error
	next.Error = &x
	next.Values[i], next.StdErr[i] = r.Shown, r.Noise
	if x.Law == estimator.Gaussian {
		y := x
		y.Raw, y.Noise, y.Step, y.Cut = slices.Clone(x.Raw), slices.Clone(x.Noise), slices.Clone(x.Step), slices.Clone(x.Cut)
		y.Raw[i], y.Noise[i], y.Step[i], y.Cut[i] = r.Value, r.Noise, 0, r.Cut
		if wide(y, r.Value, i) < wide(x, x.Raw[i], i) {
			next.Error = &y
		}
	}
	next.Error.Tied = true // with those of the numbers that it agrees with
	*e = next
}

// wide is the width of the interval at 95 % about the number that it is about.
func wide(x estimator.Error, raw float64, i int) float64 {
	e := estimator.Estimate{Values: make([]float64, i+1), StdErr: make([]float64, i+1), Error: &x}
	e.Values[i], e.StdErr[i] = raw, estimator.Entry(x.Noise, i)
	lo, hi := errorbar.Interval(e, i, 0.95)
	return hi - lo
}
