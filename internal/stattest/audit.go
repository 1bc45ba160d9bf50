package stattest

import (
	"math"
	"slices"
)

// LossBound returns a lower bound on the zCDP loss between the laws of two samples of the same length, from the event
// "at least c": ρ-zCDP bounds the Kullback-Leibler divergence by ρ [BS16, Definition 1.1 as α → 1], and by the data-processing
// inequality that is at least the divergence of the event's two probabilities. The cut c comes from the first halves;
// the probabilities, each moved towards the other by Hoeffding's √(ln(4/Alpha)/2m), from the m draws of the second. So the bound is
// too large with probability at most Alpha. It is 0 where the samples are too short to tell them apart.
func LossBound(x, y []float64) float64 {
	h := len(x) / 2
	best, cut := -1.0, 0.0
	a, b := sorted(x[:h]), sorted(y[:h])
	for _, c := range slices.Concat(a, b) {
		if d := math.Abs(atLeast(a, c) - atLeast(b, c)); d > best {
			best, cut = d, c
		}
	}
	p, q := atLeast(sorted(x[h:]), cut), atLeast(sorted(y[h:]), cut)
	p, q = max(p, q), min(p, q)
	slack := math.Sqrt(math.Log(4/Alpha) / (2 * float64(len(x)-h)))
	if p, q = p-slack, q+slack; p <= q {
		return 0
	}
	return max(divergence(p, q), divergence(1-q, 1-p))
}

func sorted(x []float64) []float64 { return slices.Sorted(slices.Values(x)) }

// atLeast is the share of a sorted sample that is at least c.
func atLeast(x []float64, c float64) float64 {
	under, _ := slices.BinarySearch(x, c)
	return float64(len(x)-under) / float64(len(x))
}

// divergence is the Kullback-Leibler divergence of two coins, 0 < p, q < 1.
func divergence(p, q float64) float64 {
	return p*math.Log(p/q) + (1-p)*math.Log((1-p)/(1-q))
}
