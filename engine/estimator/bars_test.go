package estimator_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/engine/estimator/mean"
	"scrim/test/stattest"
)

// levels at which intervals are tested.
var levels = []float64{0.5, 0.9, 0.95, 0.99}

// tally counts how often intervals of one kind of aggregate cover, and the broken ones: the half of
// each about the value, a quarter where the ends are told by ranks.
type tally struct {
	n            int
	hits, broken [4]int
	wide         [4][]float64 // widths over the ideal
}

// add takes one answer in; ideal is the width of an interval of level 68.3 %, half of it, as the
// noise alone has it; NaN for none.
func (c *tally) add(e estimator.Estimate, i int, exact, ideal, part float64) {
	c.n++
	for k, level := range levels {
		lo, hi := errorbar.Interval(e, i, level)
		v := e.Values[i]
		if !(exact < lo) && !(exact > hi) {
			c.hits[k]++
		}
		if e.Error.Cut != nil {
			// The ends of a clipped sum allow for what the clip may have taken: the broken
			// interval, and the width, are those of the noise alone.
			v -= e.Error.Cut[i].Added
			lo += e.Error.Cut[i].Below(1 - level)
			hi = v + (v - lo)
		}
		if !(exact < v-(v-lo)*part) && !(exact > v+(hi-v)*part) {
			c.broken[k]++
		}
		if w := (hi - lo) / (2 * ideal * math.Sqrt2 * math.Erfinv(level)); w < math.MaxFloat64 {
			c.wide[k] = append(c.wide[k], w)
		}
	}
}

// width returns the mean and the median width of a level, over the ideal.
func (c *tally) width(k int) (mean, median float64) {
	for _, w := range c.wide[k] {
		mean += w / float64(len(c.wide[k]))
	}
	slices.Sort(c.wide[k])
	return mean, c.wide[k][len(c.wide[k])/2]
}

// check tests the coverage, and that broken intervals are found out at the levels where they miss
// enough.
func (c *tally) check(t *testing.T, name string, from float64) {
	t.Helper()
	text := fmt.Sprintf("%-20s %6d", name, c.n)
	for k, level := range levels {
		stattest.Accept(t, stattest.Coverage(fmt.Sprintf("%s at %v", name, level), c.hits[k], c.n, level))
		if level >= from {
			stattest.Reject(t, stattest.Coverage(fmt.Sprintf("%s at %v, broken", name, level), c.broken[k], c.n, level))
		}
		mean, median := c.width(k)
		text += fmt.Sprintf(" | %.1f %% ×%.2f (%.2f)", 100*float64(c.hits[k])/float64(c.n), median, mean)
	}
	t.Log(text)
}

// kindOf names the aggregate of a variant.
func kindOf(v variant) string { name, _, _ := strings.Cut(v.name, ","); return name }

// covered returns persons on whom no clip that is searched for takes anything away, but by mistake,
// and the exact answers.
func covered(v variant, n int, r *rand.Rand) (group []person, exact []float64) {
	x := make([]int64, n)
	for i := range x {
		switch kind := kindOf(v); {
		case strings.Contains(kind, "quantile"), kind == "median":
			x[i] = r.Int64N(spread) - spread/3
		case v.p.Bounded():
			x[i] = r.Int64N(14) - 3
		default:
			x[i] = 14*r.Int64N(2) - 7
		}
		if v.p.Bounded() {
			x[i] = min(max(x[i], *v.p.Lower), *v.p.Upper)
		}
		group = append(group, person{rows: 1, sum: x[i], lo: x[i] * x[i], median: x[i]})
	}
	return group, v.exactly(x)
}

// spread is how far apart the values are whose quantiles are asked for.
const spread = 1 << 20

// noiseOf is the standard deviation of the noise: of a quantile, that of one noisy rank, as values.
func noiseOf(e estimator.Estimator, a estimator.Estimate, n int) float64 {
	if !math.IsNaN(a.StdErr[0]) {
		return a.StdErr[0]
	}
	steps := e.Steps()
	s := steps[len(steps)-1]
	for _, x := range steps {
		if strings.HasPrefix(x.Name, "quantile") {
			s = x
			break
		}
	}
	var q, delta float64
	fmt.Sscanf(s.Name, "quantile %g", &q)
	fmt.Sscanf(s.Sensitivity, "l2=%g", &delta)
	den := map[float64]float64{0.25: 4, 0.5: 2, 0.9: 10}[q]
	return math.Sqrt(float64(s.Queries)/(2*s.Rho)) * delta / den * spread / 100 / float64(n)
}

// exactly is what a variant's answers are without noise.
func (v variant) exactly(x []int64) []float64 {
	slices.Sort(x)
	n, sum, squares := float64(len(x)), 0.0, 0.0
	at := func(num, den int) float64 { return float64(x[(num*len(x)+den-1)/den-1]) / 100 }
	for _, k := range x {
		sum += float64(k) / 100
		squares += float64(k*k) / 1e4
	}
	switch mean := sum / n; kindOf(v) {
	case "count rows", "units":
		return []float64{n}
	case "sum":
		return []float64{sum}
	case "mean", "row mean", "together":
		return []float64{mean}
	case "variance", "row variance":
		return []float64{(squares - n*mean*mean) / (n - 1)}
	case "population stddev":
		return []float64{math.Sqrt(squares/n - mean*mean)}
	case "median":
		return []float64{at(1, 2)}
	case "quantiles":
		return []float64{at(1, 4), at(1, 2), at(99, 100)}
	case "row quantiles":
		return []float64{at(9, 10), at(1, 4)}
	}
	panic(v.name)
}

// TestIntervalsCover releases on persons on whom no clip is felt, under every relation, and counts
// how often the intervals cover the exact answers. Counts and sums are no wider than 1.1 times what
// the noise asks for on the average, means 1.3 and variances 1.6 times.
func TestIntervalsCover(t *testing.T) {
	const releases = 40
	limit := map[string]float64{"count rows": 1.1, "units": 1.1, "sum": 1.1, "mean": 1.3, "row mean": 1.3, "together": 1.3, "variance": 1.6, "row variance": 1.6, "population stddev": 1.6}
	forms, order := map[string][]form{}, []string{}
	for _, pure := range []bool{false, true} {
		for _, v := range variants() {
			if v.exact() || v.p.MaxRows > 3 || pure && !slices.ContainsFunc(pureVariants(), func(p variant) bool { return p.name == v.name }) {
				continue
			}
			kind := kindOf(v)
			if strings.HasPrefix(kind, "covariance") {
				continue // package covariance has tests of their intervals
			}
			ranks := strings.Contains(kind, "quantile") || kind == "median"
			if ranks && (pure || v.p.Bounded()) {
				// pure ones have no ranks; within bounds there is hardly anything to tell apart
				continue
			}
			name := kind
			if pure {
				name += ", pure"
			}
			if forms[name] == nil {
				order = append(order, name)
			}
			forms[name] = append(forms[name], form{v, pure})
		}
	}
	for _, name := range order {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := new(tally)
			for _, f := range forms[name] {
				f.release(t, c, name, releases)
			}
			from := 0.5
			if strings.Contains(name, "quantile") || name == "median" {
				from = 0.9
			}
			c.check(t, name, from)
			for k, level := range levels {
				if mean, _ := c.width(k); limit[name] > 0 && mean > limit[name] {
					t.Errorf("intervals of level %v are %.3f times as wide as the noise", level, mean)
				}
			}
		})
	}
}

// form is an estimator in its plain or its pure form.
type form struct {
	variant
	pure bool
}

// release takes the answers of releases on persons of two numbers in.
func (v form) release(t *testing.T, c *tally, name string, releases int) {
	kind := kindOf(v.variant)
	ranks := strings.Contains(kind, "quantile") || kind == "median"
	for _, size := range []struct {
		n         int
		rho, pure float64
	}{{500, 0.2, 1}, {2000, 0.05, 0.4}} {
		var e estimator.Estimator
		if kind == "units" {
			size.rho, size.pure = size.rho/20, size.pure/5 // as fine as the rest
		}
		if kind == "quantiles" {
			size.rho *= 20 // one of them is near an end
		}
		if e = v.at(t, size.rho); v.pure {
			e = v.pureAt(t, size.pure)
		}
		n, r := stattest.Noiser(t, name+v.name), rand.New(stattest.Source(t, name+v.name))
		group, exact := covered(v.variant, size.n, r)
		in, part, times := input(e, group, 1), 0.5, stattest.Runs(releases/2, releases)
		switch {
		case ranks:
			part, times = 0.1, 3*releases
		case kind == "units":
			times = 3 * releases
		case kind == "count rows": // of few forms
			times = releases
		}
		for range times {
			if a := e.Release(n, in); a.Status == estimator.OK {
				c.add(a, 0, exact[0], noiseOf(e, a, size.n), part)
			}
		}
	}
}

// TestFewPersonsMissNoMoreOften releases on as many persons as an answer needs, where about half of
// the releases are too few: an answer that is given and not covered comes no more often than 1 −
// level.
func TestFewPersonsMissNoMoreOften(t *testing.T) {
	for _, v := range variants() {
		if kind := kindOf(v); kind != "mean" && kind != "variance" && kind != "row mean" || !v.p.Bounded() || v.p.MaxRows != 1 {
			continue
		}
		e, n := v.at(t, 0.05), stattest.Noiser(t, "few"+v.name)
		group, exact := covered(v, int(max(e.MinPersons(), 20)), rand.New(stattest.Source(t, "few"+v.name)))
		const releases = 1000
		in, answers := input(e, group, 1), 0
		var hits [4]int
		for range releases {
			a := e.Release(n, in)
			if a.Status == estimator.OK {
				answers++
			}
			for k, level := range levels {
				if lo, hi := errorbar.Interval(a, 0, level); a.Status != estimator.OK || !(exact[0] < lo) && !(exact[0] > hi) {
					hits[k]++
				}
			}
		}
		for k, level := range levels {
			stattest.Accept(t, stattest.Coverage(fmt.Sprintf("%s at %v", v.name, level), hits[k], releases, level))
		}
		t.Logf("%s: %d persons, %d answers, covered or not given %v", v.name, len(group), answers, hits)
	}
}

// TestSumOfNobody: where the number of persons is public, a sum over none of them is 0, for sure.
func TestSumOfNobody(t *testing.T) {
	p := estimator.Params{Rho: 0.1, Relation: estimator.ReplaceOne, Sized: true, MaxRows: 1, Grid: estimator.Grid{Step: 0.5, Lo: -100, Hi: 100}, Lower: ptr(-3), Upper: ptr(10)}
	e, err := mean.NewSum(p)
	if err != nil {
		t.Fatal(err)
	}
	a := e.Release(stattest.Noiser(t, "nobody"), estimator.Input{Columns: [][]int64{{}, {}}})
	if lo, hi := errorbar.Interval(a, 0, 0.95); a.Status == estimator.OK && (a.Values[0] != 0 || lo != 0 || hi != 0) {
		t.Errorf("got %v in [%v, %v]", a.Values[0], lo, hi)
	}
}
