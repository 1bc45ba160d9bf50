package budget

import "scrim/accounting/privacy"

// A Gaussian account has one more test than other budgets, at the exact curve of Gaussian noise:
//
//	δ(ε) of μ-GDP is at most gaussianShare of δ
//
// where μ is what every charge of the window comes to (privacy.Curve.GDP): Gaussian noise that was
// drawn as rounded normal numbers, choices and what is pure. It is a cap on a number that does not
// depend on their order and grows with each. The slack is within the same shares as that of the
// rule, whichever test passes, so all parts of δ add up to at most the budget's: 26/32 here, 2/32
// for the rule, 3/32 and 1/32 for slack. docs/proofs/gaussian_account.md has the argument.
const gaussianShare = 26. / 32

// takesGaussian reports whether spending passes that test.
func (b *Budget) takesGaussian(spent *privacy.Amount) bool {
	half, ok := spent.Curve.GDP()
	x := b.shares()
	return ok && x.slack(spent.Loss()) && privacy.GaussianDelta(half, b.Epsilon) <= b.part(gaussianShare)
}

// gaussianRho returns the largest ρ of Gaussian noise that passes that test beside what is spent,
// whose slack is within the shares; 0 where there is no such test.
func (b *Budget) gaussianRho(spent *privacy.Amount) privacy.Rho {
	half, ok := spent.Curve.GDP()
	if !b.Gaussian || !ok {
		return 0
	}
	most := privacy.GaussianFor(b.Epsilon, b.part(gaussianShare))
	return most - min(most, half)
}

// Typical returns a charge of a loss of which nothing else is known but that it is Gaussian noise
// where it is not pure: drawn by the law that a charge to this budget is drawn by.
func (b *Budget) Typical(l privacy.Loss) *privacy.Amount {
	events := privacy.EventsOf(l)
	for i := range events {
		if b.Gaussian && events[i].Kind == privacy.ZCDP && events[i].Epsilon == 0 {
			events[i].Kind = privacy.Gaussian
		}
	}
	return &privacy.Amount{Tally: privacy.TallyOf(l), Curve: privacy.CurveOf(events)}
}
