package budget

import (
	"math"

	"scrim/accounting/internal/roundup"
	"scrim/accounting/privacy"
)

// box is what a promise of a budget takes: caps on three sums, all of which follow from the budget
// alone. Spending within them is (epsilon, conversion + event + tv)-DP, however the charges follow
// from earlier answers; see docs/proofs/filter.md.
type box struct {
	epsilon    privacy.Epsilon
	conversion privacy.Delta // caps Σρ: δ_z(Σρ, epsilon) is at most this
	event      privacy.Delta // caps Σδ_event
	tv         privacy.Delta // caps Σδ_tv: (1+e^epsilon)·Σδ_tv is at most this; 0: none is taken
}

// boxes are the promises of a budget in ε without a Rényi order: spending that is within one of
// them fits. Their δ add up to at most the budget's. Budgets that were made before orders were
// chosen have none, and those with a very large ε.
//
// One box takes half of δ for the conversion, five sixteenths for events, which selected keys have,
// and an eighth for δ_tv, whose slack counts 1+e^ε times; what is left is for the rounding of the
// sum. At a large ε no Σδ_tv passes that factor. There are two boxes then, of half of δ each: one
// at that ε, without δ_tv, and one with it at the largest ε that has room for the samplers'.
func (b *Budget) boxes() []box {
	e, d := b.Epsilon, b.Delta
	if top := privacy.Epsilon(math.Log(float64(d)/8/privacy.SamplerSlack)) - 1; e > top && d > 0 {
		return []box{{e, d / 4, d / 4, 0}, {max(0, top), d / 4, d / 8, d / 8}}
	}
	return []box{{e, d / 2, d/4 + d/16, d / 8}}
}

// takes reports whether spending is within the box.
func (x *box) takes(l privacy.Loss) bool {
	return privacy.DeltaOf(privacy.Loss{Rho: l.Rho}, x.epsilon) <= x.conversion && x.slack(l)
}

// slack reports whether the δ of a loss are within the box.
func (x *box) slack(l privacy.Loss) bool {
	return l.DeltaEvent <= float64(x.event) && (l.DeltaTV == 0 || roundup.Mul(roundup.Add(1, roundup.Exp(float64(x.epsilon))), l.DeltaTV) <= float64(x.tv))
}

// Fits is the filter's test: whether spending of the given total, the pending charge included,
// keeps the promise of budget b.
func (b *Budget) Fits(spent *privacy.Amount) bool {
	l := spent.Loss()
	if b.Rho > 0 {
		return spent.Rho <= b.Rho && roundup.Add(l.DeltaEvent, l.DeltaTV) <= float64(b.Delta)
	}
	if l.IsPure() && l.Pure <= privacy.PureWithin(b.Epsilon) && l.DeltaEvent == 0 && l.DeltaTV == 0 {
		return true
	}
	if b.Gaussian && b.takesGaussian(spent) {
		return true
	}
	if b.Order > 0 {
		r := b.rule()
		return r.takes(spent)
	}
	for _, x := range b.boxes() {
		if x.takes(l) {
			return true
		}
	}
	return false
}
