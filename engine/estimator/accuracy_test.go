package estimator_test

import (
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/mean"
	"scrim/engine/estimator/quantile"
	"scrim/engine/estimator/variance"
	"scrim/test/stattest"
	"scrim/testdata"
)

// columns reads columns of a shipped data set as text.
func columns(t *testing.T, file string, names ...string) [][]string {
	f, err := testdata.Files.Open(file)
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
	out := make([][]string, len(names))
	for i, name := range names {
		col := slices.Index(rows[0], name)
		for _, r := range rows[1:] {
			out[i] = append(out[i], r[col])
		}
	}
	return out
}

func number(t *testing.T, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// adultAges returns the ages of the shipped census data, one person each.
func adultAges(t *testing.T) []float64 {
	var ages []float64
	for _, a := range columns(t, "adult.csv.gz", "age")[0] {
		ages = append(ages, number(t, a))
	}
	return ages
}

// visits returns the money spent in the shipped restaurant visits, by visitor.
func visits(t *testing.T) (b block, all []float64, means []float64) {
	c := columns(t, "visits.csv.gz", "visitor_id", "spent")
	at := map[string]int{}
	for i, id := range c[0] {
		k, ok := at[id]
		if !ok {
			k = len(b.rows)
			at[id] = k
			b.rows, b.sum, b.hi = append(b.rows, 0), append(b.sum, 0), append(b.hi, 0)
			b.lo, b.median = append(b.lo, 0), append(b.median, 0)
		}
		x := number(t, c[1][i])
		all = append(all, x)
		b.rows[k]++
		b.sum[k] += int64(x)
		b.lo[k] += int64(x * x)
	}
	for i, m := range b.rows {
		means = append(means, float64(b.sum[i])/float64(m))
	}
	return b, all, means
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
type block struct {
	rows, sum, hi, lo, median []int64
	second                    []second
}

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
	in := estimator.Input{Persons: int64(len(b.median))}
	of := func(f func(second) int64) []int64 {
		out := make([]int64, len(b.second))
		for i, s := range b.second {
			out[i] = f(s)
		}
		return out
	}
	for _, k := range kinds {
		switch k {
		case estimator.OtherSum:
			in.Columns = append(in.Columns, of(func(s second) int64 { return s.otherSum }))
			continue
		case estimator.OtherSquaresHi:
			in.Columns = append(in.Columns, of(func(s second) int64 { return s.otherHi }))
			continue
		case estimator.OtherSquaresLo:
			in.Columns = append(in.Columns, of(func(s second) int64 { return s.otherLo }))
			continue
		case estimator.ProductsHi:
			in.Columns = append(in.Columns, of(func(s second) int64 { return s.productHi }))
			continue
		case estimator.ProductsLo:
			in.Columns = append(in.Columns, of(func(s second) int64 { return s.productLo }))
			continue
		}
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

// TestAnswersAreAccurate measures the relative error of every estimator on data like those that
// people ask about, without declared bounds. The limits are on the 80th percentile of 30 runs.
func TestAnswersAreAccurate(t *testing.T) {
	integers := estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 31, Hi: 1<<31 - 1}
	cents := estimator.Grid{Step: 0.01, Decimal: true, Scale: 2, Lo: -1e12, Hi: 1e12}
	floats := estimator.Grid{Step: 1. / (1 << 20), Lo: -1 << 50, Hi: 1 << 50}
	ages := adultAges(t)
	var open estimator.Params
	exchange, sized := estimator.Params{Relation: estimator.ReplaceOne}, estimator.Params{Relation: estimator.ReplaceOne, Sized: true}
	type limits struct{ count, sum, mean, median, variance float64 }
	cases := []struct {
		name   string
		x      []float64
		grid   estimator.Grid
		rho    float64
		limits limits
		under  estimator.Params // relation, and whether the number of persons is public
	}{
		{"ages, n=30162", ages, integers, 0.02, limits{0.001, 0.02, 0.01, 0.02, 0.05}, open},
		{"income, n=30162", lognormal(t, 30162, 10.5, 0.7), cents, 0.02, limits{0.001, 0.03, 0.01, 0.02, 0.10}, open},
		{"float incomes, n=30162", lognormal(t, 30162, 10.5, 0.7), floats, 0.02, limits{0.001, 0.03, 0.01, 0.02, 0.10}, open},
		{"ages, n=500", ages[:500], integers, 0.05, limits{0.03, 0.10, 0.06, 0.06, 0.35}, open},
		{"income, n=500", lognormal(t, 500, 10.5, 0.7), cents, 0.05, limits{0.03, 0.10, 0.10, 0.10, 0.70}, open},
		{"heavy income, n=500", lognormal(t, 500, 10.5, 1), cents, 0.05, limits{0.03, 0.20, 0.20, 0.20, 0.99}, open},
		{"ages, n=130", ages[:130], integers, 0.05, limits{0.06, 0.3, 0.20, 0.2, 1.5}, open},
		{"replace-one, ages, n=30162", ages, integers, 0.02, limits{0.001, 0.03, 0.01, 0.03, 0.05}, exchange},
		{"replace-one, income, n=500", lognormal(t, 500, 10.5, 0.7), cents, 0.05, limits{0.03, 0.15, 0.20, 0.15, 0.99}, exchange},
		{"public size, ages, n=30162", ages, integers, 0.02, limits{0.001, 0.01, 0.01, 0.03, 0.05}, sized},
		{"public size, ages, n=500", ages[:500], integers, 0.05, limits{0.01, 0.04, 0.05, 0.10, 0.35}, sized},
		{"public size, income, n=500", lognormal(t, 500, 10.5, 0.7), cents, 0.05, limits{0.01, 0.20, 0.20, 0.15, 0.99}, sized},
	}
	for _, c := range cases {
		p := estimator.Params{Rho: c.rho, Grid: c.grid, Relation: c.under.Relation, Sized: c.under.Sized}
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
				t.Parallel()
				est, err := e.make()
				if err != nil {
					t.Fatal(err)
				}
				measure(t, est, b.input(est.Columns()), e.want, e.limit)
			})
		}
	}
}

// measure releases 30 times and holds the 80th percentile of the relative errors against limit.
func measure(t *testing.T, est estimator.Estimator, in estimator.Input, want, limit float64) {
	t.Helper()
	const runs = 30
	n, few := stattest.Noiser(t, t.Name()), 0
	var errs []float64
	for range runs {
		a := est.Release(n, in)
		if a.Status != estimator.OK {
			few++
			continue
		}
		errs = append(errs, a.Values[0]/want-1)
	}
	if few > runs/2 {
		t.Fatalf("%d of %d answers were TooFew (minimum %d)", few, runs, est.MinPersons())
	}
	mid, high := median80(errs)
	t.Logf("relative error: median %.4f, 80%% %.4f; too few %d/%d (minimum %d persons)", mid, high, few, runs, est.MinPersons())
	if high > limit {
		t.Errorf("80%% of errors up to %.4f, want %.4f", high, limit)
	}
}

// TestAnswersWithSeveralRowsAPersonAreAccurate measures the row-weighted answers on restaurant
// visits, where persons come several times, without declared bounds.
func TestAnswersWithSeveralRowsAPersonAreAccurate(t *testing.T) {
	b, all, means := visits(t)
	rows, persons := exact(all), exact(means)
	t.Logf("%d persons, %d rows", len(means), len(all))
	p := estimator.Params{Rho: 0.05, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 31, Hi: 1<<31 - 1}}
	for _, c := range []struct {
		name        string
		make        func(estimator.Params) (estimator.Estimator, error)
		want, limit float64
	}{
		{"count", func(p estimator.Params) (estimator.Estimator, error) { return count.NewRows(p, true) }, rows.n, 0.05},
		{"sum", mean.NewSum, rows.sum, 0.08},
		{"mean", mean.NewMean, persons.mean, 0.05},
		{"row mean", mean.NewRowMean, rows.mean, 0.05},
		{"variance", func(p estimator.Params) (estimator.Estimator, error) { return variance.New(p, variance.Options{}) }, persons.variance, 0.4},
		{"row variance", func(p estimator.Params) (estimator.Estimator, error) {
			return variance.NewRows(p, variance.Options{})
		}, rows.variance, 0.4},
	} {
		t.Run(c.name, func(t *testing.T) {
			est, err := c.make(p)
			if err != nil {
				t.Fatal(err)
			}
			measure(t, est, b.input(est.Columns()), c.want, c.limit)
		})
	}
}

// TestDeclaredBoundsNeedFewPersons measures 60 ages within declared bounds.
func TestDeclaredBoundsNeedFewPersons(t *testing.T) {
	ages := adultAges(t)[:60]
	b, want := onePerson(ages, 1), exact(ages)
	p := estimator.Params{
		Rho: 0.05, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 31, Hi: 1<<31 - 1},
		Lower: ptr(0), Upper: ptr(100), MaxRows: 1,
	}
	for name, c := range map[string]struct {
		make        func(estimator.Params) (estimator.Estimator, error)
		want, limit float64
	}{
		"sum":      {mean.NewSum, want.sum, 0.25},
		"mean":     {mean.NewMean, want.mean, 0.2},
		"row mean": {mean.NewRowMean, want.mean, 0.2},
	} {
		t.Run(name, func(t *testing.T) {
			est, err := c.make(p)
			if err != nil {
				t.Fatal(err)
			}
			if est.MinPersons() > 40 {
				t.Errorf("%d persons are needed", est.MinPersons())
			}
			measure(t, est, b.input(est.Columns()), c.want, c.limit)
		})
	}
}
