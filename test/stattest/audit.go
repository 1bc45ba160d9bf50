package stattest

import (
	"math"
	"slices"
)

// LossBound returns a lower bound on the zCDP loss between the laws of two samples of the same
// length, from how well the event "at least c" tells them apart. The cut c, and which of the two
// lies above it, come from the first quarters. Of the n remaining draws of both, a share w falls on
// its own side. Chernoff's bound for sums of independent coins with any means, P[kl(w, v) ≥ t, w ≥
// v] ≤ exp(−nt) for the mean v of w, gives a lower bound on v, and so d = 2v − 1 on how far the
// event's two probabilities are apart: too large with probability at most Alpha, and at most 0
// where the samples are too short.
//
// ρ-zCDP bounds the Kullback-Leibler divergences of the two laws, both ways, by ρ [BS16, Definition
// 1.1 as α → 1]; by the data-processing inequality they are at least those of the event's two
// coins. Of all coins that are d apart, (1 + d)/2 and (1 − d)/2 have the least larger divergence,
// as it is convex in their mean and even about 1/2: it is d·ln((1 + d)/(1 − d)), the bound.
func LossBound(x, y []float64) float64 {
	h := len(x) / 4
	cut, sign := separate(sorted(x[:h]), sorted(y[:h]))
	n := 2 * float64(len(x)-h)
	w := (1 + sign*(atLeast(sorted(x[h:]), cut)-atLeast(sorted(y[h:]), cut))) / 2
	d := 2*leastMean(w, math.Log(1/Alpha)/n) - 1
	if !(d > 0) {
		return 0
	}
	return d * math.Log((1+d)/(1-d))
}

// separate returns the cut that tells two sorted samples apart best, and 1 if the first lies above
// it, −1 if the second does. A cut between two draws comes before the draws themselves.
func separate(a, b []float64) (cut, sign float64) {
	z := sorted(slices.Concat(a, b))
	var cuts []float64
	for i := 1; i < len(z); i++ {
		cuts = append(cuts, z[i-1]/2+z[i]/2)
	}
	best := 0.0
	for _, c := range append(cuts, z...) {
		if d := atLeast(a, c) - atLeast(b, c); math.Abs(d) > math.Abs(best) {
			best, cut = d, c
		}
	}
	return cut, math.Copysign(1, best)
}

func sorted(x []float64) []float64 { return slices.Sorted(slices.Values(x)) }

// atLeast is the share of a sorted sample that is at least c.
func atLeast(x []float64, c float64) float64 {
	under, _ := slices.BinarySearch(x, c)
	return float64(len(x)-under) / float64(len(x))
}

// leastMean returns the mean under w from which the share w of coins diverges by t, rounded down.
func leastMean(w, t float64) float64 {
	lo, hi := 0.0, w
	for range 60 {
		if mid := (lo + hi) / 2; divergence(w, mid) > t {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// divergence is the Kullback-Leibler divergence of two coins, 0 ≤ p ≤ 1 and 0 < q < 1.
func divergence(p, q float64) float64 {
	d := 0.0
	if p > 0 {
		d += p * math.Log(p/q)
	}
	if p < 1 {
		d += (1 - p) * math.Log((1-p)/(1-q))
	}
	return d
}
