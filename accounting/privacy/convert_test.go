package privacy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/test/bigref"
)

// The values of the numeric specification, section 1.3, to the digits given there.
func TestCheckValues(t *testing.T) {
	for _, c := range []struct{ rho, eps float64 }{
		{0.01, 0.6217}, {0.05, 1.4716}, {0.1, 2.1419}, {0.5, 5.2215}, {1, 7.7662},
	} {
		got := EpsilonOf(Loss{Rho: RhoOf(c.rho)}, 1e-6)
		if fmt.Sprintf("%.4f", float64(got)) != fmt.Sprintf("%.4f", c.eps) {
			t.Errorf("rho %v: epsilon %.8f, want %v", c.rho, float64(got), c.eps)
		}
	}
	if got := RhoFor(1, 1e-6).Float(); fmt.Sprintf("%.6f", got) != "0.024356" {
		t.Errorf("rho for epsilon 1: %.9f, want 0.024356", got)
	}
	// Why event δ must not be multiplied: 1+e^8.
	if got := DeltaOf(Loss{DeltaTV: 1e-9}, 8) / 1e-9; math.Round(float64(got)) != 2982 {
		t.Errorf("factor of total-variation slack at epsilon 8: %v, want 2982", got)
	}
	if got := DeltaOf(Loss{DeltaEvent: 1e-9}, 8); got != 1e-9 {
		t.Errorf("event delta at epsilon 8: %v, want 1e-9", got)
	}
}

// losses for comparison with the reference: every scale that a budget can meet, then random ones.
func losses(r *rand.Rand, n int) []Loss {
	list := []Loss{
		{Rho: 1}, {Rho: 1 << 10}, {Rho: 1 << 20}, {Rho: RhoOf(1e-3)}, {Rho: RhoOf(0.01)}, {Rho: RhoOf(0.5)},
		{Rho: RhoOf(1)}, {Rho: RhoOf(50)}, {Rho: RhoOf(1000)},
		{Rho: RhoOf(0.1), DeltaEvent: 9e-7}, {Rho: RhoOf(0.1), DeltaEvent: 1e-9, DeltaTV: 0x1p-100},
		{Rho: RhoOf(0.1), DeltaTV: 1e-8}, {DeltaEvent: 1e-7}, {DeltaTV: 0x1p-90},
	}
	for range n {
		l := Loss{Rho: RhoOf(math.Exp2(r.Float64()*46 - 38))}
		if r.IntN(2) == 0 {
			l.DeltaEvent = math.Exp2(-r.Float64()*60 - 10)
		}
		if r.IntN(2) == 0 {
			l.DeltaTV = math.Exp2(-r.Float64()*80 - 20)
		}
		list = append(list, l)
	}
	return list
}

// TestDeltaNeverBelowReference: the fast δ is at least the true one, and within 1e-9 of it
// relatively.
func TestDeltaNeverBelowReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, l := range losses(r, 50) {
		for _, e := range []float64{0, 1e-3, r.Float64() * 3, r.Float64() * 40} {
			got := DeltaOf(l, Epsilon(e))
			want := refDelta(l, e)
			if want.Cmp(bigref.Of(1)) > 0 {
				want = bigref.Of(1)
			}
			// Below the normal range of float64 the result is only never below.
			if bigref.Of(float64(got)).Cmp(want) < 0 || got > 1e-290 && bigref.Of(float64(got)*(1-1e-9)).Cmp(want) > 0 {
				t.Errorf("%+v at epsilon %v: delta %v, reference %s", l, e, got, want.Text('g', 20))
			}
		}
	}
}

// TestEpsilonNeverBelowReference: at the ε returned the true δ is at most the one asked for, and
// 1e-8 below it (relatively) it is not.
func TestEpsilonNeverBelowReference(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 1))
	for _, l := range losses(r, 25) {
		for _, d := range []float64{1e-6, math.Exp2(-r.Float64() * 50), math.Exp2(-r.Float64() * 200)} {
			got := float64(EpsilonOf(l, Delta(d)))
			if math.IsInf(got, 1) {
				// No ε will do: neither at the ends nor where the two growing parts balance.
				for e := 0.0; e < 80; e += 7.9 {
					if refDelta(l, e).Cmp(bigref.Of(d)) <= 0 {
						t.Errorf("%+v at delta %v: infinite epsilon, but %v will do", l, d, e)
					}
				}
				continue
			}
			if want := refDelta(l, got); want.Cmp(bigref.Of(d)) > 0 {
				t.Errorf("%+v at delta %v: epsilon %v has delta %s", l, d, got, want.Text('g', 20))
			}
			if got > 0 && refDelta(l, got*(1-1e-8)).Cmp(bigref.Of(d)) <= 0 {
				t.Errorf("%+v at delta %v: epsilon %v is not tight", l, d, got)
			}
		}
	}
}

// TestRhoNeverAboveReference: the ρ returned implies (ε, δ) by the reference, and 1e-8 more (at
// least two steps) does not.
func TestRhoNeverAboveReference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 60 {
		e, d := math.Exp2(r.Float64()*16-8), math.Exp2(-1-r.Float64()*80)
		got := RhoFor(Epsilon(e), Delta(d))
		if refDeltaZ(got, e).Cmp(bigref.Of(d)) > 0 {
			t.Errorf("epsilon %v delta %v: rho %v has delta above", e, d, got.Float())
		}
		if refDeltaZ(got+max(2, got/1e8), e).Cmp(bigref.Of(d)) <= 0 {
			t.Errorf("epsilon %v delta %v: rho %v is not tight", e, d, got.Float())
		}
	}
}

func TestRoundTrips(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for range 300 {
		e, d := Epsilon(math.Exp2(r.Float64()*20-10)), Delta(math.Exp2(-1-r.Float64()*100))
		rho := RhoFor(e, d)
		if got := DeltaOf(Loss{Rho: rho}, e); got > d {
			t.Errorf("epsilon %v delta %v: rho %v gives delta %v", e, d, rho, got)
		}
		if got := EpsilonOf(Loss{Rho: rho}, d); got > e*(1+1e-10) {
			t.Errorf("epsilon %v delta %v: rho %v gives epsilon %v", e, d, rho, got)
		}
		l := Loss{Rho: RhoOf(math.Exp2(r.Float64()*30 - 25)), DeltaEvent: float64(d) * r.Float64() * 1.2, DeltaTV: float64(d) * math.Exp2(-r.Float64()*60)}
		if e := EpsilonOf(l, d); !math.IsInf(float64(e), 1) && DeltaOf(l, e) > d {
			t.Errorf("%+v: delta at EpsilonOf(%v) = %v is %v", l, d, e, DeltaOf(l, e))
		}
	}
}

func TestMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	const tol = 1 + 1e-9 // of the minimiser; the steps below are larger
	for range 300 {
		l := Loss{Rho: RhoOf(math.Exp2(r.Float64()*30 - 25)), DeltaEvent: math.Exp2(-20 - r.Float64()*40), DeltaTV: math.Exp2(-80 - r.Float64()*40)}
		more := l
		switch r.IntN(3) {
		case 0:
			more.Rho += more.Rho/1000 + 1
		case 1:
			more.DeltaEvent *= 1.001
		case 2:
			more.DeltaTV *= 1.001
		}
		e, d := Epsilon(r.Float64()*10), Delta(math.Exp2(-5-r.Float64()*25))
		if DeltaOf(more, e)*tol < DeltaOf(l, e) {
			t.Errorf("%+v: delta falls as the loss grows", l)
		}
		if EpsilonOf(more, d)*tol < EpsilonOf(l, d) {
			t.Errorf("%+v: epsilon falls as the loss grows", l)
		}
		if RhoFor(e*1.001, d) < RhoFor(e, d) || RhoFor(e, d*1.001) < RhoFor(e, d) {
			t.Errorf("epsilon %v delta %v: rho falls as the budget grows", e, d)
		}
	}
}

func TestEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	some := Loss{Rho: RhoOf(0.1)}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"delta of nothing", float64(DeltaOf(Loss{}, 0)), 0},
		{"delta at infinite epsilon", float64(DeltaOf(some, Epsilon(inf))), 0},
		{"event delta at infinite epsilon", float64(DeltaOf(Loss{DeltaEvent: 0.25}, Epsilon(inf))), 0.25},
		{"total variation at infinite epsilon", float64(DeltaOf(Loss{DeltaTV: 1e-300}, Epsilon(inf))), 1},
		{"delta at NaN", float64(DeltaOf(some, Epsilon(nan))), 1},
		{"delta at negative epsilon", float64(DeltaOf(some, -1)), 1},
		{"delta of NaN slack", float64(DeltaOf(Loss{DeltaEvent: nan}, 1)), 1},
		{"delta of negative slack", float64(DeltaOf(Loss{DeltaTV: -1}, 1)), 1},
		{"delta of the largest rho", float64(DeltaOf(Loss{Rho: math.MaxUint64}, 1)), 1},
		{"epsilon of nothing", float64(EpsilonOf(Loss{}, 0)), 0},
		{"epsilon at delta 0", float64(EpsilonOf(some, 0)), inf},
		{"epsilon at delta 1", float64(EpsilonOf(some, 1)), 0},
		{"epsilon at NaN", float64(EpsilonOf(some, Delta(nan))), inf},
		{"epsilon at negative delta", float64(EpsilonOf(some, -1)), inf},
		{"epsilon below event delta", float64(EpsilonOf(Loss{DeltaEvent: 1e-5}, 1e-6)), inf},
		{"epsilon with too much total variation", float64(EpsilonOf(Loss{Rho: RhoOf(1), DeltaTV: 1e-8}, 1e-6)), inf},
		{"epsilon of NaN slack", float64(EpsilonOf(Loss{DeltaTV: nan}, 0.5)), inf},
		{"rho at epsilon NaN", RhoFor(Epsilon(nan), 0.5).Float(), 0},
		{"rho at negative epsilon", RhoFor(-1, 0.5).Float(), 0},
		{"rho at delta 0", RhoFor(1, 0).Float(), 0},
		{"rho at delta NaN", RhoFor(1, Delta(nan)).Float(), 0},
		{"rho at delta 1", RhoFor(1, 1).Float(), MaxRho.Float()},
		{"rho at infinite epsilon", RhoFor(Epsilon(inf), 1e-6).Float(), MaxRho.Float()},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	for _, e := range []Epsilon{1e-9, 1e-3, 1, 1e3, MaxEpsilon} {
		for _, d := range []Delta{1e-300, 1e-100, 1e-6, 0.5} {
			if rho := RhoFor(e, d); DeltaOf(Loss{Rho: rho}, e) > d {
				t.Errorf("epsilon %v delta %v: rho %v does not fit", e, d, rho)
			}
		}
	}
	if e := EpsilonOf(Loss{Rho: math.MaxUint64}, 1e-6); !(e > 1e7) {
		t.Errorf("epsilon of the largest rho: %v", e)
	}
	if e := EpsilonOf(Loss{Rho: 1}, 1e-300); !(e > 0) || e > 1 {
		t.Errorf("epsilon of the smallest rho: %v", e)
	}
}

func BenchmarkEpsilonOf(b *testing.B) {
	l := Loss{Rho: RhoOf(0.1), DeltaEvent: 1e-8, DeltaTV: 1e-30}
	for b.Loop() {
		EpsilonOf(l, 1e-6)
	}
}

func BenchmarkDeltaOf(b *testing.B) {
	l := Loss{Rho: RhoOf(0.1), DeltaEvent: 1e-8, DeltaTV: 1e-30}
	for b.Loop() {
		DeltaOf(l, 1)
	}
}

func BenchmarkRhoFor(b *testing.B) {
	for b.Loop() {
		RhoFor(1, 1e-6)
	}
}
