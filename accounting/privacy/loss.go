package privacy

import (
	"fmt"
	"math"
	"math/bits"

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

// SamplerSlack is more than the DeltaTV of one statement whose only slack is that of samplers: 2^22
// draws of 2^-100.
const SamplerSlack = 0x1p-78

// LeastFailure is the least DeltaTV of a method that may fail for a pair of neighbours: more than
// SamplerSlack, by which OfUnits tells it from samplers. Such methods take no smaller one.
const LeastFailure = 1e-20

// NoBound is the loss of a release that promises nothing. No budget has room for it.
func NoBound() Loss { return Loss{Rho: MaxRho, DeltaEvent: 1} }

// OfUnits returns the loss of a release for neighbours that differ in at most n units, n >= 1,
// where l is its loss for those that differ in one:
//
//	ρ·n², and ε·n where it is pure     group privacy [BS16, Proposition 1.9], n steps from neighbour to neighbour
//
// Each input's output is within the slack of samplers of that of the ideal mechanism, whatever the
// neighbour, so that it stays as it is. Of other slack, which holds for a pair of neighbours, no
// group has a bound of use, nor has a loss of more than MaxRho: these are NoBound. It panics on
// n < 1. Proof note: docs/proofs/periods.md.
func (l Loss) OfUnits(n int64) Loss {
	if n < 1 {
		panic("privacy: a group of no units")
	}
	if n == 1 || l == (Loss{}) {
		return l
	}
	rho, ok1 := product(uint64(l.Rho), uint64(n), uint64(MaxRho))
	rho, ok2 := product(rho, uint64(n), uint64(MaxRho))
	pure, ok3 := product(uint64(l.Pure), uint64(n), uint64(MaxPure))
	if !ok1 || !ok2 || !ok3 || l.DeltaEvent > 0 || l.DeltaTV > SamplerSlack {
		return NoBound()
	}
	return Loss{Rho: Rho(rho), DeltaTV: l.DeltaTV, Pure: Pure(pure)}
}

// product returns x·n, false where that is above most.
func product(x, n, most uint64) (uint64, bool) {
	hi, lo := bits.Mul64(x, n)
	return lo, hi == 0 && lo <= most
}

// CostKind says what a cost is a number of.
type CostKind uint8

// The kinds.
const (
	RhoCost  CostKind = iota // ρ of ρ-zCDP
	PureCost                 // ε of (ε, 0)-DP
)

// CostUnit is the value of one unit of a cost, RhoUnit and PureUnit.
const CostUnit = RhoUnit

// Cost is what a release may cost, ρ or a pure ε, in the account's own fixed point. Costs of one
// kind add up exactly; what rounds, rounds down, so that the parts cost no more than the whole.
// Costs of two kinds do not add up: methods that take two panic on them.
type Cost struct {
	Kind  CostKind
	Units uint64 // CostUnit each
}

// CostWithin returns the largest cost of a kind that is at most x, for 0 <= x < 2^24. It panics on
// other numbers: these come from parameters, which have their ranges.
func CostWithin(k CostKind, x float64) Cost {
	if !(x >= 0 && x < 1<<24) {
		panic("privacy: cost out of range")
	}
	return Cost{k, uint64(math.Floor(x / CostUnit))}
}

// CostFor returns what (ε, δ) allows: ε itself of a pure cost, else the ρ that stands for both.
func CostFor(k CostKind, e Epsilon, d Delta) Cost {
	if k == PureCost {
		return Cost{k, uint64(PureWithin(e))}
	}
	return Cost{k, uint64(RhoFor(e, d))}
}

// Rho returns the ρ as a float64, exactly below 2^53 units; 0 of a pure cost.
func (c Cost) Rho() float64 {
	if c.Kind != RhoCost {
		return 0
	}
	return Rho(c.Units).Float()
}

// Epsilon returns the pure ε as a float64, exactly below 2^53 units; 0 of a cost that is not pure.
func (c Cost) Epsilon() float64 {
	if c.Kind != PureCost {
		return 0
	}
	return Pure(c.Units).Float()
}

// Loss returns the loss of a release that costs c.
func (c Cost) Loss() Loss {
	if c.Kind == PureCost && c.Units > 0 {
		return PureLoss(c.Epsilon())
	}
	return Loss{Rho: Rho(c.Units)}
}

// Zero reports whether the cost is nothing.
func (c Cost) Zero() bool { return c.Units == 0 }

// Add returns c+d, saturating.
func (c Cost) Add(d Cost) Cost {
	return Cost{c.with(d), uint64(Rho(c.Units).Add(Rho(d.Units)))}
}

// Less returns c-d, 0 where d is larger.
func (c Cost) Less(d Cost) Cost {
	return Cost{c.with(d), c.Units - min(c.Units, d.Units)}
}

// Min returns the smaller one.
func (c Cost) Min(d Cost) Cost { return Cost{c.with(d), min(c.Units, d.Units)} }

// Times returns n times the cost, n >= 0, saturating.
func (c Cost) Times(n int) Cost { return Cost{c.Kind, uint64(Loss{Rho: Rho(c.Units)}.Times(n).Rho)} }

// Over returns one of n equal parts, n >= 1, rounded down.
func (c Cost) Over(n int) Cost { return Cost{c.Kind, c.Units / uint64(n)} }

// with returns the kind of both.
func (c Cost) with(d Cost) CostKind {
	if c.Kind != d.Kind {
		panic("privacy: costs of two kinds")
	}
	return c.Kind
}
