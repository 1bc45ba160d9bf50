package accounting

import (
	"fmt"
	"math"
	"math/bits"
)

// Epsilon is the ε of (ε, δ)-differential privacy. It has no unit.
type Epsilon float64

// Delta is the δ of (ε, δ)-differential privacy, a probability.
type Delta float64

// Rho is a zCDP loss in fixed point: multiples of RhoUnit. Sums of Rho are exact; conversions from
// real numbers round up, so an account never undercharges.
type Rho uint64

// RhoUnit is the value of one step of Rho.
const RhoUnit = 1.0 / (1 << 40)

// MaxRho is the largest loss that a charge may carry. Sums saturate far above it.
const MaxRho Rho = 1 << 60

// RhoOf returns the smallest Rho that is at least r. It panics on NaN, a negative number, or a
// number above MaxRho: these come from plans, which check their parameters first.
func RhoOf(r float64) Rho {
	if !(r >= 0) || r > float64(MaxRho)*RhoUnit {
		panic(fmt.Sprintf("accounting: rho out of range: %v", r))
	}
	return Rho(math.Ceil(r / RhoUnit))
}

// Float returns the value as a float64; it is exact below 2^53 steps.
func (r Rho) Float() float64 { return float64(r) * RhoUnit }

// floatUp returns the smallest float64 that is at least r.
func (r Rho) floatUp() float64 { return floatUp(uint64(r)) * RhoUnit }

// Add returns r+s, saturating at the largest Rho instead of wrapping.
func (r Rho) Add(s Rho) Rho {
	if t := r + s; t >= r {
		return t
	}
	return math.MaxUint64
}

// Loss is the privacy loss of a release with respect to adding or removing one unit: approximate
// zCDP, with two kinds of slack that convert differently (see package documentation).
// Losses compose adaptively by adding all three parts [BS16, Lemma 8.2 and 8.8].
type Loss struct {
	Rho        Rho
	DeltaEvent float64 // δ of [BS16, Def. 8.1]: outside an event of this probability ρ-zCDP holds; adds to δ as it is
	DeltaTV    float64 // total-variation distance to an exactly ρ-zCDP mechanism; enters δ multiplied by 1+e^ε
}

// Add returns the loss of doing both. The δ are rounded up.
func (l Loss) Add(m Loss) Loss {
	return Loss{l.Rho.Add(m.Rho), addUp(l.DeltaEvent, m.DeltaEvent), addUp(l.DeltaTV, m.DeltaTV)}
}

// Times returns the loss of n such releases, n >= 0. The δ are rounded up. It panics on a negative n.
func (l Loss) Times(n int) Loss {
	if n < 0 {
		panic("accounting: negative number of releases")
	}
	hi, lo := bits.Mul64(uint64(l.Rho), uint64(n))
	if hi != 0 {
		lo = math.MaxUint64
	}
	return Loss{Rho(lo), mulUp(l.DeltaEvent, floatUp(uint64(n))), mulUp(l.DeltaTV, floatUp(uint64(n)))}
}

// PureLoss returns the loss of an ε-DP mechanism, ε > 0: it is ε²/2-zCDP [BS16, Proposition 1.4].
func PureLoss(eps float64) Loss { return Loss{Rho: RhoOf(math.Nextafter(eps*eps/2, math.Inf(1)))} }
