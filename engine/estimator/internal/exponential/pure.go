package exponential

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
)

// The pure form of a choice, which quantiles have at a loss ρ, too: ε-DP with δ = 0, by weights for
// which the argument holds to the last bit.
//
// The weight of distance k is the integer w(k) = max(W(k), 2^64), in units of 2^-192, where W(k) is
// the power table's value of ω^k, off by less than 2^13 units, and ω = e^{-s} for the rate s = rate
// − 2^-49 with s ≥ 2^-49. Then for every k >= 0, j >= 1
//
//	1  ≤  w(k)/w(k+j)  ≤  e^{rate·j}
//
// Right: if W(k) ≤ 2^64 then w(k) is the least weight there is. Else ω^k > 2^64 − 2^13 units, so
// W(k) ≤ ω^k·(1+2^-50.9), and ω^{k+j} ≤ w(k+j)·(1+2^-51); the quotient is at most
// e^{sj}·(1+2^-49.9) ≤ e^{sj + 2^-49} ≤ e^{rate·j}. Left: W(k+j) ≤ ω^j·ω^k + 2^13 and ω^j ≤
// e^{-2^-49} leave the same room.
//
// So where the distances of two neighbours differ by k' − k in [−a, b] with a, b ≥ 0 at every
// point, the weights of a point differ by a factor in [e^{-rate·b}, e^{rate·a}]. So does their sum,
// and a probability is the quotient: it differs by a factor e^{rate·(a+b)} at most, and is never 0.
// Sums of weights are exact and a point is found by an exactly uniform integer (wheel), so the draw
// is ε-DP for ε = rate·(a+b), no slack; it is ε-bounded-range, too, and costs ε²/8 in zCDP [CR21,
// Lemma 3.2].
//
// What the floor 2^-128 takes from the good points is at most 2^62·2^-128 of the probability.

// leastRate is the smallest rate of a pure choice: half of it is the room for the rounding of
// weights.
const leastRate = 0x1p-48

// pureRate returns s for the loss eps where neighbours' distances differ by a range of span at
// most.
func pureRate(eps, span float64) (float64, error) {
	rate := eps / span * (1 - 0x1p-50) // two roundings of 2^-53
	if !(rate >= leastRate) || math.IsInf(rate, 0) {
		return 0, fmt.Errorf("exponential: epsilon %v is too small for a choice among scores that move by %v", eps, span)
	}
	return rate - 0x1p-49, nil
}

// NewPureQuantile is NewQuantile at ε = eps, δ = 0. The range of the distances is 2D as there, so
// the rate is ε/(2D). It returns an error where eps is too small to be divided so.
func NewPureQuantile(num, den, values int64, eps float64, relation estimator.Relation) (Quantile, error) {
	change := values * max(num, den-num)
	if relation == estimator.ReplaceOne {
		change = values * den
	}
	return newPureQuantile(num, den, eps, float64(change), change)
}

func newPureQuantile(num, den int64, eps, change float64, shown int64) (Quantile, error) {
	checkFraction(num, den, change, eps)
	rate, err := pureRate(eps, 2*change)
	if err != nil {
		return Quantile{}, err
	}
	return Quantile{num: num, den: den, loss: loss{epsilon: eps}, change: shown, rate: rate, powers: newFloored(rate)}, nil
}

// NewPureFullest is NewFullest at ε = eps, δ = 0: rate ε under add-remove, ε/2 under replace-one.
// Adding a person raises one count; the distances of the other buckets grow by one if it was the
// largest, else its own falls by one: a range of 1 that holds 0. An exchange is two such steps.
func NewPureFullest(buckets uint64, eps float64, relation estimator.Relation) (Fullest, error) {
	checkBuckets(buckets, eps)
	span := int(relation.Factor())
	rate, err := pureRate(eps, float64(span))
	if err != nil {
		return Fullest{}, err
	}
	return Fullest{buckets, loss{epsilon: eps}, span, rate, newFloored(rate)}, nil
}

// newFloored returns the weights of a pure choice.
func newFloored(rate float64) powers {
	p := newPowers(rate)
	p.floored = true
	return p
}

// loss is the cost of one choice: ρ, or ε of a pure one.
type loss struct{ rho, epsilon float64 }

// of puts the loss of n choices into a step.
func (l loss) of(n int, s estimator.Step) estimator.Step {
	s.Queries, s.Rho, s.Epsilon = n, l.rho*float64(n), l.epsilon*float64(n)
	return s
}
