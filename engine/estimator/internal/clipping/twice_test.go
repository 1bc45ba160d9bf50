package clipping

import (
	"math"
	"math/big"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// TestWhereTheSearchIsReleasedAgain forces the first histogram, of σ = 16 at ρ = 0.013.
func TestWhereTheSearchIsReleasedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		p       estimator.Params
		persons map[int]int64 // by bucket; the other answers are 0
		spared  bool
	}{
		"few persons":                      {estimator.Params{Rho: 0.013}, map[int]int64{5: 1000}, false},
		"many":                             {estimator.Params{Rho: 0.013}, map[int]int64{5: 10_000}, true},
		"many, and as many far out":        {estimator.Params{Rho: 0.013}, map[int]int64{5: 10_000, 9: 10_000}, true},
		"many, and perhaps some far out":   {estimator.Params{Rho: 0.013}, map[int]int64{5: 10_000, 9: 45}, false},
		"many, and a tail that may be one": {estimator.Params{Rho: 0.013}, map[int]int64{5: 10_000, 6: 30, 7: 30, 8: 30}, false},
		"many, and noise far out":          {estimator.Params{Rho: 0.013}, map[int]int64{5: 10_000, 9: 20, 30: -100}, true},
		"many of a pure loss":              {estimator.Params{Epsilon: 1}, map[int]int64{5: 10_000}, false},
	} {
		t.Run(name, func(t *testing.T) {
			search := NewTwice(c.p, 0, estimator.MaxUnits)
			forced := &stattest.Recorder{Answer: func(i int, _, _ *big.Int) *big.Int { return big.NewInt(c.persons[i]) }}
			counts, spared := search.Release(forced, new(Histogram), 1)
			if (spared > 0) != c.spared {
				t.Errorf("spared %v", spared)
			}
			histograms, buckets := 1, search.first.buckets()
			if !c.spared && !c.p.Pure() {
				histograms = 2
			}
			if n := len(forced.Queries); n != histograms*buckets {
				t.Errorf("%d queries, %d buckets", n, buckets)
			}
			loss := 0.0
			for _, s := range search.Steps("") {
				loss += s.Rho + s.Epsilon
			}
			if want := Share * c.p.Loss(); loss > want || loss < want*(1-1e-9) {
				t.Errorf("loss %v of %v", loss, want)
			}
			if want := search.sigma(); histograms == 2 && math.Abs(counts.sigma-want) > 1e-9 {
				t.Errorf("noise of both together %v, want %v", counts.sigma, want)
			}
		})
	}
}

// TestAnExchangeCostsSumsOfBothSigns four times as much as one who comes or goes, and histograms
// twice: where a sum of both signs had the second histogram's loss, it would cost 3.75 times.
func TestAnExchangeCostsSumsOfBothSigns(t *testing.T) {
	both, one := NewTwice(estimator.Params{Rho: 1}, -9, 9), NewTwice(estimator.Params{Rho: 1}, 0, 9)
	if n := len(both.Steps("")); n != 1 {
		t.Errorf("%d histograms of both signs", n)
	}
	if got, want := both.Exchange(4), 4-2*Share; math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := one.Exchange(1), 1+Share+FinerShare; math.Abs(got-want) > 1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
}
