package accounting

import (
	"fmt"
	"math"
	"math/bits"
)

// Pure is the ε of a pure (ε, 0) guarantee in fixed point: multiples of PureUnit. Sums of Pure are exact; conversions from real
// numbers round up. 0 stands for "none": see Loss.
type Pure uint64

// PureUnit is the value of one step of Pure.
const PureUnit = RhoUnit

// MaxPure is the largest ε that a charge may carry. Sums saturate far above it.
const MaxPure Pure = 1 << 60

// PureOf returns the smallest Pure that is at least eps. It panics on NaN, a number that is not above 0, or one above MaxPure:
// these come from plans, which check their parameters first.
func PureOf(eps float64) Pure {
	if !(eps > 0) || eps > float64(MaxPure)*PureUnit {
		panic(fmt.Sprintf("accounting: pure epsilon out of range: %v", eps))
	}
	return Pure(math.Ceil(eps / PureUnit))
}

// PureWithin returns the largest Pure that is at most eps, for eps >= 0; below MaxUint64, at which sums saturate.
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

// Add returns p+q, saturating at the largest Pure instead of wrapping. It adds numbers: Loss.Add knows that 0 is none.
func (p Pure) Add(q Pure) Pure {
	if s := p + q; s >= p {
		return s
	}
	return math.MaxUint64
}

// epsilon returns the smallest float64 that is at least p; +Inf for a saturated sum.
func (p Pure) epsilon() Epsilon {
	if p == math.MaxUint64 {
		return Epsilon(math.Inf(1))
	}
	return Epsilon(floatUp(uint64(p)) * PureUnit)
}

// PureLoss returns the loss of an ε-DP mechanism, 0 < ε: it is ε²/2-zCDP [BS16, Proposition 1.4], and ε-zCDP, since no Rényi
// divergence is above ε and its order is at least 1.
func PureLoss(eps float64) Loss { return pureLoss(eps, eps*eps/2) }

// BoundedRangeLoss returns the loss of an ε-bounded-range mechanism, such as the exponential mechanism: it is ε-DP and ε²/8-zCDP
// [CR21, Lemma 3.2], and ε-zCDP as above.
func BoundedRangeLoss(eps float64) Loss { return pureLoss(eps, eps*eps/8) }

func pureLoss(eps, rho float64) Loss { return Loss{Rho: RhoOf(min(up(rho), eps)), Pure: PureOf(eps)} }

// IsPure reports whether the loss has a pure ε. No loss at all has one, 0.
func (l Loss) IsPure() bool { return l.Pure > 0 || l == Loss{} }

// composed returns the pure ε of two losses together: none where one that is a loss has none.
func composed(p, q Pure, pZero, qZero bool) Pure {
	switch {
	case pZero:
		return q
	case qZero:
		return p
	case p == 0 || q == 0:
		return 0
	}
	return p.Add(q)
}

// times returns n·u, saturating.
func times(u, n uint64) uint64 {
	hi, lo := bits.Mul64(u, n)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// Pure reports whether what a principal spends on an account is tested against a budget with δ = 0: that of all principals, or the
// principal's own or default one, or that of one of the roles. Only charges with a pure ε fit there.
func (l *Ledger) Pure(account string, entity bool, principal string, roles ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.state.budgets[holder{account, entity, All}]
	own := l.state.own(account, entity, principal)
	for _, role := range roles {
		if b := l.state.budgets[holder{account, entity, RolePrefix + role}]; b.isPure() {
			return true
		}
	}
	return all.isPure() || own.isPure()
}

// isPure reports whether only charges with a pure ε fit a budget. One in ρ with δ = 0 takes every charge without slack.
func (b *Budget) isPure() bool { return b != nil && b.Rho == 0 && b.Delta == 0 }
