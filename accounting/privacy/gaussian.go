package privacy

import (
	"math"

	"scrim/accounting/internal/bisect"
	"scrim/accounting/internal/roundup"
)

// Gaussian differential privacy [DRS22]: a mechanism is μ-GDP when telling neighbours apart by its
// answer is at least as hard as telling N(0, 1) from N(μ, 1) by one number. Here GDP is kept as
// μ²/2, in the fixed point of ρ, for two reasons: sums of μ² are what adaptive composition adds up,
// and of Gaussian noise μ²/2 is the ρ itself.
//
// The exact curve of N(0, 1) against N(μ, 1), with Q the upper tail of the normal law, is
//
//	δ(ε) = Q(a) − e^ε·Q(b),  a = ε/μ − μ/2,  b = ε/μ + μ/2
//
// and as b² − a² = 2ε, with φ the density and M = Q/φ Mills' ratio,
//
//	e^ε·Q(b) = φ(a)·M(b)
//
// in which nothing overflows. The difference loses some digits where μ is small: what they may
// amount to is added, so that the result is never below δ(ε).

// unboundedGDP is the GDP of what has none that is known.
const unboundedGDP Rho = math.MaxUint64

// halfPi is at least π/2: see Event.gdp.
const halfPi = math.Pi/2 + 0x1p-50

// gdp returns μ²/2 of one run of the event, rounded up; unboundedGDP where no μ is known.
//
// Gaussian noise that hides a move of Δ with σ is μ-GDP for μ = Δ/σ, so its ρ is μ²/2. The discrete
// Gaussian is not.
//
// What is ε-DP, or a choice of range ε, counts π/2 times its ρ of ε²/2, or ε²/8. For every pair of
// neighbours the logarithm of the quotient of its laws lies in an interval of length 2ε, or ε;
// call the length 2r. At no threshold is the mean excess of the quotient larger than where only the
// ends of the interval occur (convexity). That is two outcomes of probabilities p and x, whose
// log-odds differ by 2r, and so a trade-off function of two straight pieces, with its corner at (p,
// 1−x). The trade-off function of N(0, 1) and N(μ, 1) is convex and has the same ends, so it is
// below if it is at the corner:
//
//	Φ⁻¹(x) − Φ⁻¹(p) <= μ
//
// With h = Φ⁻¹∘L, L(u) = 1/(1+e^-u), that is h(u+r) − h(u−r) <= μ for some u. h is odd, and concave
// for u > 0 (below), so the left side is largest at u = 0, where it is 2h(r) <= 2h'(0)·r =
// r·√(2π)/2. So μ²/2 <= (π/4)·r²: with r = ε (π/2)·ε²/2, and with r = ε/2 (π/2)·ε²/8.
//
// h is concave: with z = h(u), h' = Φ(1−Φ)/φ at z, and (ln h')' = 1 − 2Φ + z·h'. That is at most 0
// for z >= 0 if and only if g(z) = φ(2Φ−1) − zΦ(1−Φ) is at least 0. Its derivative is k = 2φ² −
// Φ(1−Φ), which is positive at 0; that of k is φ·(2Φ−1−4zφ), whose second factor is 0 at z = 0,
// falls up to z = 1/√2 and rises afterwards, to 1. So k falls and then rises to its limit 0: it
// changes its sign once, from + to −. As g is 0 at 0 and at ∞, g >= 0.
//
// As it is π/2 times a ρ that adds up, Σ of choices and Gaussian noise together is at most π/2
// times their ρ, however that is divided among them, for each pair of neighbours in another way.
func (e Event) gdp() Rho {
	eps := e.Epsilon.Epsilon()
	switch {
	case e.Kind == Threshold:
		return 0
	case e.Kind == Gaussian:
		return e.Rho
	case e.Kind == NoiseAndChoices:
		return gdpUp(e.Rho.FloatUp(), halfPi)
	case e.Epsilon == 0:
		return unboundedGDP
	case e.Kind == Exponential:
		return gdpUp(roundup.Mul(float64(eps), float64(eps)), halfPi/8)
	}
	return gdpUp(roundup.Mul(float64(eps), float64(eps)), halfPi/2)
}

// gdpUp returns a·b in fixed point, rounded up.
func gdpUp(a, b float64) Rho {
	if p := roundup.Mul(a, b); p < MaxRho.Float() {
		return RhoOf(p)
	}
	return unboundedGDP
}

// GDP returns μ²/2 of all that is in the curve, in the fixed point of ρ; false where something is
// that is μ-GDP for no known μ.
func (c *Curve) GDP() (Rho, bool) { return c.gdp, c.gdp != unboundedGDP }

// GaussianDelta returns the δ at ε of μ-GDP, for half = μ²/2: the exact curve, rounded up. It is
// 1, which is always true, for unbounded GDP, and for a negative or NaN ε.
func GaussianDelta(half Rho, eps Epsilon) Delta {
	e := float64(eps)
	switch {
	case half == unboundedGDP || !(e >= 0):
		return 1
	case half == 0 || math.IsInf(e, 1):
		return 0
	}
	mu := roundup.Next(math.Sqrt(2 * half.FloatUp())) // the curve rises with μ
	a, b := e/mu-mu/2, e/mu+mu/2
	upper, lower := 0.0, gaussDensity(a)*mills(b)
	if a > 0 {
		upper = gaussDensity(a) * mills(a)
	} else {
		upper = math.Erfc(a/math.Sqrt2) / 2
	}
	// a and b are within 2 rounding units (2^-53) of b, a sum of two parts that are not negative.
	// Of the two terms that moves the logarithms by at most |a|+1 times as much: 1/M(a) <= |a|+1
	// bounds the slope of ln Q, |a| that of ln φ, and 1 that of ln M(b). Each has about 2^6
	// rounding units of its own, and a² in the exponent 2 of its size.
	slop := 0x1p-51*(math.Abs(a)+1)*b + 0x1p-46 + 0x1p-51*a*a
	return Delta(math.Min(1, math.Max(0, upper-lower)+slop*(upper+lower)+0x1p-1070))
}

func gaussDensity(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }

// mills returns Mills' ratio Q(x)/φ(x) for x >= 0, within 2^5 rounding units.
func mills(x float64) float64 {
	if x < 4 {
		return math.Erfc(x/math.Sqrt2) / 2 / gaussDensity(x)
	}
	// Laplace's continued fraction, 1/(x + 1/(x + 2/(x + 3/(x + …)))): its convergents close in
	// from both sides, at x = 4 to 2^-53 with 60 terms
	f := x
	for k := 80.0; k >= 1; k-- {
		f = x + k/f
	}
	return 1 / f
}

// GaussianFor returns the largest μ²/2 whose μ-GDP implies (ε, δ)-DP, rounded down, at most MaxRho:
// as RhoFor does for zCDP.
func GaussianFor(eps Epsilon, delta Delta) Rho {
	if !(eps >= 0) || !(delta > 0) {
		return 0
	}
	return bisect.Largest(0, MaxRho+1, func(half Rho) bool { return GaussianDelta(half, eps) <= delta })
}

// GaussianEpsilon returns the least ε of (ε, δ)-DP by μ-GDP with μ²/2 = half, but for a relative
// 2^-40, rounded up; +Inf where there is none.
func GaussianEpsilon(half Rho, delta Delta) Epsilon {
	switch {
	case half == unboundedGDP || !(delta > 0):
		return Epsilon(math.Inf(1))
	case GaussianDelta(half, 0) <= delta:
		return 0
	}
	hi := zcdp(half.FloatUp()).start(math.Log(float64(delta)))
	for GaussianDelta(half, Epsilon(hi)) > delta {
		if hi *= 2; math.IsInf(hi, 1) {
			return Epsilon(hi)
		}
	}
	for lo := 0.0; hi-lo > 0x1p-41*hi; {
		if mid := lo + (hi-lo)/2; GaussianDelta(half, Epsilon(mid)) <= delta {
			hi = mid
		} else {
			lo = mid
		}
	}
	return Epsilon(hi)
}

// gaussianAt converts the GDP of a curve, with the slack of the loss; +Inf where it has none.
func (c Curve) gaussianAt(l Loss, delta Delta) Epsilon {
	inf := Epsilon(math.Inf(1))
	if c.gdp == 0 || c.gdp == unboundedGDP {
		return inf
	}
	eps := Epsilon(0)
	for range 64 { // as in epsilonOf
		r := room(l, delta, eps)
		if !(r > 0) {
			return inf
		}
		next := GaussianEpsilon(c.gdp, Delta(r))
		if next <= eps {
			return eps
		}
		eps = next * (1 + 0x1p-44)
	}
	return inf
}
