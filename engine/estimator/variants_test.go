package estimator_test

import (
	"fmt"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/covariance"
	"scrim/engine/estimator/mean"
	"scrim/engine/estimator/quantile"
	"scrim/engine/estimator/variance"
)

// variant is one estimator with its options, as a function of its parameters.
type variant struct {
	name string
	grid bool // reads a grid
	make func(estimator.Params) (estimator.Estimator, error)
	p    estimator.Params // without Rho
}

func ptr(x int64) *int64 { return &x }

// variants lists every estimator with every set of options that changes its steps, under every
// neighbour relation. All pass the same suite.
func variants() []variant {
	var all []variant
	for _, r := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		all = append(all, under(r, false)...)
	}
	return append(all, under(estimator.ReplaceOne, true)...)
}

// under lists the estimators of one relation, with a private or a public number of persons.
func under(r estimator.Relation, sized bool) []variant {
	all := estimators()
	if sized {
		all = slices.DeleteFunc(all, func(v variant) bool { return kindOf(v) == "together" })
	}
	for i := range all {
		all[i].p.Relation, all[i].p.Sized = r, sized
		if all[i].name += "," + r.String(); sized {
			all[i].name += ",sized"
		}
	}
	return all
}

func estimators() []variant {
	grid := estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
	open := estimator.Params{Grid: grid}
	with := func(bounds bool, rows int64) estimator.Params {
		p := open
		if p.MaxRows = rows; bounds {
			p.Lower, p.Upper = ptr(-3), ptr(10)
		}
		return p
	}
	var all []variant
	for _, bounds := range []bool{false, true} {
		for _, rows := range []int64{0, 1, 3, 9} {
			p := with(bounds, rows)
			add := func(name string, grid bool, make func(estimator.Params) (estimator.Estimator, error)) {
				all = append(all, variant{fmt.Sprintf("%s,bounds=%v,rows=%d", name, bounds, rows), grid, make, p})
			}
			if !bounds {
				add("count rows", false, func(p estimator.Params) (estimator.Estimator, error) { return count.NewRows(p, true) })
			}
			add("sum", true, mean.NewSum)
			add("row mean", true, mean.NewRowMean)
			add("together", true, func(p estimator.Params) (estimator.Estimator, error) {
				return mean.NewTogether(p, []estimator.Params{p}, []mean.Asked{{Mean: true}})
			})
			add("row variance", true, func(p estimator.Params) (estimator.Estimator, error) {
				return variance.NewRows(p, variance.Options{})
			})
			both := func(p estimator.Params) estimator.Params {
				p.Other = &estimator.Other{Grid: grid, Lower: p.Lower, Upper: p.Upper}
				if rows == 3 {
					p.Other.Lower, p.Other.Upper = ptr(-20), ptr(7)
				}
				return p
			}
			if rows == 0 || rows == 3 {
				add("covariance of rows", true, func(p estimator.Params) (estimator.Estimator, error) {
					return covariance.New(both(p), []covariance.Statistic{covariance.SampleCovariance}, true)
				})
			}
			if rows == 0 {
				add("covariance", true, func(p estimator.Params) (estimator.Estimator, error) {
					return covariance.New(both(p), []covariance.Statistic{covariance.PopulationCovariance}, false)
				})
			}
			if rows != 3 { // persons see MaxRows only as 1, and quantiles of rows only when bounded
				add("mean", true, mean.NewMean)
				add("variance", true, func(p estimator.Params) (estimator.Estimator, error) {
					return variance.New(p, variance.Options{})
				})
				add("population stddev", true, func(p estimator.Params) (estimator.Estimator, error) {
					return variance.New(p, variance.Options{Stddev: true, Population: true})
				})
			}
			if rows > 0 {
				add("row quantiles", true, func(p estimator.Params) (estimator.Estimator, error) {
					return quantile.New(p, []quantile.Fraction{{Num: 9, Den: 10}, {Num: 1, Den: 4}}, quantile.Options{Rows: true, Bisect: true})
				})
			}
		}
		p := with(bounds, 0)
		all = append(all,
			variant{"units", false, func(p estimator.Params) (estimator.Estimator, error) { return count.NewUnits(p, false) }, p},
			variant{"median", true, func(p estimator.Params) (estimator.Estimator, error) {
				return quantile.New(p, []quantile.Fraction{quantile.Median}, quantile.Options{Bisect: true})
			}, p},
			variant{"quantiles", true, func(p estimator.Params) (estimator.Estimator, error) {
				return quantile.New(p, []quantile.Fraction{{Num: 1, Den: 4}, {Num: 1, Den: 2}, {Num: 99, Den: 100}}, quantile.Options{Bisect: true})
			}, p})
	}
	return all
}

// exact reports whether the answer is the public number of persons.
func (v variant) exact() bool {
	return v.p.Sized && (v.name[:5] == "units" || v.name[:10] == "count rows" && v.p.MaxRows == 1)
}

func (v variant) at(t testing.TB, rho float64) estimator.Estimator {
	t.Helper()
	p := v.p
	p.Rho = rho
	e, err := v.make(p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
