package quantile_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/errorbar"
	"scrim/engine/estimator/quantile"
	"scrim/test/stattest"
)

// TestExtremesLeaveAsManyAsStated: of persons who are spread out, between none and twice k are
// beyond the answer, in at least 95 % of releases, and nobody where k says about that many; of
// persons who share the end, the answer is it.
func TestExtremesLeaveAsManyAsStated(t *testing.T) {
	const n, runs = 3000, 400
	r := rand.New(stattest.Source(t, "extremes"))
	rows, x := make([]int64, n), make([]int64, n)
	for i := range x {
		rows[i], x[i] = 1, int64(math.Exp(9+2*r.NormFloat64()))-5000
	}
	least, greatest := slices.Min(x), slices.Max(x)
	for name, p := range settings() {
		for _, top := range []bool{false, true} {
			e, err := quantile.NewExtreme(p, top)
			if err != nil {
				t.Fatal(err)
			}
			n0, within, middle, covered := stattest.Noiser(t, name), 0, 0, 0
			exact := float64(least)
			if top {
				exact = float64(greatest)
			}
			for range runs {
				a := e.Release(n0, estimator.Input{Persons: n, Columns: [][]int64{rows, x}})
				if lo, hi := errorbar.Interval(a, 0, 0.99); !(lo > exact) && !(hi < exact) && (p.Bounded() || math.IsNaN(lo) != math.IsNaN(hi)) {
					covered++
				}
				beyond := 0
				for _, v := range x {
					if top && float64(v) > a.Values[0] || !top && float64(v) < a.Values[0] {
						beyond++
					}
				}
				if a.Values[0] >= float64(least) && a.Values[0] <= float64(greatest) && float64(beyond) <= a.Error.BeyondAtMost {
					within++
				}
				if math.Abs(float64(beyond)-a.Error.Beyond) < a.Error.Beyond/50 {
					middle++
				}
			}
			stattest.Accept(t, stattest.Coverage(name, within, runs, 0.95))
			stattest.Accept(t, stattest.Coverage(name+", interval", covered, runs, 0.99))
			stattest.Reject(t, stattest.Coverage(name+", a fiftieth", middle, runs, 0.95))
		}
	}
	for i := range x {
		x[i] = int64(i%5) + 1
	}
	for top, want := range map[bool]float64{false: 1, true: 5} {
		e, err := quantile.NewExtreme(settings()["add-remove"], top)
		if err != nil {
			t.Fatal(err)
		}
		if a := e.Release(stattest.Noiser(t, "stars"), estimator.Input{Columns: [][]int64{rows, x}}); a.Values[0] != want {
			t.Errorf("stars: got %v, want %v", a.Values[0], want)
		}
		few := e.MinPersons() / 2
		if a := e.Release(stattest.Noiser(t, "few"), estimator.Input{Columns: [][]int64{rows[:few], x[:few]}}); a.Status != estimator.TooFew {
			t.Errorf("half of the persons: got %v", a.Values)
		}
	}
}

// TestPureExtremes: the loss of a pure one is ε, its steps add up to it, and of many persons the
// answer is near the end.
func TestPureExtremes(t *testing.T) {
	const n = 5000
	rows, x := make([]int64, n), make([]int64, n)
	for i := range x {
		rows[i], x[i] = 1, int64(i)
	}
	for name, p := range settings() {
		p.Rho, p.Epsilon = 0, 1
		e, err := quantile.NewExtreme(p, true)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, s := range e.Steps() {
			sum += s.Epsilon
		}
		if l := e.Loss(); !l.IsPure() || l.Pure.Float() > 1+1e-9 || sum > 1 || sum < 1-1e-9 {
			t.Errorf("%s: loss %+v, steps %v", name, l, sum)
		}
		a := e.Release(stattest.Noiser(t, name), estimator.Input{Persons: n, Columns: [][]int64{rows, x}})
		if beyond := n - 1 - a.Values[0]; beyond < 0 || beyond > a.Error.BeyondAtMost {
			t.Errorf("%s: %v persons are beyond, at most %v", name, beyond, a.Error.BeyondAtMost)
		}
		p.Epsilon = 1e-300
		if _, err := quantile.NewExtreme(p, true); err == nil {
			t.Errorf("%s: a loss of next to nothing was taken", name)
		}
	}
}
