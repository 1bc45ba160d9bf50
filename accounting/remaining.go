package accounting

import "math"

// What remains of a budget is what the next charge of a kind is granted: Gaussian noise of some ρ,
// the ε that a statement asks for to be charged that ρ, or a pure ε. Each is the largest that
// passes the filter's test beside what is spent, rounded down.

// remaining returns what the next statement is granted: where δ = 0 the largest pure ε, else the
// largest ε whose ρ at the budget's δ fits. NaN for a budget in ρ.
func (b *Budget) remaining(spent *amount) Epsilon {
	switch {
	case b.Rho > 0:
		return Epsilon(math.NaN())
	case b.Delta == 0:
		return b.remainingPure(spent).epsilonDown()
	}
	return epsilonWithin(b.remainingRho(spent, tally{}), b.Delta)
}

// cost returns the ε of a charge by itself, which compares with remainingFor: its pure ε, or that at
// the budget's δ.
func (b *Budget) cost(l Loss) Epsilon {
	if l.Pure > 0 {
		return l.Pure.epsilon()
	}
	return EpsilonOf(l, b.Delta)
}

// remainingFor is remaining, of statements of the kind of a charge: a pure ε where it is pure.
func (b *Budget) remainingFor(charge tally, spent *amount) Epsilon {
	if b.Rho == 0 && charge.pure > 0 {
		return b.remainingPure(spent).epsilonDown()
	}
	return b.remaining(spent)
}

// epsilonWithin returns the largest ε for which a statement is charged at most r: RhoFor(ε, delta)
// <= r.
func epsilonWithin(r Rho, delta Delta) Epsilon {
	if r == 0 {
		return 0
	}
	eps := EpsilonOf(Loss{Rho: r}, delta)
	above := Loss{Rho: r.Add(1)}
	for nudge := 0x1p-44; eps > 0 && DeltaOf(above, eps) <= delta; nudge *= 2 { // rounding only
		eps = max(0, eps*Epsilon(1-nudge))
	}
	return eps
}

// remainingRho returns the largest ρ of Gaussian noise that fits with the δ of a pending charge,
// rounded down.
func (b *Budget) remainingRho(spent *amount, pending tally) Rho {
	sum := *spent
	sum.plus(&amount{tally: tally{event: pending.event, tv: pending.tv}})
	l := sum.loss()
	total := Rho(0)
	switch {
	case b.Rho > 0:
		if addUp(l.DeltaEvent, l.DeltaTV) <= float64(b.Delta) {
			total = b.Rho
		}
	case b.Order > 0:
		if r := b.rule(); r.slack(l) {
			return r.rho(&sum)
		}
	default:
		for _, x := range b.boxes() {
			if x.slack(l) {
				total = max(total, RhoFor(x.epsilon, x.conversion))
			}
		}
	}
	return total - min(total, spent.rho)
}

// remainingPure returns the largest ε of a pure charge that fits, of whose mechanism nothing else
// is known; 0 for a budget in ρ.
func (b *Budget) remainingPure(spent *amount) Pure {
	if b.Rho > 0 {
		return 0
	}
	fits := func(p Pure) bool { return b.fits(spent.with(PureLoss(p.Float()))) }
	lo, hi := Pure(0), PureWithin(b.Epsilon)
	if spent.loss().IsPure() && spent.pure <= hi {
		lo = hi - spent.pure // by the pure test
	}
	if b.Delta == 0 {
		return lo
	}
	for hi = max(hi, lo+1); hi < MaxPure/2 && fits(hi); hi *= 2 {
		lo = hi
	}
	return largest(lo, hi, fits)
}

// epsilonDown returns the largest float64 that is at most p.
func (p Pure) epsilonDown() Epsilon {
	f := float64(p)
	if f >= 0x1p64 || Pure(f) > p {
		f = math.Nextafter(f, 0)
	}
	return Epsilon(f * PureUnit)
}
