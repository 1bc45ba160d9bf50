package watch

import (
	"math"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// Unit is what a budget is stated in.
type Unit string

// The units.
const (
	Epsilon Unit = "ε"
	Pure    Unit = "pure ε"
	Rho     Unit = "ρ"
)

// Measure tells losses in the unit of one budget.
type Measure struct {
	Unit  Unit
	Limit float64
	// Delta is the δ at which losses are converted to ε; 0 for the other units.
	Delta privacy.Delta
}

// MeasureOf returns the measure of a budget.
func MeasureOf(b budget.Budget) Measure {
	if b.Rho > 0 {
		return Measure{Unit: Rho, Limit: b.Rho.Float()}
	}
	if b.Delta == 0 {
		return Measure{Unit: Pure, Limit: float64(b.Epsilon)}
	}
	return Measure{Unit: Epsilon, Limit: float64(b.Epsilon), Delta: b.Delta}
}

// Of returns a loss in the unit of the measure, rounded up; +Inf where it has none.
func (m Measure) Of(l privacy.Loss) float64 {
	if m.Unit == Rho {
		return l.Rho.Float()
	}
	return float64(privacy.EpsilonOf(l, m.Delta))
}

// Spent returns what is spent of a budget in the unit of the measure: in ε the least that one of
// several conversions proves.
func (m Measure) Spent(b *accounting.BudgetStatus) float64 {
	amount := m.Of(b.Spent)
	if m.Unit == Epsilon && b.SpentEpsilon > 0 {
		amount = math.Min(amount, float64(b.SpentEpsilon))
	}
	return amount
}

// Share returns the part of the limit that an amount is, within [0, 1].
func (m Measure) Share(amount float64) float64 {
	if !(m.Limit > 0) {
		return 1
	}
	return math.Min(1, math.Max(0, amount/m.Limit))
}
