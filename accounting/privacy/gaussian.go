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

// gdp is what is known of the GDP of runs, in the fixed point of ρ. Gaussian noise that hides a
// move of Δ with σ is μ-GDP for μ = Δ/σ, so its ρ is μ²/2. The discrete Gaussian has no μ.
//
// A run for which the logarithm of the quotient of its laws lies in an interval of length 2η for
// every pair of neighbours is bounded: what is ε-DP is, with η = ε, and a choice of range ε, with η
// = ε/2. r = η²/2 is its size: the ρ that is known of it. By itself it is μ-GDP for μ²/2 = (π/2)·r,
// and no less will do for all such runs. Followed by something that is √(2x)-GDP it is GDP with
// μ²/2 at most
//
//	x + r + min((π/2 − 1)·r, r²/(6x))
//
// docs/proofs/gaussian_account.md has the proof, and that Σ of all together is at most [gdp.total],
// in whatever order they run.
type gdp struct {
	noise   Rho // Σμ²/2 of Gaussian noise; unboundedGDP: something has no known μ
	bounded Rho // Σr of bounded runs
	most    Rho // the largest r of one
}

// unboundedGDP is the GDP of what has none that is known.
const unboundedGDP Rho = math.MaxUint64

// gdp returns the GDP of all runs of the event, rounded up.
//
// Runs of choices may stand for fewer that share their ρ in another way, and noise and choices
// share one in whatever way: the largest of them may have all of it. What the noise has only makes
// the total less.
func (e Event) gdp() gdp {
	n := uint64(e.Count)
	all := func(r Rho) Rho { return Rho(times(uint64(r), n)) }
	eps := float64(e.Epsilon.Epsilon())
	switch {
	case e.Kind == Threshold:
		return gdp{}
	case e.Kind == Gaussian:
		return gdp{noise: all(e.Rho)}
	case e.Kind == NoiseAndChoices:
		return gdp{bounded: all(e.Rho), most: all(e.Rho)}
	case e.Epsilon == 0:
		return gdp{noise: unboundedGDP}
	case e.Kind == Exponential:
		r := all(gdpUp(roundup.Mul(eps, eps), 1./8))
		return gdp{bounded: r, most: r}
	}
	r := gdpUp(roundup.Mul(eps, eps), 1./2)
	return gdp{bounded: all(r), most: r}
}

// add is that of all runs of both.
func (g gdp) add(h gdp) gdp {
	if g.noise == unboundedGDP || h.noise == unboundedGDP {
		return gdp{noise: unboundedGDP}
	}
	return gdp{g.noise.Add(h.noise), g.bounded.Add(h.bounded), max(g.most, h.most)}
}

// covers reports whether g counts at least what h does. A sum that an earlier program sealed has
// bounded runs among the noise, at π/2 times their r.
func (g gdp) covers(h gdp) bool {
	if g.bounded >= h.bounded && g.most >= h.most {
		return g.noise >= h.noise
	}
	return g.bounded == 0 && g.noise >= h.noise.Add(h.bounded)
}

// aloneMore is how much more than r a run counts with nothing behind it, at least π/2 − 1.
const aloneMore = math.Pi/2 - 1 + 0x1p-50

// beyond is up to which x/r that is less than r/(6x): 1/6 of 1/aloneMore.
const beyond = 1 / (6 * aloneMore)

// total returns μ²/2 of all of it, rounded up; false where none is known. It grows with each of the
// sums, and with noise by just as much.
//
// In the worst order bounded runs come last. Counted from the end, those before a run of size r <=
// m, with what they count, come to at least the sum x of their sizes, so that it counts at most r
// and r·min(π/2−1, m/6x) more. As x grows by r <= m from run to run, the sum of these is at most
//
//	∫ min(π/2−1, m/(6(y−m)⁺)) dy,  y from 0 to Σr
func (g gdp) total() (Rho, bool) {
	plain := g.noise.Add(g.bounded)
	if plain == unboundedGDP {
		return unboundedGDP, false
	}
	n := 1.0
	if g.most > 0 {
		n = math.Max(1, g.bounded.FloatUp()/g.most.Float())
	}
	more := aloneMore * math.Min(n, 1+beyond)
	if n > 1+beyond {
		more += math.Log((n-1)/beyond) / 6
	}
	// more has no more than eight roundings of parts that are not larger than itself, but for that
	// of n−1, which is at least beyond
	sum := plain.Add(gdpUp(g.most.FloatUp(), more*(1+0x1p-40)))
	return sum, sum != unboundedGDP
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
func (c *Curve) GDP() (Rho, bool) { return c.gdp.total() }

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
	half, ok := c.gdp.total()
	if half == 0 || !ok {
		return inf
	}
	eps := Epsilon(0)
	for range 64 { // as in epsilonOf
		r := room(l, delta, eps)
		if !(r > 0) {
			return inf
		}
		next := GaussianEpsilon(half, Delta(r))
		if next <= eps {
			return eps
		}
		eps = next * (1 + 0x1p-44)
	}
	return inf
}
