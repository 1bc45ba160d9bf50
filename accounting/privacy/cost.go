package privacy

import "math"

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
