package privacy

import (
	"fmt"
	"math"
	"math/bits"

	"scrim/accounting/internal/roundup"
)

// Pure is the ε of a pure (ε, 0) guarantee in fixed point: multiples of PureUnit. Sums of Pure are
// exact; conversions from real numbers round up. 0 stands for "none": see Loss.
type Pure uint64

// PureUnit is the value of one step of Pure.
const PureUnit = RhoUnit

// MaxPure is the largest ε that a charge may carry. Sums saturate far above it.
const MaxPure Pure = 1 << 60

// PureOf returns the smallest Pure that is at least eps. It panics on NaN, a number that is not
// above 0, or one above MaxPure: these come from plans, which check their parameters first.
func PureOf(eps float64) Pure {
	if !(eps > 0) || eps > float64(MaxPure)*PureUnit {
		panic(fmt.Sprintf("accounting: pure epsilon out of range: %v", eps))
	}
	return Pure(math.Ceil(eps / PureUnit))
}

// PureWithin returns the largest Pure that is at most eps, for eps >= 0; below MaxUint64, at which
// sums saturate.
func PureWithin(eps Epsilon) Pure {
	switch x := math.Floor(float64(eps) / PureUnit); {
	case !(x >= 0):
		return 0
	case x < 0x1p64:
		return Pure(min(uint64(x), math.MaxUint64-1))
	}
	return math.MaxUint64 - 1
}

// Float returns the value as a float64; it is exact below 2^53 steps.
func (p Pure) Float() float64 { return float64(p) * PureUnit }

// Add returns p+q, saturating at the largest Pure instead of wrapping. It adds numbers: Loss.Add
// knows that 0 is none.
func (p Pure) Add(q Pure) Pure {
	if s := p + q; s >= p {
		return s
	}
	return math.MaxUint64
}

// Epsilon returns the smallest float64 that is at least p; +Inf for a saturated sum.
func (p Pure) Epsilon() Epsilon {
	if p == math.MaxUint64 {
		return Epsilon(math.Inf(1))
	}
	return Epsilon(roundup.Float(uint64(p)) * PureUnit)
}

// PureLoss returns the loss of an ε-DP mechanism, 0 < ε: it is ε²/2-zCDP [BS16, Proposition 1.4],
// and ε-zCDP, since no Rényi divergence is above ε and its order is at least 1.
func PureLoss(eps float64) Loss { return pureLoss(eps, eps*eps/2) }

// BoundedRangeLoss returns the loss of an ε-bounded-range mechanism, such as the exponential
// mechanism: it is ε-DP and ε²/8-zCDP [CR21, Lemma 3.2], and ε-zCDP as above.
func BoundedRangeLoss(eps float64) Loss { return pureLoss(eps, eps*eps/8) }

func pureLoss(eps, rho float64) Loss {
	return Loss{Rho: RhoOf(min(roundup.Next(rho), eps)), Pure: PureOf(eps)}
}

// times returns n·u, saturating.
func times(u, n uint64) uint64 {
	hi, lo := bits.Mul64(u, n)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// EpsilonDown returns the largest float64 that is at most p.
func (p Pure) EpsilonDown() Epsilon {
	f := float64(p)
	if f >= 0x1p64 || Pure(f) > p {
		f = math.Nextafter(f, 0)
	}
	return Epsilon(f * PureUnit)
}
