package budget

import (
	"math"
	"slices"

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
	return slices.ContainsFunc(b.boxes(), func(x box) bool { return x.takes(l) })
}

// rule is the test that a budget with δ > 0 puts spending to, besides the pure one: at the Rényi
// order α = 1+β that was chosen when the budget was made, the divergences of the window add up to
// at most limit, and the slack to at most its shares of δ. All of it follows from the budget alone.
// docs/proofs/filter.md shows that spending within it is (ε, δ)-DP.
type rule struct {
	beta, limit float64
	box         // whose limit has the conversion in it already
}

// shares returns the parts of δ under a rule: 25/32 for the conversion, 3/16 for events, which
// selected keys have, and 1/32 for δ_tv, which counts 1+e^ε times. They are rounded down, so that
// they add up to at most δ. Those of a Gaussian account leave gaussianShare.
func (b *Budget) shares() box {
	if b.Gaussian {
		return box{b.Epsilon, b.part(2. / 32), b.part(3. / 32), b.part(1. / 32)}
	}
	return box{b.Epsilon, b.part(25. / 32), b.part(3. / 16), b.part(1. / 32)}
}

// part returns a share of δ, rounded down.
func (b *Budget) part(f float64) privacy.Delta {
	return privacy.Delta(math.Nextafter(float64(b.Delta)*f, 0))
}

// SlackShares returns the parts of δ that the budget has for both kinds of slack.
func (b *Budget) SlackShares() (event, tv privacy.Delta) {
	x := b.shares()
	if b.Order == 0 {
		list := b.boxes()
		x = list[len(list)-1]
	}
	return x.event, x.tv
}

// keptGaussian is how much of the ρ that half of δ converts to the order of a budget leaves to
// Gaussian noise alone. The higher the order, the less a pure ε counts beside Gaussian noise: at
// (1, 1e-6) the best order for Gaussian noise is 22, and this allows 28. Half of δ is what budgets
// without an order have for the conversion.
const keptGaussian = 0.99

// keptBeside is how much of the ρ that the rule of a Gaussian account allows at its best order the
// chosen one leaves to Gaussian noise alone. The rule is for what is mixed; Gaussian noise has a
// test of its own.
const keptBeside = 0.95

// orderBits is how many significant bits β has, so that 1+β is exact.
const orderBits = 12

// ChooseOrder returns the Rényi order of a budget that is made now: the highest at which Gaussian
// noise alone may spend keptGaussian of what a budget without an order would let it; 0, which is
// none, for budgets in ρ, pure ones, and those with so large an ε that the share of δ_tv has no
// room for samplers.
func (b *Budget) ChooseOrder() float64 {
	x := b.shares()
	if b.Rho > 0 || b.Delta == 0 || !x.slack(privacy.Loss{DeltaTV: privacy.SamplerSlack}) {
		return 0
	}
	want := keptGaussian * privacy.RhoFor(b.Epsilon, b.Delta/2).Float()
	best := privacy.RhoFor(b.Epsilon, x.conversion)
	if b.Gaussian {
		want = keptBeside * best.Float()
	}
	if want == 0 || best == 0 {
		return 0
	}
	keeps := func(beta float64) bool { return privacy.RenyiLimit(x.epsilon, x.conversion, beta)/(1+beta) >= want }
	// the best order for Gaussian noise alone
	lo := privacy.BestBeta(best.FloatUp(), float64(b.Epsilon))
	hi := 2 * lo
	for keeps(hi) {
		lo, hi = hi, 2*hi
	}
	for range 2 * orderBits {
		if mid := (lo + hi) / 2; keeps(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	frac, exp := math.Frexp(lo)
	beta := math.Ldexp(math.Floor(math.Ldexp(frac, orderBits)), exp-orderBits)
	if !(beta >= MinBeta && beta <= MaxBeta && privacy.RenyiLimit(x.epsilon, x.conversion, beta) > 0) {
		return 0
	}
	return 1 + beta
}

// minBeta and maxBeta bound β = α−1 of a budget's order. Between them 1+β is exact; beyond them no
// budget of use has its order.
const (
	MinBeta = 0x1p-20
	MaxBeta = 0x1p30
)

// HasOrder reports whether the budget has an order, of a budget that may have one.
func (b *Budget) HasOrder() bool {
	return b.Order >= 1+MinBeta && b.Order <= 1+MaxBeta && b.Rho == 0 && b.Delta > 0
}

// rule returns the test at the budget's order, which it has.
func (b *Budget) rule() rule {
	x, beta := b.shares(), b.Order-1
	return rule{beta, privacy.RenyiLimit(x.epsilon, x.conversion, beta), x}
}

// divergence returns what counts as the divergence of spending at the order of the rule, rounded
// up: the lesser of α·ρ of its losses and what its curve has there. Each is a sum over charges of
// bounds that hold whatever came before them.
func (r *rule) divergence(spent *privacy.Amount) float64 {
	return math.Min(roundup.Mul(spent.Rho.FloatUp(), 1+r.beta), spent.Curve.At(r.beta))
}

// takes reports whether spending passes the test.
func (r *rule) takes(spent *privacy.Amount) bool {
	return r.divergence(spent) <= r.limit && r.slack(spent.Loss())
}

// rho returns the largest ρ of Gaussian noise that passes beside what is spent, whose slack is
// within the shares, rounded down.
func (r *rule) rho(spent *privacy.Amount) privacy.Rho {
	left := r.limit - r.divergence(spent)
	if !(left > 0) {
		return 0
	}
	most := privacy.Rho(left / (1 + r.beta) / privacy.RhoUnit)
	fits := func(x privacy.Rho) bool { return r.takes(spent.With(privacy.Loss{Rho: x})) }
	for step := privacy.Rho(1); most > 0 && !fits(most); step *= 2 { // rounding only
		most -= min(most, step)
	}
	return most
}

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

// Typical returns a charge of a loss that is known only to be Gaussian noise
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
