package privacy

import (
	"math"

	"scrim/accounting/internal/bisect"
	"scrim/accounting/internal/roundup"
)

// The conversion between approximate zCDP and (ε, δ)-DP rests on one function,
//
//	δ_z(ρ, ε) = inf over α > 1 of exp((α−1)(αρ − ε) + α·ln(1 − 1/α)) / (α−1)
//
// [CKS20, Corollary 13]. Every α gives a
// valid bound, so an inexact minimiser costs tightness and never privacy; what remains is to round
// the value at the chosen α up. With β = α−1 the logarithm of the bracket is
//
//	f(β) = β((1+β)ρ − ε) − (1+β)·ln(1 + 1/β) − ln β,  f'(β) = (1+2β)ρ − ε − ln(1 + 1/β)
//
// and f' is increasing and concave, so Newton's steps from the left of its zero climb to the
// minimum of f. In this form nothing cancels but the first bracket, whose error is bounded below.

// MaxEpsilon is the largest ε that a budget may have. Beyond ε of about 20 a budget protects
// nobody; the bound only keeps nonsense such as 1e308 out, and the conversions inside their tested
// range.
const MaxEpsilon Epsilon = 1e6

// betaMin and betaMax bound β. The minimum lies below ε/2ρ + 1/√ρ, which is below 2^60 for ε <=
// MaxEpsilon and ρ >= RhoUnit. Where it lies outside, the end is used: valid like any β.
const (
	betaMin = 0x1p-64
	betaMax = 0x1p64
)

// BestBeta returns a β close to the minimum of f, within a relative 2^-40 where it converges. The
// error in f is of second order in that.
func BestBeta(rho, eps float64) float64 {
	beta := math.Min(math.Max((eps-rho)/(2*rho), betaMin), betaMax) // f' < 0 here, or at an end
	for range 64 {
		slope := (1+2*beta)*rho - eps - math.Log1p(1/beta)
		next := math.Min(beta-slope/(2*rho+1/(beta*(1+beta))), betaMax)
		if !(next > beta*(1+0x1p-40)) {
			break
		}
		beta = next
	}
	return beta
}

// logDeltaZ returns an upper bound of ln δ_z(ρ, ε) and the β that it was taken at, for ρ > 0 and
// finite ε >= 0. It is at most 0: δ_z is a probability.
func logDeltaZ(rho, eps float64) (f, beta float64) {
	beta = BestBeta(rho, eps)
	t1 := beta * ((1+beta)*rho - eps)
	t2 := (1 + beta) * math.Log1p(1/beta)
	t3 := math.Log(beta)
	// Each term is within 6 rounding units (2^-53) of the sum of the magnitudes of its parts, and
	// the two additions add 2: 8 units, doubled for the rounding of this bound itself.
	slop := 0x1p-49 * (beta*((1+beta)*rho+eps) + t2 + math.Abs(t3))
	return math.Min(0, t1-t2-t3+slop), beta
}

// law is what is known of the mechanisms besides their slack, as a bound of their Rényi
// divergences.
type law interface {
	// logDelta returns an upper bound of ln δ of (ε, δ)-DP for a finite ε >= 0, at most 0, and the
	// β = α−1 that it was taken at. The bound is an infimum of functions that are affine in ε with
	// slope −β.
	logDelta(eps float64) (f, beta float64)
	// start returns an ε > 0 at which logDelta is at most c < 0 but for rounding, +Inf where there
	// is none.
	start(c float64) float64
}

// zcdp is ρ-zCDP, ρ > 0.
type zcdp float64

func (rho zcdp) logDelta(eps float64) (f, beta float64) { return logDeltaZ(float64(rho), eps) }

func (rho zcdp) start(c float64) float64 {
	return float64(rho) + 2*math.Sqrt(float64(rho)*-c) // [BS16, Proposition 1.3]
}

// law is what the ρ of a loss says; nil for ρ = 0.
func (l Loss) law() law {
	if l.Rho == 0 {
		return nil
	}
	return zcdp(l.Rho.FloatUp())
}

// DeltaOf returns the δ of (ε, δ)-DP that the loss l implies at ε, for the neighbour relation that
// l is stated for:
//
//	min(1, δ_z(ρ, ε) + δ_event + (1 + e^ε)·δ_tv)
//
// rounded up; 0 where l.Pure is a pure ε of at most ε, compared exactly. l.Rho = 0 has δ_z = 0. A
// negative or NaN ε, or a loss whose δ are negative or NaN, gives 1, which is always true. Source:
// the package documentation; δ_z from [CKS20].
func DeltaOf(l Loss, eps Epsilon) Delta {
	if l.Pure > 0 && l.Pure <= PureWithin(eps) && l.DeltaEvent == 0 && l.DeltaTV == 0 {
		return 0
	}
	return deltaOf(l.law(), l, eps)
}

// deltaOf is DeltaOf for a law in the place of l.Rho, without l.Pure. A nil law has no divergence
// at all.
func deltaOf(m law, l Loss, eps Epsilon) Delta {
	e := float64(eps)
	if !(e >= 0) || !(l.DeltaEvent >= 0) || !(l.DeltaTV >= 0) {
		return 1
	}
	z := 0.0
	if m != nil && !math.IsInf(e, 1) {
		f, _ := m.logDelta(e)
		z = roundup.Exp(f)
	}
	d := roundup.Add(z, l.DeltaEvent)
	if l.DeltaTV > 0 {
		d = roundup.Add(d, roundup.Mul(roundup.Add(1, roundup.Exp(e)), l.DeltaTV))
	}
	return Delta(math.Min(1, d))
}

// EpsilonOf returns the ε of (ε, δ)-DP that the loss l implies at δ, rounded up: DeltaOf(l,
// EpsilonOf(l, δ)) <= δ. A pure ε is an upper bound at every δ. Without one it is +Inf where no ε
// will do: for δ <= δ_event, for δ = 0 with ρ > 0, and where the total-variation slack alone, times
// 1+e^ε, is more than δ. δ >= 1 gives 0. A NaN or negative δ, or a loss whose δ are negative or
// NaN, gives +Inf.
func EpsilonOf(l Loss, delta Delta) Epsilon {
	eps := epsilonOf(l.law(), l, delta)
	if l.Pure > 0 && delta >= 0 && l.DeltaEvent == 0 && l.DeltaTV == 0 {
		return min(eps, l.Pure.Epsilon())
	}
	return eps
}

// epsilonOf is EpsilonOf for a law in the place of l.Rho, without l.Pure.
func epsilonOf(m law, l Loss, delta Delta) Epsilon {
	inf := Epsilon(math.Inf(1))
	if !(delta >= 0) || !(l.DeltaEvent >= 0) || !(l.DeltaTV >= 0) {
		return inf
	}
	if deltaOf(m, l, 0) <= delta {
		return 0
	}
	if m == nil {
		return inf // what is left of the test grows with ε
	}
	// The least ε with δ_z(ε) <= room(ε) = δ − δ_event − (1+e^ε)·δ_tv. The room shrinks as ε grows,
	// so the iteration from room(0) climbs to it; in the common case it stands at once.
	eps := 0.0
	for range 64 {
		r := room(l, delta, Epsilon(eps))
		if !(r > 0) {
			break
		}
		eps = math.Max(epsilonFor(m, r), eps*(1+0x1p-44))
		if deltaOf(m, l, Epsilon(eps)) <= delta {
			return Epsilon(eps)
		}
	}
	return inf
}

// room returns what the slack of l leaves of δ at ε, rounded down: δ − δ_event − (1+e^ε)·δ_tv. It
// may be negative.
func room(l Loss, delta Delta, eps Epsilon) float64 {
	used := l.DeltaEvent
	if l.DeltaTV > 0 {
		used = roundup.Add(used, roundup.Mul(roundup.Add(1, roundup.Exp(float64(eps))), l.DeltaTV))
	}
	return -roundup.Add(used, -float64(delta))
}

// epsilonFor returns an ε with δ(ε) <= d by the law, the least one but for a relative 2^-40, for 0
// < d < 1; +Inf where there is none.
//
// ln δ is concave and decreasing, an infimum of affine functions. Its tangent lies above it, so
// Newton's steps that start at an ε on the safe side stay there.
func epsilonFor(m law, d float64) float64 {
	c := math.Log(d)
	c -= 0x1p-50 * math.Abs(c)
	eps := m.start(c)
	if math.IsInf(eps, 1) {
		return eps
	}
	f, beta := m.logDelta(eps)
	for nudge := 0x1p-46; f > c; nudge *= 2 { // the start is safe but for its rounding
		eps *= 1 + nudge
		f, beta = m.logDelta(eps)
	}
	for range 64 {
		next := math.Max(0, eps-(c-f)/beta)
		if !(next < eps*(1-0x1p-44)) {
			break
		}
		fn, bn := m.logDelta(next)
		for nudge := 0x1p-46; fn > c && next < eps; nudge *= 2 { // rounding only
			next = math.Max(next*(1+nudge), math.SmallestNonzeroFloat64)
			fn, bn = m.logDelta(next)
		}
		if fn > c || next >= eps {
			break
		}
		eps, f, beta = next, fn, bn
	}
	return eps
}

// RhoFor returns the largest ρ whose zCDP implies (ε, δ)-DP, rounded down: DeltaOf(Loss{Rho:
// RhoFor(ε, δ)}, ε) <= δ. It is at most MaxRho. A NaN or negative ε or δ, and δ = 0, give 0; δ >= 1
// and ε = +Inf with δ > 0 give MaxRho. Source: [CKS20], as DeltaOf.
func RhoFor(eps Epsilon, delta Delta) Rho {
	if !(eps >= 0) || !(delta > 0) {
		return 0
	}
	fits := func(r Rho) bool { return DeltaOf(Loss{Rho: r}, eps) <= delta }
	if fits(MaxRho) {
		return MaxRho
	}
	return bisect.Largest(0, MaxRho, fits)
}

// RenyiLimit returns the divergence of order 1+β within which (ε, c)-DP holds, rounded down. It is
// [CKS20, Proposition 12] solved for the divergence:
//
//	D = ε + (ln c + (1+β)·ln(1 + 1/β) + ln β) / β
//
// for β > 0 and 0 < c < 1. The result may be negative: nothing fits then.
func RenyiLimit(eps Epsilon, c Delta, beta float64) float64 {
	t1, t2, t3 := math.Log(float64(c)), (1+beta)*math.Log1p(1/beta), math.Log(beta)
	// Each term is within 6 rounding units (2^-53) of its magnitude, and sums and quotient add 4:
	// as in logDeltaZ.
	slop := 0x1p-49 * (math.Abs(t1) + t2 + math.Abs(t3) + beta*float64(eps))
	return float64(eps) + (t1+t2+t3-slop)/beta
}

// EpsilonWithin returns the largest ε for which a statement is charged at most r: RhoFor(ε, delta)
// <= r.
func EpsilonWithin(r Rho, delta Delta) Epsilon {
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
