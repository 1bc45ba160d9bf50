// Package errorbar makes error bars of released estimates: intervals at any level, and the ℓ2
// radius of vectors.
//
// An interval is about the exact answer on the data as they are, not about a population that the
// persons might be a sample of. With a probability of at least the level it covers the answer that
// the mechanism would give without noise: with the same clips and the same choices
// (estimator.Biased names what these leave out). It is post-processing of released numbers and
// public parameters (estimator.Error), so it costs nothing and any number of levels may be asked
// for.
//
//	Quotient   all r with |value − r| ≤ q(r), q(r) the point that |E − r·e|/n̂ passes with probability 1 − level: Fieller's interval [F54].
//	           Of a sum or a count, where nothing is under it, value ± q.
//	Variance   the linear part by its largest standard deviation among all plausible moments, the square of the first moment's error on
//	           top: three risks of a twentieth are taken off for what is plausible, and for n̂ in n̂/(n̂−1).
//	Fraction   all q for which Num − q·Den is within what its noise passes with probability 1 − level, by the linear part of the noise.
//	Quantile   the nearest values that noisy ranks on the way to the answer tell apart from it, each at risk (1 − level)/ranks.
//
// That an answer is given at all (its status is OK) is seen from a released number of persons, too:
// the statement is that the answer is given and not covered with probability 1 − level at most.
//
// Each value is covered at the level by itself; of k values together 1 − k·(1 − level) is sure.
package errorbar

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"scrim/engine/estimator"
)

// Interval returns the ends of the interval for value i of an estimate at a level in (0, 1). An end
// of which nothing is known is NaN, one that has no bound is infinite. The value lies within.
func Interval(e estimator.Estimate, i int, level float64) (lo, hi float64) {
	x, v := e.Error, e.Values[i]
	if x == nil || e.Status != estimator.OK || math.IsNaN(v) {
		return math.NaN(), math.NaN()
	}
	alpha := 1 - level
	switch x.Form {
	case estimator.Quotient:
		lo, hi = quotient(e, i, alpha)
	case estimator.Variance:
		lo, hi = variance(x, i, alpha)
	case estimator.Quantile:
		lo, hi = quantile(x.Ranks[i], alpha/float64(max(1, x.Rounds)), estimator.Entry(x.Step, i)/2)
	case estimator.Fraction:
		lo, hi = fraction(x.Fractions[i], alpha)
	default:
		return math.NaN(), math.NaN()
	}
	return under(lo, v), over(hi, v)
}

// under and over bring a value in, and keep what is unknown.
func under(end, v float64) float64 {
	if end > v {
		return v
	}
	return end
}

func over(end, v float64) float64 {
	if end < v {
		return v
	}
	return end
}

// quotient returns the interval of a Quotient.
func quotient(e estimator.Estimate, i int, alpha float64) (lo, hi float64) {
	x, v := e.Error, e.Values[i]
	if x.Raw != nil {
		v = x.Raw[i]
	}
	if x.Cut != nil {
		cut := x.Cut[min(i, len(x.Cut)-1)]
		without := *x
		without.Cut = nil
		e.Error, e.Values, e.StdErr = &without, []float64{v - cut.Added}, []float64{estimator.Entry(e.StdErr, i)}
		if without.Step = []float64{estimator.Entry(x.Step, i)}; x.Noise != nil {
			without.Noise = []float64{estimator.Entry(x.Noise, i)}
		}
		without.Under, without.Centre = []float64{estimator.Entry(x.Under, i)}, []float64{estimator.Entry(x.Centre, i)}
		without.Raw = nil
		lo, hi = quotient(e, 0, alpha)
		v -= cut.Added
		down, up := cut.Ends(x.Law, v-lo, hi-v, alpha)
		return v - down, v + up
	}
	b, half := estimator.Entry(x.Under, i), estimator.Entry(x.Step, i)/2
	if x.Noise == nil {
		w := half + around(x.Law, alpha, e.StdErr[i], b)
		return v - w, v + w
	}
	a, c := estimator.Entry(x.Noise, i), estimator.Entry(x.Centre, i)
	if b == 0 {
		w := half + beyond(x.Law, alpha, a, 0)
		if step := 2 * half; step >= 1 && step == math.Trunc(step) && !math.IsInf(step, 1) {
			w = step * math.Floor(w/step)
		}
		return v - w, v + w
	}
	return c - above(x.Law, alpha, a, b, c-v, half), c + above(x.Law, alpha, a, b, v-c, half)
}

// around is half the width of an interval of which only the standard error s is known, of E − r·e
// at the released r: at the exact r, w away, it is s + w·b at most, so w = z·s/(1 − z·b) does.
func around(law estimator.Law, alpha, s, b float64) float64 {
	z := point(alpha)
	if law != estimator.Gaussian {
		return math.NaN()
	}
	if z*b >= 1 {
		return math.Inf(1)
	}
	return z * s / (1 - z*b)
}

// above is the upper end r of the numbers with r − v ≤ half + (the point of |E − r·e|): E is of
// size a and e of size b. It is +Inf where all are.
func above(law estimator.Law, alpha, a, b, v, half float64) float64 {
	v += half
	if law == estimator.Gaussian {
		z := point(alpha)
		k := 1 - z*z*b*b
		if k <= 0 {
			return math.Inf(1)
		}
		return (v + z*math.Sqrt(a*a*k+b*b*v*v)) / k
	}
	return boundary(v, beyond(law, alpha, a, b*math.Abs(v)), func(r float64) bool { return r-v > beyond(law, alpha, a, b*math.Abs(r)) })
}

// boundary is where far begins to hold from v on, about w from there; +Inf where that is not within
// 2^40·w.
func boundary(v, w float64, far func(r float64) bool) float64 {
	for i := 0; !far(v + w); i++ {
		if w *= 2; i == 40 {
			return math.Inf(1)
		}
	}
	lo, hi := v, v+w
	for range 80 {
		if r := lo + (hi-lo)/2; far(r) {
			hi = r
		} else {
			lo = r
		}
	}
	return hi
}

// quantile returns the interval that ranks tell, each at risk alpha: a rank can be wrong on one
// side only. Rows that are rounded by at most half are in their order, so that no quantile moves
// farther; a declared end, of which a rank is sure, stays.
func quantile(ranks []estimator.Rank, alpha, half float64) (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	z := point(2 * alpha)
	for _, r := range ranks {
		off := half
		if math.IsInf(r.Z, 0) {
			off = 0
		}
		switch {
		case r.Z > z && !(r.At+off >= hi):
			hi = r.At + off
		case r.Z < -z && !(r.At-off <= lo):
			lo = r.At - off
		}
	}
	return lo, hi
}

// point is the two-sided standard normal point: a normal number is beyond it, on either side, with
// probability alpha.
func point(alpha float64) float64 { return math.Sqrt2 * math.Erfcinv(min(alpha, 1)) }

// beyond is the y that |E − e| is beyond with probability alpha, for independent E and e of one law
// and of sizes a and b.
func beyond(law estimator.Law, alpha, a, b float64) float64 {
	if law == estimator.Gaussian {
		return point(alpha) * math.Hypot(a, b)
	}
	a, b = max(a, b), min(a, b)
	lo, hi := 0.0, (a+b)*(math.Log(1/alpha)+2)
	for range 100 {
		if y := lo + (hi-lo)/2; tail(y, a, b) > alpha {
			lo = y
		} else {
			hi = y
		}
	}
	return hi
}

// tail is P[|X + Y| > y] for Laplace variables of scales a ≥ b ≥ 0:
//
//	(a²e^{−y/a} − b²e^{−y/b})/(a² − b²)
//
// a function that grows with b; near b = a its limit (1 + y/2a)·e^{−y/a} stands for it, from above.
func tail(y, a, b float64) float64 {
	switch {
	case a == 0:
		return 0
	case b <= 1e-9*a:
		return math.Exp(-y / a)
	case b > 0.999*a:
		return (1 + y/(2*a)) * math.Exp(-y/a)
	}
	u, v := a*a, b*b
	return (u*math.Exp(-y/a) - v*math.Exp(-y/b)) / (u - v)
}

// fraction returns the interval of a Fraction: all q with
//
//	(Num − q·Den)² ≤ z²·Var(Num − q·Den)
//
// which for the exact q is a normal number of mean 0 whatever Den is: Fieller's interval [F54] of
// two numbers whose noises go together.
func fraction(f estimator.FractionOf, alpha float64) (lo, hi float64) {
	z := point(alpha)
	z *= z
	a, b, c := f.Den*f.Den-z*f.DenVar, f.Num*f.Den-z*f.Both, f.Num*f.Num-z*f.NumVar
	lo, hi = math.Inf(-1), math.Inf(1)
	if a > 0 {
		root := math.Sqrt(max(0, b*b-a*c))
		lo, hi = f.Offset+(b-root)/a-f.Cut.Below(alpha), f.Offset+(b+root)/a+f.Cut.Above(alpha)
	}
	if f.Square {
		most := max(lo*lo, hi*hi)
		if lo <= 0 && hi >= 0 {
			lo, hi = 0, most
		} else {
			lo, hi = min(lo*lo, hi*hi), most
		}
	}
	return max(lo, f.Low), min(hi, f.High)
}

// nearShare is the share of the risk that is left to n̂.
const nearShare = 0.1

// Radius returns R such that the ℓ2 distance of the values from the exact ones is at most R with a
// probability of level at least; NaN where it is not known, +Inf where it has no bound.
//
// With N_j the noise of the numerators over n̂ and r the exact values about their centre,
//
//	‖error‖ ≤ ‖N‖ + |e|/n̂·‖r‖     ‖r‖ ≤ ‖released r‖ + ‖error‖
//
// ‖N‖ from length or, where the N_j are not independent, from tied.
func Radius(e estimator.Estimate, level float64) float64 {
	x := e.Error
	if x == nil || e.Status != estimator.OK || x.Form != estimator.Quotient || x.Law != estimator.Gaussian {
		return math.NaN()
	}
	alpha, b, most := 1-level, 0.0, 1
	for i, s := range e.StdErr {
		if math.IsNaN(s) || math.IsNaN(e.Values[i]) {
			return math.NaN()
		}
		b = max(b, estimator.Entry(x.Under, i))
	}
	if len(x.Under) > 1 {
		most = len(x.Under) // each value has a number of its own
	}
	share, near := alpha, 0.0
	if b > 0 {
		share, near = (1-nearShare)*alpha, point(nearShare*alpha/float64(most))
	}
	long := length
	if x.Tied {
		long = tied
	}
	if near*b >= 1 {
		return math.Inf(1)
	}
	return moved(e) + (long(e.StdErr, share)+near*x.Shift)/(1-near*b)
}

// moved is how far the values shown are from the raw ones.
func moved(e estimator.Estimate) float64 {
	sum := 0.0
	for i, v := range e.Error.Raw {
		d := v - e.Values[i]
		sum += d * d
	}
	return math.Sqrt(sum)
}

// length is a number that the length of a vector of independent normal numbers of these deviations
// is beyond with probability alpha at most: the least of two such numbers,
//
//	max s·√χ²_d(1 − α)                                    exact where all are alike
//	√(min_t (ln(1/α) − ½·Σ ln(1 − 2t·s_j²))/t)            Chernoff's bound, near where many are of one size
func length(s []float64, alpha float64) float64 {
	most := 0.0
	for _, v := range s {
		most = max(most, v)
	}
	if most == 0 || math.IsInf(most, 0) {
		return most
	}
	alike := distuv.ChiSquared{K: float64(len(s))}.Quantile(1 - alpha)
	bound := func(t float64) float64 { // t in units of 1/(2 max s²)
		sum := math.Log(1 / alpha)
		for _, v := range s {
			v /= most
			sum -= math.Log1p(-t*v*v) / 2
		}
		return 2 * sum / t
	}
	lo, hi := 1e-6, 1-1e-9
	for range 60 { // the bound has one valley: t·bound is convex
		a, b := lo+(hi-lo)/3, hi-(hi-lo)/3
		if bound(a) < bound(b) {
			hi = b
		} else {
			lo = a
		}
	}
	return most * math.Sqrt(min(alike, bound(hi)))
}

// mostTied is the largest risk for which, of all Gaussian vectors of one expected squared length,
// the one along a line is the longest [SB03].
const mostTied = 0.215

// tied is length for any dependence.
func tied(s []float64, alpha float64) float64 {
	sum := 0.0
	for _, v := range s {
		sum += v * v
	}
	return point(min(alpha, mostTied)) * math.Sqrt(sum)
}

// Shares of the risk of a variance's interval: of the linear part, and of what is plausible for the
// first moment, the second and n̂.
const (
	linearShare    = 0.85
	plausibleShare = 0.05
)

// variance returns the interval of a Variance.
//
// With the exact moments m and s, V = s + h − m², and the released M = m + (E₁ − m·e)/n̂ and S = s
// + (E₂ − s·e)/n̂, exactly,
//
//	V = (S + h − M²) − L + ((E₁ − m·e)/n̂)²     n̂·L = E₂ − 2m·E₁ − (s − 2m²)·e
//
// L is a sum of independent noises whose standard deviation depends on m and s: the largest for any
// that are plausible is taken. The square is at least 0, and at most that of the plausible error of
// M. What a clip may take away, as a variance, makes both ends wider. Where rows are rounded to a
// step, by half of it at most, the standard deviation moves by that at most: it is a norm of the
// rows about their mean, and so no longer than those of the rounded rows and of the roundings
// together.
func variance(x *estimator.Error, i int, alpha float64) (lo, hi float64) {
	q := x.Moments
	as := q.Shown(i)
	first, second := estimator.Entry(q.First, i), estimator.Entry(q.Second, i)
	s1, s2, g := estimator.Entry(q.Noise, i), estimator.Entry(q.Noise2, i), estimator.Entry(x.Under, i)
	risk := plausibleShare * alpha
	mLo, mHi := -above(estimator.Gaussian, risk, s1, g, -first, 0), above(estimator.Gaussian, risk, s1, g, first, 0)
	sLo, sHi := -above(estimator.Gaussian, risk, s2, g, -second, 0), above(estimator.Gaussian, risk, s2, g, second, 0)
	if math.IsInf(mHi-mLo, 0) || math.IsInf(sHi-sLo, 0) {
		return 0, math.Inf(1)
	}
	most := max(mHi, -mLo)
	least := max(0, mLo, -mHi)
	moves := max(sHi-2*least*least, 2*most*most-sLo) // |s − 2m²|
	deviation := math.Hypot(math.Hypot(s2, 2*most*s1), g*moves)
	v, w := second+estimator.Entry(q.Offset, i)-first*first, point(linearShare*alpha)*deviation
	off := max(mHi-first, first-mLo)
	lo, hi = max(0, v-w), max(0, v+w+off*off)
	if as.Count > 0 {
		n := point(risk) * g * as.Count
		lo, hi = lo*sample(as.Count+n), hi*sample(as.Count-n)
	}
	if len(x.Cut) > 0 {
		cut := x.Cut[min(i, len(x.Cut)-1)]
		lo, hi = max(0, lo-cut.Below(alpha)), hi+cut.Above(alpha)
	}
	root, over := math.Sqrt(lo), math.Sqrt(hi)
	if half := estimator.Entry(x.Step, i) / 2; half > 0 {
		if as.Count > 0 {
			half *= math.Sqrt2 // n/(n−1) is at most 2
		}
		root, over = max(0, root-half), over+half
		lo, hi = root*root, over*over
	}
	if as.Root {
		return root, over
	}
	return lo, hi
}

// sample is n/(n−1), of two persons at least.
func sample(n float64) float64 { n = max(n, 2); return n / (n - 1) }
