package quantile_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/quantile"
	"scrim/test/stattest"
)

// chosen builds quantiles by the exponential mechanism, with an interval where there are two.
func chosen(t *testing.T, p estimator.Params, f []quantile.Fraction, rows bool) estimator.Estimator {
	t.Helper()
	e, err := quantile.New(p, f, quantile.Options{Rows: rows, Interval: len(f) == 2})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var (
	three = []quantile.Fraction{{Num: 3, Den: 4}, {Num: 1, Den: 10}, {Num: 1, Den: 2}}
	two   = []quantile.Fraction{{Num: 3, Den: 4}, {Num: 1, Den: 10}}
	whole = estimator.Grid{Step: 1, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}
)

// settings are the parameters under which the number of values is private or public.
func settings() map[string]estimator.Params {
	return map[string]estimator.Params{
		"add-remove":         {Rho: 0.1, Grid: whole, MaxRows: 3},
		"replace-one":        {Rho: 0.1, Grid: whole, MaxRows: 3, Relation: estimator.ReplaceOne},
		"replace-one, sized": {Rho: 0.1, Grid: whole, MaxRows: 3, Relation: estimator.ReplaceOne, Sized: true},
	}
}

func TestChosenLossIsStated(t *testing.T) {
	for name, p := range settings() {
		for _, f := range [][]quantile.Fraction{three, two, {quantile.Median}} {
			for _, rows := range []bool{false, true} {
				e := chosen(t, p, f, rows)
				want := privacy.Loss{Rho: privacy.RhoOf(p.Rho)}
				if got := e.Loss(); got != want {
					t.Errorf("%s: loss %+v, want %+v", name, got, want)
				}
				sum := 0.0
				for _, s := range e.Steps() {
					sum += s.Rho
				}
				if sum > p.Rho || sum < p.Rho*(1-1e-9) {
					t.Errorf("%s: the steps' losses sum to %v, want %v", name, sum, p.Rho)
				}
				if counted := e.Steps()[0].Name == "number of persons"; counted == (p.Sized && !rows) {
					t.Errorf("%s, rows %v: number released: %v", name, rows, counted)
				}
			}
		}
	}
}

// TestChosenCountsTheValues: what is noised differs between neighbours by no more than the share of
// the loss for it, and the same number of queries is asked.
func TestChosenCountsTheValues(t *testing.T) {
	column := func(values int) estimator.Input {
		return estimator.Input{Columns: [][]int64{slices.Repeat([]int64{7}, values)}}
	}
	for name, p := range settings() {
		for _, tooMany := range []bool{false, true} {
			e := chosen(t, p, three, true)
			more := 3
			if tooMany {
				more = 4 // breaks the promise of MaxRows: the test must see it
			}
			full := &stattest.Recorder{Answer: func(_ int, _, _ *big.Int) *big.Int { return big.NewInt(1 << 40) }}
			e.Release(full, column(10+more))
			less := full.Replay(t)
			e.Release(less, column(10))
			share := new(big.Rat).SetFloat64(e.Steps()[0].Rho)
			if over := stattest.Loss(t, full, less).Cmp(share) > 0; over != tooMany {
				t.Errorf("%s: %d values more cost more than the share: %v", name, more, over)
			}
		}
	}
}

// TestChosenRanksAreAsStated checks the 95 % bound on ranks, on values spread over an undeclared
// range, and that the answers ascend with their fractions.
func TestChosenRanksAreAsStated(t *testing.T) {
	const n, runs = 3000, 100
	r := rand.New(stattest.Source(t, "ranks"))
	rows, x := make([]int64, n), make([]int64, n)
	for i := range x {
		rows[i], x[i] = 1, int64(math.Exp(15+3*r.NormFloat64()))
	}
	sorted := slices.Sorted(slices.Values(x))
	for name, p := range settings() {
		for _, f := range [][]quantile.Fraction{three, two} {
			e := chosen(t, p, f, false)
			if e.MinPersons() > n {
				t.Fatalf("%s: needs %d persons", name, e.MinPersons())
			}
			bounds := e.(interface{ RankError() []float64 }).RankError()
			noiser, outside := stattest.Noiser(t, name), 0
			for range runs {
				v := e.Release(noiser, estimator.Input{Persons: int64(len(x)), Columns: [][]int64{rows, x}}).Values
				for i := range v {
					rank, _ := slices.BinarySearch(sorted, int64(v[i]))
					// a cell's width moves a rank by less
					if math.Abs(float64(rank)-f[i].Float()*n) > bounds[i]+2 {
						outside++
					}
					if bounds[i] > n/2.5 {
						t.Errorf("%s, %v: stated rank error %.0f", name, f[i], bounds[i])
					}
				}
				if v[1] > v[0] || len(v) == 3 && (v[1] > v[2] || v[2] > v[0]) {
					t.Fatalf("%s: not monotone: %v", name, v)
				}
			}
			if outside > runs*len(f)/20+25 {
				t.Errorf("%s: %d of %d ranks beyond the bounds", name, outside, runs*len(f))
			}
		}
	}
}

func TestChosenEdges(t *testing.T) {
	for name, p := range settings() {
		for _, rho := range []float64{privacy.RhoUnit, 0.1, 1e6} {
			p.Rho = rho
			e, n := chosen(t, p, three, false), stattest.Noiser(t, name)
			for _, persons := range []int{0, 1, 2, 2000} {
				for _, v := range []int64{5, math.MaxInt64, math.MinInt64} {
					in := estimator.Input{Persons: int64(persons), Columns: [][]int64{slices.Repeat([]int64{1}, persons), slices.Repeat([]int64{v}, persons)}}
					before := fmt.Sprint(in)
					a := e.Release(n, in)
					if fmt.Sprint(in) != before || len(a.Values) != 3 || len(a.StdErr) != 3 {
						t.Errorf("%s: answer %+v, or the input was changed", name, a)
					}
					for _, x := range a.Values {
						if math.IsNaN(x) || math.IsInf(x, 0) {
							t.Errorf("%s, rho %v: value %v", name, rho, x)
						}
						if rho == 1e6 && persons == 2000 && v == 5 && x != 5 {
							t.Errorf("%s: equal values give %v", name, x)
						}
					}
					if a.Status == estimator.TooFew && a.Needed != e.MinPersons() {
						t.Errorf("%s: needs %d, says %d", name, e.MinPersons(), a.Needed)
					}
					if p.Sized && (int64(persons) < e.MinPersons()) != (a.Status == estimator.TooFew) {
						t.Errorf("%s: status %v of %d persons, %d needed", name, a.Status, persons, e.MinPersons())
					}
				}
			}
		}
	}
}
