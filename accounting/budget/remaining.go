package budget

import (
	"math"

	"scrim/accounting/internal/bisect"
	"scrim/accounting/internal/roundup"
	"scrim/accounting/privacy"
)

// What remains of a budget is what the next charge of a kind is granted: Gaussian noise of some ρ,
// the ε that a statement asks for to be charged that ρ, or a pure ε. Each is the largest that
// passes the filter's test beside what is spent, rounded down.

// Remaining returns what the next statement is granted: where δ = 0 the largest pure ε, else the
// largest ε whose ρ at the budget's δ fits. NaN for a budget in ρ.
func (b *Budget) Remaining(spent *privacy.Amount) privacy.Epsilon {
	switch {
	case b.Rho > 0:
		return privacy.Epsilon(math.NaN())
	case b.Delta == 0:
		return b.RemainingPure(spent).EpsilonDown()
	}
	return privacy.EpsilonWithin(b.RemainingRho(spent, privacy.Tally{}), b.Delta)
}

// Cost returns the ε of a charge by itself, which compares with remainingFor: its pure ε, or that
// at the budget's δ.
func (b *Budget) Cost(l privacy.Loss) privacy.Epsilon {
	if l.Pure > 0 {
		return l.Pure.Epsilon()
	}
	return privacy.EpsilonOf(l, b.Delta)
}

// RemainingFor is remaining, of statements of the kind of a charge: a pure ε where it is pure.
func (b *Budget) RemainingFor(charge privacy.Tally, spent *privacy.Amount) privacy.Epsilon {
	if b.Rho == 0 && charge.Pure > 0 {
		return b.RemainingPure(spent).EpsilonDown()
	}
	return b.Remaining(spent)
}

// RemainingRho returns the largest ρ of Gaussian noise that fits with the δ of a pending charge,
// rounded down.
func (b *Budget) RemainingRho(spent *privacy.Amount, pending privacy.Tally) privacy.Rho {
	sum := *spent
	sum.Plus(&privacy.Amount{Tally: privacy.Tally{Event: pending.Event, TV: pending.TV}})
	l := sum.Loss()
	total := privacy.Rho(0)
	switch {
	case b.Rho > 0:
		if roundup.Add(l.DeltaEvent, l.DeltaTV) <= float64(b.Delta) {
			total = b.Rho
		}
	case b.Order > 0:
		if r := b.rule(); r.slack(l) {
			return max(r.rho(&sum), b.gaussianRho(&sum))
		}
	default:
		for _, x := range b.boxes() {
			if x.slack(l) {
				total = max(total, privacy.RhoFor(x.epsilon, x.conversion))
			}
		}
	}
	return total - min(total, spent.Rho)
}

// RemainingPure returns the largest ε of a pure charge that fits, of whose mechanism nothing else
// is known; 0 for a budget in ρ.
func (b *Budget) RemainingPure(spent *privacy.Amount) privacy.Pure {
	if b.Rho > 0 {
		return 0
	}
	fits := func(p privacy.Pure) bool { return b.Fits(spent.With(privacy.PureLoss(p.Float()))) }
	lo, hi := privacy.Pure(0), privacy.PureWithin(b.Epsilon)
	if spent.Loss().IsPure() && spent.Pure <= hi {
		lo = hi - spent.Pure // by the pure test
	}
	if b.Delta == 0 {
		return lo
	}
	for hi = max(hi, lo+1); hi < privacy.MaxPure/2 && fits(hi); hi *= 2 {
		lo = hi
	}
	return bisect.Largest(lo, hi, fits)
}

// Holds returns how many charges of one loss fit on top of what is spent, at most MaxForecast.
func (b *Budget) Holds(spent, loss *privacy.Amount) int {
	fits := func(n int) bool {
		sum := *spent
		sum.Plus(loss.Times(n))
		return b.Fits(&sum)
	}
	lo, hi := 0, 1
	for hi <= MaxForecast && fits(hi) {
		lo, hi = hi, 2*hi
	}
	hi = min(hi, MaxForecast+1)
	return bisect.Largest(lo, hi, fits)
}

// MaxForecast is the largest number of repetitions that a forecast counts.
const MaxForecast = 1_000_000
