package privacy

import (
	"math"

	"scrim/accounting/internal/roundup"
)

// Conversion names the way in which a loss was turned into (ε, δ).
type Conversion string

// The conversions. All hold at once for what was run; the least ε is shown.
const (
	ByPure  Conversion = "pure"  // the sum of pure ε
	BySum   Conversion = "sum"   // the same where some events have slack: the sums of ε and of δ
	ByZCDP  Conversion = "zcdp"  // of the sum of ρ
	ByRenyi Conversion = "renyi" // of the sum of the Rényi divergences of the events
	// of the sum of the μ² of the events, where all are Gaussian noise or have a μ as well
	ByGaussian Conversion = "gaussian"
)

// BestEpsilon returns the least ε for which one of the conversions gives (ε, δ)-DP of what was
// spent, and which one: l is the sum of the losses, c that of the curves of their events. It is
// rounded up, and +Inf where no ε will do.
func BestEpsilon(l Loss, c Curve, delta Delta) (Epsilon, Conversion) {
	best, by := Epsilon(math.Inf(1)), ByZCDP
	for _, x := range []struct {
		eps Epsilon
		by  Conversion
	}{
		{l.pureAt(delta), ByPure},
		{epsilonOf(l.law(), l, delta), ByZCDP},
		{c.sumAt(l, delta), BySum},
		{c.renyiAt(l, delta), ByRenyi},
		{c.gaussianAt(l, delta), ByGaussian},
	} {
		if x.eps < best {
			best, by = x.eps, x.by
		}
	}
	return best, by
}

// pureAt returns the pure ε of a loss that has one.
func (l Loss) pureAt(delta Delta) Epsilon {
	if l.Pure > 0 && delta >= 0 {
		return l.Pure.Epsilon()
	}
	return Epsilon(math.Inf(1))
}

// sumAt returns the sum of the ε of events that are all pure but for their slack, where that leaves
// room for it.
func (c Curve) sumAt(l Loss, delta Delta) Epsilon {
	eps := Epsilon(c.other[len(c.other)-1].floatUp())
	if c.rho == 0 && !math.IsInf(float64(eps), 1) && room(l, delta, eps) >= 0 {
		return eps
	}
	return Epsilon(math.Inf(1))
}

// renyiAt converts the curve, where it has more than ρ.
func (c Curve) renyiAt(l Loss, delta Delta) Epsilon {
	if c.other == (Curve{}).other {
		return Epsilon(math.Inf(1))
	}
	return epsilonOf(c.law(), l, delta)
}

// mixture is a curve as a law: divergence α·ρ and, beside it, a bound d on the grid of orders. β·d
// is convex in the order for every pair of neighbours, and so is its supremum over pairs: between
// two orders of the grid the chord bounds it.
type mixture struct {
	rho float64
	k   [len(curveOrders)]float64 // β·d, the last d; +Inf: not known
}

// law is what a curve says.
func (c Curve) law() law {
	m := &mixture{rho: c.rho.FloatUp()}
	for i, beta := range curveOrders {
		m.k[i] = c.other[i].floatUp()
		if !math.IsInf(beta, 1) {
			m.k[i] = roundup.Mul(m.k[i], beta)
		}
	}
	return m
}

// logDelta is the least of the bounds between each two orders, and of that by the pure ε.
func (m *mixture) logDelta(eps float64) (best, at float64) {
	at = betaMin
	lo, klo := 0.0, 0.0
	for i, hi := range curveOrders[:len(curveOrders)-1] {
		if math.IsInf(m.k[i], 1) {
			break // those of higher orders are greater
		}
		if f, beta := m.between(lo, klo, hi, m.k[i], eps); f < best {
			best, at = f, beta
		}
		lo, klo = hi, m.k[i]
	}
	if rest := -roundup.Add(m.k[len(m.k)-1], -eps); m.rho > 0 && rest > 0 { // (ε', 0) beside ρ-zCDP
		if f, beta := logDeltaZ(m.rho, rest); f < best {
			best, at = f, beta
		}
	}
	return best, at
}

// between is logDeltaZ for orders with lo <= β <= hi, where β·d is at most the chord from klo to
// khi.
func (m *mixture) between(lo, klo, hi, khi, eps float64) (f, beta float64) {
	beta = math.Min(math.Max(m.minimiser(eps-(khi-klo)/(hi-lo)), math.Max(lo, betaMin)), hi)
	w := (beta - lo) / (hi - lo)
	t1 := beta * ((1+beta)*m.rho - eps)
	k := klo*(1-w) + khi*w
	t2 := (1 + beta) * math.Log1p(1/beta)
	t3 := math.Log(beta)
	// As in logDeltaZ, and twice as much for k.
	slop := 0x1p-48 * (beta*((1+beta)*m.rho+eps) + k + t2 + math.Abs(t3))
	return math.Min(0, t1+k-t2-t3+slop), beta
}

// minimiser returns the β at which (1+2β)ρ = ε + ln(1+1/β), about.
func (m *mixture) minimiser(eps float64) float64 {
	switch {
	case m.rho > 0:
		return BestBeta(m.rho, eps)
	case eps >= 0:
		return betaMax
	}
	return 1 / math.Expm1(-eps)
}

// start is the least of the ε that the orders of the grid give.
func (m *mixture) start(c float64) float64 {
	eps := math.Inf(1)
	for i, beta := range curveOrders[:len(curveOrders)-1] {
		k := m.k[i] + beta*(1+beta)*m.rho
		eps = math.Min(eps, (k-(1+beta)*math.Log1p(1/beta)-math.Log(beta)-c)/beta)
	}
	if m.rho > 0 {
		eps = math.Min(eps, m.k[len(m.k)-1]+zcdp(m.rho).start(c))
	}
	return math.Max(eps, 0x1p-200)
}
