package estimator_test

import (
	"math"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/errorbar"
	"scrim/engine/estimator/mean"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/quantile"
	"scrim/engine/estimator/variance"
	"scrim/test/stattest"
)

// audited is an estimator with two neighbours that it should tell apart as well as its loss allows.
type audited struct {
	name          string
	make          func(estimator.Params) (estimator.Estimator, error)
	lower, upper  int64 // declared bounds; none where equal
	rows          int64
	base          []person
	before, after *person // the person exchanged; nil is absent
}

func with(value int64, rows int64) *person {
	return &person{rows: rows, sum: rows * value, lo: rows * value * value, median: value}
}

// audits pair persons who all give the same with one far off on either side, and spread persons
// with one exchanged from one end to the other. Where coming and going moves an answer more than an
// exchange, that is the pair.
func audits() []audited {
	var spread, equal []person
	for x := int64(1); x <= 400; x++ {
		spread, equal = append(spread, *with(x, 1)), append(equal, *with(0, 1))
	}
	far, back := with(1<<20, 1), with(-1<<20, 1)
	upper := []quantile.Fraction{{Num: 3, Den: 4}}
	return []audited{
		{name: "units", make: func(p estimator.Params) (estimator.Estimator, error) { return count.NewUnits(p, false) }, base: equal, after: far},
		{name: "rows", make: func(p estimator.Params) (estimator.Estimator, error) { return count.NewRows(p, false) }, rows: 3, base: equal, before: with(0, 1), after: with(0, 3)},
		{name: "bounded sum", make: mean.NewSum, lower: -7, upper: 9, rows: 1, base: equal, before: back, after: far},
		{name: "sum", make: mean.NewSum, base: spread, before: with(1, 1), after: with(401, 1)},
		{name: "bounded mean", make: mean.NewMean, lower: -9, upper: 9, base: equal, before: back, after: far},
		{name: "mean, one far off", make: mean.NewMean, lower: 0, upper: 1 << 20, base: equal, before: with(0, 1), after: far},
		{name: "mean", make: mean.NewMean, base: spread, before: with(1, 1), after: with(401, 1)},
		{name: "row mean", make: mean.NewRowMean, base: spread, before: with(1, 3), after: with(401, 3)},
		{name: "variance", make: func(p estimator.Params) (estimator.Estimator, error) { return variance.New(p, variance.Options{}) }, base: spread, before: with(200, 1), after: with(401, 1)},
		{name: "row variance", make: func(p estimator.Params) (estimator.Estimator, error) { return variance.NewRows(p, variance.Options{}) }, base: spread, before: with(200, 3), after: with(401, 3)},
		{name: "median", make: func(p estimator.Params) (estimator.Estimator, error) {
			return quantile.New(p, []quantile.Fraction{quantile.Median}, quantile.Options{Bisect: true})
		}, base: spread, before: with(1, 1), after: with(401, 1)},
		{name: "quantile", make: func(p estimator.Params) (estimator.Estimator, error) {
			return quantile.New(p, upper, quantile.Options{Bisect: true})
		}, base: spread, before: with(1, 1), after: with(401, 1)},
	}
}

// params are those of the audit under a relation.
func (a audited) params(r estimator.Relation, sized bool, rho float64) estimator.Params {
	p := estimator.Params{
		Rho: rho, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 40, Hi: 1 << 40}, MaxRows: a.rows, Relation: r, Sized: sized,
	}
	if a.lower < a.upper {
		p.Lower, p.Upper = ptr(a.lower), ptr(a.upper)
	}
	return p
}

// pair returns the two neighbours under a relation: under add-remove one of the two persons is
// gone.
func (a audited) pair(r estimator.Relation) (x, y []person) {
	x, y = slices.Clone(a.base), slices.Clone(a.base)
	if a.before != nil && r == estimator.ReplaceOne {
		x = append(x, *a.before)
	}
	return x, append(y, *a.after)
}

// sample draws answers; TooFew is −Inf, which every answer tells apart.
func sample(e estimator.Estimator, group []person, n noise.Noiser, runs int) []float64 {
	in, out := input(e, group, 1), make([]float64, runs)
	for i := range out {
		if a := e.Release(n, in); a.Status == estimator.OK {
			out[i] = a.Values[0]
		} else {
			out[i] = math.Inf(-1)
		}
	}
	return out
}

// TestAuditOfWorstNeighbours bounds the loss from below by samples: no bound exceeds what is
// declared, and with a hundredth of the noise's standard deviation every one does. False alarms:
// one bound a pair at stattest.Alpha.
func TestAuditOfWorstNeighbours(t *testing.T) {
	const rho = 0.05
	runs := stattest.Runs(40, 80)
	for _, relation := range []struct {
		name  string
		r     estimator.Relation
		sized bool
	}{{"add-remove", estimator.AddRemove, false}, {"replace-one", estimator.ReplaceOne, false}, {"sized", estimator.ReplaceOne, true}} {
		for _, a := range audits() {
			if relation.sized && a.before == nil {
				continue // the number is public
			}
			t.Run(relation.name+"/"+a.name, func(t *testing.T) {
				t.Parallel()
				e, err := a.make(a.params(relation.r, relation.sized, rho))
				if err != nil {
					t.Fatal(err)
				}
				x, y := a.pair(relation.r)
				n := stattest.Noiser(t, t.Name())
				if bound := stattest.LossBound(sample(e, x, n, runs), sample(e, y, n, runs)); bound > rho {
					t.Errorf("seed %d: loss at least %.3f, declared %.3f", stattest.Seed(t), bound, rho)
				}
				less := stattest.Shrunk{Noiser: n, Factor: 10_000}
				if bound := stattest.LossBound(sample(e, x, less, runs), sample(e, y, less, runs)); bound <= rho {
					t.Errorf("seed %d: a hundredth of the noise was not caught: loss at least %.3f", stattest.Seed(t), bound)
				}
			})
		}
	}
}

// TestAuditTellsTheRelationsApart exchanges a person at a loss of 1 with enough draws to see a
// factor of four: estimators that were built for add-remove are caught, those built for replace-one
// are not. An answer whose loss lies all in one sum is sharp enough: that of a mean is shared with
// its searches.
func TestAuditTellsTheRelationsApart(t *testing.T) {
	const runs, rho = 10_000, 1
	for _, a := range audits() {
		if a.name != "bounded sum" {
			continue
		}
		x, y := a.pair(estimator.ReplaceOne)
		bound := map[estimator.Relation]float64{}
		for _, r := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
			p := a.params(r, false, rho)
			p.Lower = ptr(-9) // a range whose length is twice its reach
			e, err := a.make(p)
			if err != nil {
				t.Fatal(err)
			}
			n := stattest.Noiser(t, a.name+r.String())
			bound[r] = stattest.LossBound(sample(e, x, n, runs), sample(e, y, n, runs))
		}
		if bound[estimator.ReplaceOne] > rho || bound[estimator.ReplaceOne] < 0.3*rho {
			t.Errorf("seed %d: %s: loss at least %.3f, declared %d", stattest.Seed(t), a.name, bound[estimator.ReplaceOne], rho)
		}
		if bound[estimator.AddRemove] <= rho {
			t.Errorf("seed %d: %s: built for add-remove, an exchange was not caught: loss at least %.3f", stattest.Seed(t), a.name, bound[estimator.AddRemove])
		}
	}
}

// TestAuditOfChosenQuantiles bounds the loss of medians by the exponential mechanism from below by
// samples, of the answer and of the upper end of its interval: no bound exceeds what is declared,
// and one of those of one that was built for ten thousand times the loss does. False alarms: one
// bound a pair at stattest.Alpha.
func TestAuditOfChosenQuantiles(t *testing.T) {
	const runs, rho = 300, 0.05
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		for _, a := range audits() {
			if a.name != "median" {
				continue
			}
			x, y := a.pair(relation)
			n := stattest.Noiser(t, "chosen"+relation.String())
			at := func(rho float64) (answer, end float64) {
				e, err := quantile.New(a.params(relation, false, rho), []quantile.Fraction{quantile.Median}, quantile.Options{Interval: true})
				if err != nil {
					t.Fatal(err)
				}
				draw := func(group []person) (values, ends []float64) {
					for range runs {
						v, hi := math.Inf(-1), math.Inf(-1)
						if r := e.Release(n, input(e, group, 1)); r.Status == estimator.OK {
							v = r.Values[0]
							if _, h := errorbar.Interval(r, 0, 0.5); !math.IsNaN(h) {
								hi = h
							}
						}
						values, ends = append(values, v), append(ends, hi)
					}
					return values, ends
				}
				v, h := draw(x)
				w, k := draw(y)
				return stattest.LossBound(v, w), stattest.LossBound(h, k)
			}
			if answer, end := at(rho); max(answer, end) > rho {
				t.Errorf("%v: loss at least %.3f by the answer, %.3f by the interval, declared %.3f", relation, answer, end, rho)
			}
			if answer, end := at(10_000 * rho); max(answer, end) <= rho {
				t.Errorf("%v: ten thousand times the loss was not caught: at least %.3f by the answer, %.3f by the interval", relation, answer, end)
			}
		}
	}
}
