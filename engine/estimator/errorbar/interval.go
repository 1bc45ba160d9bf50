package errorbar

import (
	"math"

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
		lo, hi = quantile(x.Ranks[i], alpha/float64(max(1, x.Rounds)))
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
		return lo - cut.Below(alpha), hi + cut.Above(alpha)
	}
	b, half := estimator.Entry(x.Under, i), estimator.Entry(x.Step, i)/2
	if x.Noise == nil {
		w := half + around(x.Law, alpha, e.StdErr[i], b)
		return v - w, v + w
	}
	a, c := estimator.Entry(x.Noise, i), estimator.Entry(x.Centre, i)
	if b == 0 {
		w := half + beyond(x.Law, alpha, a, 0)
		if step := 2 * half; step >= 1 && step == math.Trunc(step) {
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
	far := func(r float64) bool { return r-v > beyond(law, alpha, a, b*math.Abs(r)) }
	w := beyond(law, alpha, a, b*math.Abs(v))
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
// side only.
func quantile(ranks []estimator.Rank, alpha float64) (lo, hi float64) {
	lo, hi = math.NaN(), math.NaN()
	z := point(2 * alpha)
	for _, r := range ranks {
		switch {
		case r.Z > z && !(r.At >= hi):
			hi = r.At
		case r.Z < -z && !(r.At <= lo):
			lo = r.At
		}
	}
	return lo, hi
}
