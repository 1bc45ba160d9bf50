package errorbar

import (
	"math"

	"scrim/engine/estimator"
)

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
// M. What a clip may take away, as a variance, makes both ends wider.
func variance(x *estimator.Error, i int, alpha float64) (lo, hi float64) {
	q := x.Moments
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
	if q.Count > 0 {
		n := point(risk) * g * q.Count
		lo, hi = lo*sample(q.Count+n), hi*sample(q.Count-n)
	}
	if len(x.Cut) > 0 {
		cut := x.Cut[min(i, len(x.Cut)-1)]
		lo, hi = max(0, lo-cut.Below(alpha)), hi+cut.Above(alpha)
	}
	if q.Root {
		return math.Sqrt(lo), math.Sqrt(hi)
	}
	return lo, hi
}

// sample is n/(n−1), of two persons at least.
func sample(n float64) float64 { n = max(n, 2); return n / (n - 1) }
