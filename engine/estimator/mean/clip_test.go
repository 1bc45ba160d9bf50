package mean_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/engine/estimator/mean"
	"scrim/test/stattest"
)

// skewed are persons with one row each, whose values are log-normal: the radius of least error cuts
// some of them.
func skewed(t *testing.T, n int) (columns [][]int64, total float64) {
	r := rand.New(stattest.Source(t, "skewed"))
	rows, sums := make([]int64, n), make([]int64, n)
	for i := range rows {
		rows[i], sums[i] = 1, int64(math.Round(2000*math.Exp(r.NormFloat64())))
		total += float64(sums[i]) / 100
	}
	return [][]int64{rows, sums}, total
}

// TestIntervalsAllowForTheClip asks means and sums of skewed values without declared bounds:
// intervals hold the exact answer, and would not without what they allow for the clip.
func TestIntervalsAllowForTheClip(t *testing.T) {
	const runs, persons, level = 400, 1500, 0.95
	columns, total := skewed(t, persons)
	in := estimator.Input{Persons: persons, Columns: columns}
	grid := estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
	for _, c := range []struct {
		name  string
		make  func(estimator.Params) (estimator.Estimator, error)
		p     estimator.Params
		exact float64
	}{
		{"mean", mean.NewMean, estimator.Params{Rho: 0.0133}, total / persons},
		{"mean of a private number", mean.NewMean, estimator.Params{Rho: 0.03, Relation: estimator.ReplaceOne}, total / persons},
		{"mean of a public number", mean.NewMean, estimator.Params{Rho: 0.03, Relation: estimator.ReplaceOne, Sized: true}, total / persons},
		{"sum of a public number", mean.NewSum, estimator.Params{Rho: 0.03, Relation: estimator.ReplaceOne, Sized: true}, total},
		{"pure mean", mean.NewMean, estimator.Params{Epsilon: 0.3}, total / persons},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.p.Grid, c.p.MaxRows = grid, 1
			e, err := c.make(c.p)
			if err != nil {
				t.Fatal(err)
			}
			n, hits, bare := stattest.Noiser(t, c.name), 0, 0
			for range runs {
				a := e.Release(n, in)
				if a.Status != estimator.OK {
					t.Fatalf("no answer: wants %d persons", a.Needed)
				}
				if lo, hi := errorbar.Interval(a, 0, level); lo <= c.exact && c.exact <= hi {
					hits++
				}
				a.Values[0] -= a.Error.Cut[0].Added
				a.Error.Cut = nil
				if lo, hi := errorbar.Interval(a, 0, level); lo <= c.exact && c.exact <= hi {
					bare++
				}
			}
			t.Logf("%d of %d hold, %d of the noise alone", hits, runs, bare)
			stattest.Accept(t, stattest.Coverage(fmt.Sprintf("%s at %v", c.name, level), hits, runs, level))
			stattest.Reject(t, stattest.Coverage(c.name+", the noise alone", bare, runs, level))
		})
	}
}
