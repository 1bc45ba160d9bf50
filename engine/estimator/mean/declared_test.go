package mean_test

import (
	"math"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/mean"
	"scrim/test/stattest"
)

// TestAWideDeclarationDoesNotHurt: with a true range that is a thousand times as wide as the values
// a mean has about the error that it has without one. The quotient of two medians of 300 errors is
// off by some 10 %, so that 1.5 is passed by chance once in 10^5; about the middle of the range it
// would be above 50. Medians, since once in some thousand answers noise opens a gate far beyond the
// values, with and without a declaration, and one such error outweighs all others in their squares.
func TestAWideDeclarationDoesNotHurt(t *testing.T) {
	const runs, persons = 300, 1500
	columns, total := skewed(t, persons)
	in := estimator.Input{Persons: persons, Columns: columns}
	lo, hi := int64(0), int64(100_000_00)
	for name, c := range map[string]struct {
		make func(estimator.Params) (estimator.Estimator, error)
		p    estimator.Params
	}{
		"mean":                         {mean.NewMean, estimator.Params{Rho: 0.02, MaxRows: 1}},
		"mean under replace-one":       {mean.NewMean, estimator.Params{Rho: 0.05, MaxRows: 1, Relation: estimator.ReplaceOne}},
		"row mean":                     {mean.NewRowMean, estimator.Params{Rho: 0.05}},
		"row mean of few rows":         {mean.NewRowMean, estimator.Params{Rho: 0.05, MaxRows: 3}},
		"row mean of a public number":  {mean.NewRowMean, estimator.Params{Rho: 0.1, Relation: estimator.ReplaceOne, Sized: true}},
		"pure mean of a public number": {mean.NewMean, estimator.Params{Epsilon: 0.6, MaxRows: 1, Relation: estimator.ReplaceOne, Sized: true}},
	} {
		t.Run(name, func(t *testing.T) {
			c.p.Grid = estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
			off := func(lower, upper *int64) float64 {
				p := c.p
				p.Lower, p.Upper = lower, upper
				e, err := c.make(p)
				if err != nil {
					t.Fatal(err)
				}
				n, errors := stattest.Noiser(t, name), []float64(nil)
				for range runs {
					a := e.Release(n, in)
					if a.Status != estimator.OK {
						t.Fatalf("no answer: wants %d persons", a.Needed)
					}
					errors = append(errors, math.Abs(a.Values[0]-total/persons))
				}
				slices.Sort(errors)
				return errors[runs/2]
			}
			without, with := off(nil, nil), off(&lo, &hi)
			t.Logf("error %.3g without, %.3g with a declaration", without, with)
			if with > 1.5*without {
				t.Errorf("the error is %.2f times as large", with/without)
			}
		})
	}
}
