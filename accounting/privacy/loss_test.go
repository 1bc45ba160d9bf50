package privacy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPureComposition: composing losses is associative and commutative, with the zero loss as
// identity and a loss without a pure ε as an end of all.
func TestPureComposition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	pool := []Loss{{}, PureLoss(0.5), PureLoss(1e-3), BoundedRangeLoss(2), {Rho: 1}, {DeltaEvent: 1e-9}, {DeltaTV: 1e-30}, {Rho: MaxRho, Pure: MaxPure}}
	for range 2000 {
		var parts []Loss
		for range r.IntN(6) {
			parts = append(parts, pool[r.IntN(len(pool))])
		}
		want := Pure(0)
		for _, l := range parts {
			want = want.Add(l.Pure)
		}
		if slices.ContainsFunc(parts, func(l Loss) bool { return !l.IsPure() }) {
			want = 0
		}
		var all Loss
		left, split := Tally{}, r.IntN(len(parts)+1)
		for _, l := range parts {
			all = all.Add(l)
		}
		for _, l := range parts[:split] {
			left = left.Add(TallyOf(l))
		}
		right := Tally{}
		for _, l := range parts[split:] {
			right = TallyOf(l).Add(right)
		}
		if got := left.Add(right); all.Pure != want || got.Pure != want || right.Add(left) != got {
			t.Fatalf("%+v: %d and %d, want %d", parts, all.Pure, got.Pure, want)
		}
	}
	if l := PureLoss(0.1); l.Times(0) != (Loss{}) || l.Times(3).Pure != 3*l.Pure || (Loss{Rho: 1}).Times(3).Pure != 0 {
		t.Error("times")
	}
	if l := (Loss{Rho: MaxRho, Pure: MaxPure}).Times(1 << 20); l.Pure != math.MaxUint64 || DeltaOf(l, MaxEpsilon) != 1 || l.Pure <= PureWithin(Epsilon(math.MaxFloat64)) {
		t.Error("a saturated sum counts as a number")
	}
}

// TestPureConversion: the pure ε is an upper bound at every δ, compared in fixed point.
func TestPureConversion(t *testing.T) {
	l := PureLoss(0.75)
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"rho of a pure loss", l.Rho.Float(), 0.28125 + RhoUnit}, // rounded up twice
		{"rho of a bounded-range loss", BoundedRangeLoss(0.75).Rho.Float(), 0.0703125 + RhoUnit},
		{"rho of a large epsilon", PureLoss(100).Rho.Float(), 100},
		{"rho of the largest epsilon", PureLoss(1e6).Rho.Float(), 1e6},
		{"delta at its epsilon", float64(DeltaOf(l, 0.75)), 0},
		{"epsilon at delta 0", float64(EpsilonOf(l, 0)), 0.75},
		{"epsilon at a small delta", float64(EpsilonOf(l, 1e-30)), 0.75},
		{"epsilon at a large delta", float64(EpsilonOf(l, 0.3)), float64(EpsilonOf(Loss{Rho: l.Rho}, 0.3))},
		{"delta under its epsilon", float64(DeltaOf(l, 0.75-1e-9)), float64(DeltaOf(Loss{Rho: l.Rho}, 0.75-1e-9))},
		{"rounded up", float64(PureOf(0.1)), math.Ceil(0.1 * (1 << 40))},
		{"rounded down", float64(PureWithin(0.1)), math.Floor(0.1 * (1 << 40))},
		{"within nothing", float64(PureWithin(Epsilon(math.NaN()))), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	for _, eps := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("PureOf(%v) gave a number", eps)
				}
			}()
			PureOf(eps)
		}()
	}
}
