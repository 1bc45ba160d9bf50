package accounting

import "math"

// box is what a promise of a budget takes: caps on three sums, all of which follow from the budget alone. Spending within them is
// (epsilon, conversion + event + tv)-DP, however the charges follow from earlier answers; see docs/proofs/filter.md.
type box struct {
	epsilon    Epsilon
	conversion Delta // caps Σρ: δ_z(Σρ, epsilon) is at most this
	event      Delta // caps Σδ_event
	tv         Delta // caps Σδ_tv: (1+e^epsilon)·Σδ_tv is at most this; 0: none is taken
}

// samplers is a Σδ_tv for which every budget has room: 2^22 draws of samplers whose slack is 2^-100.
const samplers = 0x1p-78

// boxes are the promises of a budget in ε: spending that is within one of them fits. Their δ add up to at most the budget's.
//
// One box takes half of δ for the conversion, five sixteenths for events, which selected keys have, and an eighth for δ_tv, whose slack counts 1+e^ε times;
// what is left is for the rounding of the sum. At a large ε no Σδ_tv passes that factor. There are two boxes then, of half of δ each: one at that ε,
// without δ_tv, and one with it at the largest ε that has room for the samplers'.
func (b *Budget) boxes() []box {
	e, d := b.Epsilon, b.Delta
	if top := Epsilon(math.Log(float64(d)/8/samplers)) - 1; e > top && d > 0 {
		return []box{{e, d / 4, d / 4, 0}, {max(0, top), d / 4, d / 8, d / 8}}
	}
	return []box{{e, d / 2, d/4 + d/16, d / 8}}
}

// takes reports whether spending is within the box.
func (x *box) takes(l Loss) bool {
	return DeltaOf(Loss{Rho: l.Rho}, x.epsilon) <= x.conversion && x.slack(l)
}

// slack reports whether the δ of a loss are within the box.
func (x *box) slack(l Loss) bool {
	return l.DeltaEvent <= float64(x.event) && (l.DeltaTV == 0 || mulUp(addUp(1, expUp(float64(x.epsilon))), l.DeltaTV) <= float64(x.tv))
}

// fits is the filter's test: whether spending of the given total, the pending charge included, keeps
// the promise of budget b.
func (b *Budget) fits(spent tally) bool {
	l := spent.loss()
	if b.Rho > 0 {
		return spent.rho <= b.Rho && addUp(l.DeltaEvent, l.DeltaTV) <= float64(b.Delta)
	}
	if l.IsPure() && l.Pure <= PureWithin(b.Epsilon) && l.DeltaEvent == 0 && l.DeltaTV == 0 {
		return true
	}
	for _, x := range b.boxes() {
		if x.takes(l) {
			return true
		}
	}
	return false
}

// remaining returns an ε that is left, rounded down, at least 0; NaN for a budget in ρ: the limit minus the ε spent, and no more than the
// ε of the largest ρ that fits.
func (b *Budget) remaining(spent tally) Epsilon {
	if b.Rho > 0 {
		return Epsilon(math.NaN())
	}
	l := spent.loss()
	r := Epsilon(-addUp(float64(EpsilonOf(l, b.Delta)), -float64(b.Epsilon)))
	if !l.IsPure() {
		r = min(r, EpsilonOf(Loss{Rho: b.remainingRho(spent, tally{})}, b.Delta))
	}
	return max(0, r)
}

// remainingRho returns the largest ρ that still fits beside the δ of pending, rounded down.
func (b *Budget) remainingRho(spent, pending tally) Rho {
	l := spent.add(tally{event: pending.event, tv: pending.tv}).loss()
	if b.Rho > 0 {
		if b.Rho <= spent.rho || addUp(l.DeltaEvent, l.DeltaTV) > float64(b.Delta) {
			return 0
		}
		return b.Rho - spent.rho
	}
	total := Rho(0)
	for _, x := range b.boxes() {
		if x.slack(l) {
			total = max(total, RhoFor(x.epsilon, x.conversion))
		}
	}
	if total <= spent.rho {
		return 0
	}
	return total - spent.rho
}
