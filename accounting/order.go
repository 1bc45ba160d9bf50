package accounting

import "math"

// rule is the test that a budget with δ > 0 puts spending to, besides the pure one: at the Rényi
// order α = 1+β that was chosen when the budget was made, the divergences of the window add up to
// at most limit, and the slack to at most its shares of δ. All of it follows from the budget alone.
// docs/proofs/filter.md shows that spending within it is (ε, δ)-DP.
type rule struct {
	beta, limit float64
	box         // of which conversion has entered limit
}

// shares returns the parts of δ under a rule: 25/32 for the conversion, 3/16 for events, which
// selected keys have, and 1/32 for δ_tv, which counts 1+e^ε times. They are rounded down, so that
// they add up to at most δ.
func (b *Budget) shares() box {
	part := func(f float64) Delta { return Delta(math.Nextafter(float64(b.Delta)*f, 0)) }
	return box{b.Epsilon, part(25. / 32), part(3. / 16), part(1. / 32)}
}

// slackShares returns the parts of δ that the budget has for both kinds of slack.
func (b *Budget) slackShares() (event, tv Delta) {
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

// orderBits is how many significant bits β has, so that 1+β is exact.
const orderBits = 12

// orderFor returns the Rényi order of a budget that is made now: the highest at which Gaussian
// noise alone may spend keptGaussian of what a budget without an order would let it; 0, which is
// none, for budgets in ρ, pure ones, and those with so large an ε that the share of δ_tv has no
// room for samplers.
func (b *Budget) orderFor() float64 {
	x := b.shares()
	if b.Rho > 0 || b.Delta == 0 || !x.slack(Loss{DeltaTV: samplers}) {
		return 0
	}
	want := keptGaussian * RhoFor(b.Epsilon, b.Delta/2).Float()
	best := RhoFor(b.Epsilon, x.conversion)
	if want == 0 || best == 0 {
		return 0
	}
	keeps := func(beta float64) bool { return renyiLimit(x.epsilon, x.conversion, beta)/(1+beta) >= want }
	lo := minimiser(best.floatUp(), float64(b.Epsilon)) // the best order for Gaussian noise alone
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
	if !(beta >= minBeta && beta <= maxBeta && renyiLimit(x.epsilon, x.conversion, beta) > 0) {
		return 0
	}
	return 1 + beta
}

// minBeta and maxBeta bound β = α−1 of a budget's order. Between them 1+β is exact; beyond them no
// budget of use has its order.
const (
	minBeta = 0x1p-20
	maxBeta = 0x1p30
)

// hasOrder reports whether the budget has an order, of a budget that may have one.
func (b *Budget) hasOrder() bool {
	return b.Order >= 1+minBeta && b.Order <= 1+maxBeta && b.Rho == 0 && b.Delta > 0
}

// renyiLimit returns the divergence of order 1+β within which (ε, c)-DP holds, rounded down. It is
// [CKS20, Proposition 12] solved for the divergence:
//
//	D = ε + (ln c + (1+β)·ln(1 + 1/β) + ln β) / β
//
// for β > 0 and 0 < c < 1. The result may be negative: nothing fits then.
func renyiLimit(eps Epsilon, c Delta, beta float64) float64 {
	t1, t2, t3 := math.Log(float64(c)), (1+beta)*math.Log1p(1/beta), math.Log(beta)
	// Each term is within 6 rounding units (2^-53) of its magnitude, and sums and quotient add 4:
	// as in logDeltaZ.
	slop := 0x1p-49 * (math.Abs(t1) + t2 + math.Abs(t3) + beta*float64(eps))
	return float64(eps) + (t1+t2+t3-slop)/beta
}

// rule returns the test at the budget's order, which it has.
func (b *Budget) rule() rule {
	x, beta := b.shares(), b.Order-1
	return rule{beta, renyiLimit(x.epsilon, x.conversion, beta), x}
}

// divergence returns what counts as the divergence of spending at the order of the rule, rounded
// up: the lesser of α·ρ of its losses and what its curve has there. Each is a sum over charges of
// bounds that hold whatever came before them.
func (r *rule) divergence(spent *amount) float64 {
	return math.Min(mulUp(spent.rho.floatUp(), 1+r.beta), spent.curve.at(r.beta))
}

// takes reports whether spending passes the test.
func (r *rule) takes(spent *amount) bool {
	return r.divergence(spent) <= r.limit && r.slack(spent.loss())
}

// rho returns the largest ρ of Gaussian noise that passes beside what is spent, whose slack is
// within the shares, rounded down.
func (r *rule) rho(spent *amount) Rho {
	left := r.limit - r.divergence(spent)
	if !(left > 0) {
		return 0
	}
	most := Rho(left / (1 + r.beta) / RhoUnit)
	fits := func(x Rho) bool { return r.takes(spent.with(Loss{Rho: x})) }
	for step := Rho(1); most > 0 && !fits(most); step *= 2 { // rounding only
		most -= min(most, step)
	}
	return most
}

// at returns the divergence of order 1+β, rounded up. Between two orders of the grid it is that of
// the chord, see mixture; above the last of them β·d(β) rises by at most d(∞) for each 1, as it is
// convex and d(β) at most d(∞).
func (c *Curve) at(beta float64) float64 {
	d := mulUp(c.rho.floatUp(), 1+beta)
	pure := c.other[len(c.other)-1]
	if pure == 0 {
		return d
	}
	lo, klo := 0.0, 0.0
	for i, hi := range curveOrders[:len(curveOrders)-1] {
		k := mulUp(c.other[i].floatUp(), hi)
		if beta <= hi {
			return addUp(d, chord(lo, klo, hi, k, beta))
		}
		lo, klo = hi, k
	}
	return addUp(d, addUp(klo, mulUp(pure.floatUp(), beta-lo))/beta*(1+0x1p-50))
}

// chord returns the value at β, over β, of the line through (lo, klo) and (hi, khi), rounded up.
func chord(lo, klo, hi, khi, beta float64) float64 {
	w := (beta - lo) / (hi - lo)
	if w == 1 {
		return khi / beta * (1 + 0x1p-51)
	}
	return (klo*(1-w) + khi*w) / beta * (1 + 0x1p-48) // each of six operations rounds by 2^-53 of the sum at most
}
