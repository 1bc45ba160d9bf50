package estimator_test

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/mean"
	"scrim/engine/estimator/quantile"
	"scrim/engine/estimator/variance"
	"scrim/internal/stattest"
)

// adultAges returns the ages of the shipped census data, one person each.
func adultAges(t *testing.T) []float64 {
	f, err := os.Open("../../testdata/adult.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	col := slices.Index(rows[0], "age")
	ages := make([]float64, 0, len(rows))
	for _, r := range rows[1:] {
		a, err := strconv.ParseFloat(r[col], 64)
		if err != nil {
			t.Fatal(err)
		}
		ages = append(ages, a)
	}
	return ages
}

// lognormal returns n draws of exp(mu + sigma·N).
func lognormal(t *testing.T, n int, mu, sigma float64) []float64 {
	r := rand.New(stattest.Source(t, fmt.Sprint("lognormal", n, mu, sigma)))
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Exp(mu + sigma*r.NormFloat64())
	}
	return x
}

// onePerson returns the blocks of persons with one row each, for columns Rows, Sum, SumSquaresHi,
// SumSquaresLo, and the median.
type block struct{ rows, sum, hi, lo, median []int64 }

func onePerson(x []float64, step float64) block {
	var b block
	for _, v := range x {
		k := int64(math.RoundToEven(v / step))
		b.rows = append(b.rows, 1)
		b.sum = append(b.sum, k)
		b.hi = append(b.hi, 0)
		b.lo = append(b.lo, k*k)
		b.median = append(b.median, k)
	}
	return b
}

func (b block) input(kinds []estimator.Kind) estimator.Input {
	var in estimator.Input
	for _, k := range kinds {
		in.Columns = append(in.Columns, map[estimator.Kind][]int64{
			estimator.Rows: b.rows, estimator.Sum: b.sum, estimator.SumSquaresHi: b.hi,
			estimator.SumSquaresLo: b.lo, estimator.Median: b.median, estimator.Value: b.median,
		}[k])
	}
	return in
}

type truth struct{ n, sum, mean, median, variance float64 }

func exact(x []float64) truth {
	var r truth
	r.n = float64(len(x))
	for _, v := range x {
		r.sum += v
	}
	r.mean = r.sum / r.n
	for _, v := range x {
		r.variance += (v - r.mean) * (v - r.mean)
	}
	r.variance /= r.n - 1
	s := slices.Clone(x)
	slices.Sort(s)
	r.median = s[(len(s)-1)/2]
	return r
}

// median80 returns the median and the 80th percentile of absolute values.
func median80(x []float64) (float64, float64) {
	s := make([]float64, len(x))
	for i, v := range x {
		s[i] = math.Abs(v)
	}
	slices.Sort(s)
	return s[len(s)/2], s[len(s)*8/10]
}

// TestAnswersAreAccurate measures the relative error of every estimator on data like those that people
// ask about, without declared bounds. The limits are on the 80th percentile of 60 runs.
func TestAnswersAreAccurate(t *testing.T) {
	integers := estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 31, Hi: 1<<31 - 1}
	cents := estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -1e12, Hi: 1e12}
	floats := estimator.Grid{Step: 1. / (1 << 20), Lo: -1 << 50, Hi: 1 << 50}
	ages := adultAges(t)
	type limits struct{ count, sum, mean, median, variance float64 }
	cases := []struct {
		name   string
		x      []float64
		grid   estimator.Grid
		rho    float64
		limits limits
	}{
		{"ages, n=30162", ages, integers, 0.02, limits{0.001, 0.02, 0.01, 0.02, 0.05}},
		{"income, n=30162", lognormal(t, 30162, 10.5, 0.7), cents, 0.02, limits{0.001, 0.03, 0.01, 0.02, 0.10}},
		{"float incomes, n=30162", lognormal(t, 30162, 10.5, 0.7), floats, 0.02, limits{0.001, 0.03, 0.01, 0.02, 0.10}},
		{"ages, n=500", ages[:500], integers, 0.05, limits{0.03, 0.10, 0.06, 0.06, 0.35}},
		{"income, n=500", lognormal(t, 500, 10.5, 0.7), cents, 0.05, limits{0.03, 0.10, 0.10, 0.10, 0.70}},
		{"heavy income, n=500", lognormal(t, 500, 10.5, 1), cents, 0.05, limits{0.03, 0.20, 0.20, 0.20, 0.99}},
		{"ages, n=130", ages[:130], integers, 0.05, limits{0.06, 0.3, 0.20, 0.2, 1.5}},
	}
	for _, c := range cases {
		p := estimator.Params{Rho: c.rho, Grid: c.grid, MaxRows: 0}
		b, want := onePerson(c.x, c.grid.Step), exact(c.x)
		for _, e := range []struct {
			name        string
			make        func() (estimator.Estimator, error)
			want, limit float64
		}{
			{"count", func() (estimator.Estimator, error) { return count.NewRows(p, true) }, want.n, c.limits.count},
			{"units", func() (estimator.Estimator, error) { return count.NewUnits(p, true) }, want.n, c.limits.count},
			{"sum", func() (estimator.Estimator, error) { return mean.NewSum(p) }, want.sum, c.limits.sum},
			{"mean", func() (estimator.Estimator, error) { return mean.NewMean(p) }, want.mean, c.limits.mean},
			{"row mean", func() (estimator.Estimator, error) { return mean.NewRowMean(p) }, want.mean, c.limits.mean},
			{"median", func() (estimator.Estimator, error) {
				return quantile.New(p, []quantile.Fraction{quantile.Median}, quantile.Options{})
			}, want.median, c.limits.median},
			{"variance", func() (estimator.Estimator, error) { return variance.New(p, variance.Options{}) }, want.variance, c.limits.variance},
			{"row variance", func() (estimator.Estimator, error) { return variance.NewRows(p, variance.Options{}) }, want.variance, c.limits.variance},
		} {
			t.Run(c.name+"/"+e.name, func(t *testing.T) {
				est, err := e.make()
				if err != nil {
					t.Fatal(err)
				}
				n, in := stattest.Noiser(t, c.name+e.name), b.input(est.Columns())
				runs := 60
				var errs []float64
				few := 0
				for range runs {
					a := est.Release(n, in)
					if a.Status != estimator.OK {
						few++
						continue
					}
					errs = append(errs, a.Values[0]/e.want-1)
				}
				if few > runs/2 {
					t.Fatalf("%d of %d answers were TooFew (minimum %d)", few, runs, est.MinPersons())
				}
				mid, high := median80(errs)
				t.Logf("relative error: median %.4f, 80%% %.4f; too few %d/%d (minimum %d persons)", mid, high, few, runs, est.MinPersons())
				if high > e.limit {
					t.Errorf("80%% of errors up to %.4f, want %.4f", high, e.limit)
				}
			})
		}
	}
}
