package accounting

import "math"

// fits is the filter's test: whether spending of the given total, the pending charge included, keeps
// the promise of budget b.
func (b *Budget) fits(spent tally) bool {
	l := spent.loss()
	if b.Rho > 0 {
		return spent.rho <= b.Rho && addUp(l.DeltaEvent, l.DeltaTV) <= float64(b.Delta)
	}
	if DeltaOf(l, b.Epsilon) <= b.Delta {
		return true
	}
	// (ε', δ)-DP implies (ε, δ)-DP for ε' <= ε, and (1+e^ε)·δ_tv makes the test above fail at a large ε
	// where a smaller one passes.
	return l.DeltaTV > 0 && EpsilonOf(l, b.Delta) <= b.Epsilon
}

// remaining returns the limit minus the ε spent, rounded down, at least 0; NaN for a budget in ρ.
func (b *Budget) remaining(spent tally) Epsilon {
	if b.Rho > 0 {
		return Epsilon(math.NaN())
	}
	r := -addUp(float64(EpsilonOf(spent.loss(), b.Delta)), -float64(b.Epsilon))
	return Epsilon(math.Max(0, r))
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
	r := room(l, b.Delta, b.Epsilon)
	if !(r > 0) {
		return 0
	}
	total := RhoFor(b.Epsilon, Delta(r))
	if total <= spent.rho {
		return 0
	}
	return total - spent.rho
}
