package privacy

import (
	"fmt"
	"math"

	"scrim/accounting/internal/invalid"
	"scrim/accounting/internal/roundup"
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

// FloatUp returns the smallest float64 that is at least r.
func (r Rho) FloatUp() float64 { return roundup.Float(uint64(r)) * RhoUnit }

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
//
// A release that is (ε, 0)-DP says so in Pure, and has no slack. Pure ε add up, too, as long as
// every part has one: 0 stands for none, except in the zero Loss, which is no loss at all. One part
// with a loss and no pure ε leaves the whole without.
type Loss struct {
	Rho Rho
	// δ of [BS16, Def. 8.1]: outside an event of this probability ρ-zCDP holds; adds to δ as it is
	DeltaEvent float64
	// total-variation distance to an exactly ρ-zCDP mechanism; enters δ multiplied by 1+e^ε
	DeltaTV float64
	Pure    Pure // ε of a pure guarantee, which then holds beside ρ; 0: none
}

// Add returns the loss of doing both. The δ are rounded up.
func (l Loss) Add(m Loss) Loss {
	return Loss{
		l.Rho.Add(m.Rho), roundup.Add(l.DeltaEvent, m.DeltaEvent), roundup.Add(l.DeltaTV, m.DeltaTV),
		composed(l.Pure, m.Pure, l == Loss{}, m == Loss{}),
	}
}

// Times returns the loss of n such releases, n >= 0. The δ are rounded up. It panics on a negative
// n.
func (l Loss) Times(n int) Loss {
	if n < 0 {
		panic("accounting: negative number of releases")
	}
	return Loss{
		Rho(times(uint64(l.Rho), uint64(n))), roundup.Mul(l.DeltaEvent, roundup.Float(uint64(n))), roundup.Mul(l.DeltaTV, roundup.Float(uint64(n))),
		Pure(times(uint64(l.Pure), uint64(n))),
	}
}

// Over returns one of n equal parts of the loss, n >= 1, rounded up. A saturated loss stays so. It
// panics on other n.
func (l Loss) Over(n int) Loss {
	if n < 1 {
		panic("accounting: a loss in no parts")
	}
	of := func(x uint64) uint64 {
		if x == math.MaxUint64 {
			return x
		}
		part := x / uint64(n)
		if part*uint64(n) < x {
			part++
		}
		return part
	}
	share := func(x float64) float64 {
		if x == 0 || n == 1 {
			return x
		}
		return math.Nextafter(x/float64(n), math.Inf(1))
	}
	return Loss{Rho(of(uint64(l.Rho))), share(l.DeltaEvent), share(l.DeltaTV), Pure(of(uint64(l.Pure)))}
}

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

// Check refuses a loss that is not one, by name.
func (l Loss) Check() error {
	if l.Rho > MaxRho {
		return invalid.New("rho: want at most %v, have %v", MaxRho.Float(), l.Rho.Float())
	}
	if l.Pure > MaxPure {
		return invalid.New("pure epsilon: want at most %v, have %v", MaxPure.Float(), l.Pure.Float())
	}
	if l.Pure > 0 && l.Rho == 0 {
		return invalid.New("a loss with pure epsilon %v has no rho", l.Pure.Float())
	}
	if l.Pure > 0 && (l.DeltaEvent != 0 || l.DeltaTV != 0) {
		return invalid.New("a loss with a pure epsilon has no delta, this one has %v and %v", l.DeltaEvent, l.DeltaTV)
	}
	if d := l.DeltaEvent; math.IsNaN(d) || d < 0 || d > 1 {
		return invalid.New("event delta: want within [0, 1], have %v", d)
	}
	if d := l.DeltaTV; math.IsNaN(d) || d < 0 || d > 1 {
		return invalid.New("total-variation delta: want within [0, 1], have %v", d)
	}
	return nil
}
