package quantile_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/quantile"
	"scrim/test/stattest"
)

func TestParseFractionIsExact(t *testing.T) {
	for text, want := range map[string]quantile.Fraction{
		"0.5": {Num: 1, Den: 2}, ".25": {Num: 1, Den: 4}, "0.9": {Num: 9, Den: 10}, "1e-3": {Num: 1, Den: 1000},
		"1/3": {Num: 1, Den: 3}, " 0.999 ": {Num: 999, Den: 1000}, "50e-2": {Num: 1, Den: 2},
	} {
		if got, err := quantile.ParseFraction(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "1", "1.5", "-0.5", "NaN", "Inf", "x", "0x0.8", "1e-9", "1e-999999999", "0.1234567891", "1/0", "1_0/2_0",
		"0.00000000000000000000000000000000000000000000000000001"} {
		if got, err := quantile.ParseFraction(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestBadFractionsAreRefused(t *testing.T) {
	p := estimator.Params{Rho: 0.1, Grid: estimator.Grid{Step: 1, Lo: 0, Hi: 100}}
	half := []quantile.Fraction{quantile.Median}
	for name, f := range map[string][]quantile.Fraction{
		"none": nil, "zero": {{Num: 0, Den: 2}}, "one": {{Num: 2, Den: 2}}, "negative": {{Num: -1, Den: 2}},
		"fine": {{Num: 1, Den: 1 << 21}}, "many": slices.Repeat(half, 65),
	} {
		if _, err := quantile.New(p, f, quantile.Options{}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	for _, rows := range []int64{0, 1 << 20} {
		p.MaxRows = rows
		if _, err := quantile.New(p, half, quantile.Options{Rows: true}); err == nil {
			t.Errorf("rows were ranked with %d rows a person", rows)
		}
	}
}

// TestRankErrorIsAsStated checks the stated 95 % rank error, and that it is not far too large, on
// values spread over an undeclared range; with a third of the noise variance removed the spread
// must show it.
func TestRankErrorIsAsStated(t *testing.T) {
	const n, runs = 2000, 400
	r := rand.New(stattest.Source(t, "ranks"))
	rows, x := make([]int64, n), make([]int64, n)
	for i := range x {
		rows[i], x[i] = 1, int64(math.Exp(8+3*r.NormFloat64())*1000)
	}
	sorted := slices.Sorted(slices.Values(x))
	p := estimator.Params{Rho: 0.05, Grid: estimator.Grid{Step: 0.001, Decimal: true, Scale: 3, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}}
	fractions := []quantile.Fraction{{Num: 3, Den: 4}, {Num: 1, Den: 10}, {Num: 1, Den: 2}}
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		p.Relation = relation
		p.Sized = relation == estimator.ReplaceOne
		e, err := quantile.New(p, fractions, quantile.Options{Bisect: true})
		if err != nil {
			t.Fatal(err)
		}
		bounds := e.(interface{ RankError() []float64 }).RankError()
		noiser := stattest.Noiser(t, "noise"+relation.String())
		outside := make([]int64, len(fractions))
		for range runs {
			a := e.Release(noiser, estimator.Input{Persons: int64(len(x)), Columns: [][]int64{rows, x}})
			for i, v := range a.Values {
				// A cell is a thousandth of the gap between neighbours here: its width moves no
				// rank.
				rank, _ := slices.BinarySearch(sorted, int64(math.Round(v*1000)))
				if math.Abs(float64(rank)-fractions[i].Float()*n) > bounds[i]+1 {
					outside[i]++
				}
			}
			if !(a.Values[1] <= a.Values[2] && a.Values[2] <= a.Values[0]) {
				t.Fatalf("not monotone: %v", a.Values)
			}
		}
		for i, o := range outside {
			// 20 expected at most, deviation 4.4; 6 deviations and the union over rounds
			if o > runs/20+60 {
				t.Errorf("%v, fraction %v: %d of %d ranks beyond ±%.0f", relation, fractions[i], o, runs, bounds[i])
			}
			if bounds[i] > n/10 {
				t.Errorf("%v, fraction %v: stated rank error %v of %d", relation, fractions[i], bounds[i], n)
			}
		}
	}
}

// TestQuantilesBesideAnAtom: nine tenths of a column that is 92 % zeros is zero.
func TestQuantilesBesideAnAtom(t *testing.T) {
	const n = 20000
	rows, x := make([]int64, n), make([]int64, n)
	for i := range x {
		rows[i] = 1
		if i%25 < 2 {
			x[i] = int64(1000 + i)
		}
	}
	p := estimator.Params{Rho: 0.1, Grid: estimator.Grid{Step: 1, Lo: -1 << 40, Hi: 1 << 40}}
	e, err := quantile.New(p, []quantile.Fraction{{Num: 1, Den: 2}, {Num: 7, Den: 10}, {Num: 9, Den: 10}, {Num: 99, Den: 100}}, quantile.Options{Bisect: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		v := e.Release(stattest.Noiser(t, "atom"), estimator.Input{Persons: int64(len(x)), Columns: [][]int64{rows, x}}).Values
		if v[0] != 0 || v[1] != 0 || v[2] != 0 || v[3] < 1000 || v[3] > 21000 {
			t.Fatalf("got %v", v)
		}
	}
}
