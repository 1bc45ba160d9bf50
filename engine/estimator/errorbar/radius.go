package errorbar

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"scrim/engine/estimator"
)

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
