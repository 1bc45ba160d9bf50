package variance

import (
	"math/big"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// TestMomentsCostWhatTheyShould computes exactly, over a fine grid of t and its ends, what one person's
// vector costs under the chosen variances: never more than the share, and nearly that at t = ±1.
func TestMomentsCostWhatTheyShould(t *testing.T) {
	p := estimator.Params{Rho: 0.1, Grid: estimator.Grid{Step: 1, Lo: -1000, Hi: 1000}}
	lo, hi := int64(0), int64(100)
	bounded := p
	bounded.Lower, bounded.Upper = &lo, &hi
	for _, p := range []estimator.Params{p, bounded} {
		e := newPersons(p, Options{})
		v1, v2 := e.sigma2()
		share := new(big.Rat).SetFloat64(e.sumRho)
		worst := new(big.Rat)
		for i := int64(-4096); i <= 4096; i++ {
			u := i << (unitBits - 12)
			cost := new(big.Rat).SetFrac(scalar.Square(u), new(big.Int).Lsh(v1, 1))
			cost.Add(cost, new(big.Rat).SetFrac(scalar.Square(u*u-1<<(2*unitBits-2)), new(big.Int).Lsh(v2, 1)))
			if cost.Cmp(worst) > 0 {
				worst = cost
			}
		}
		if worst.Cmp(share) > 0 {
			t.Errorf("a person costs %v of %v", worst.FloatString(12), share.FloatString(12))
		}
		if ratio, _ := worst.Quo(worst, share).Float64(); ratio < 0.9999 {
			t.Errorf("only %v of the share is used", ratio)
		}
	}
}

func TestUnitCutsTowardZero(t *testing.T) {
	const one = 1 << unitBits
	for _, c := range []struct{ x, radius, want int64 }{
		{0, 1, 0}, {1, 1, one}, {-1, 1, -one}, {5, 1, one}, {-5, 1, -one}, {1, 3, one / 3}, {-1, 3, -(one / 3)},
		{1 << 61, 1 << 61, one}, {-1 << 61, 1 << 61, -one}, {1<<61 - 1, 1 << 61, one - 1}, {1, 1 << 61, 0},
	} {
		if got := unit(c.x, c.radius); got != c.want {
			t.Errorf("unit(%d, %d) = %d, want %d", c.x, c.radius, got, c.want)
		}
	}
}
