// Package partition selects group keys privately.
//
// Both neighbour relations are covered: one person more or less, with all rows, and one person's
// rows exchanged.
package partition

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Params are the public parameters of a selection.
type Params struct {
	// zCDP of the whole selection for one person, over all keys that the person has; > 0
	Rho       float64
	Delta     float64 // event δ of the whole selection; 0 < Delta < 1/2
	MaxGroups int     // keys that the store keeps of one person, >= 1
	// keys whose noisy number of persons is under this are never shown, however many keys they
	// hold; 0 for no such rule
	Minimum int

	Relation estimator.Relation // that Rho and Delta hold for
}

// Selection shows a key when its noisy number of persons reaches a threshold. A person who holds k
// ≤ MaxGroups keys counts 1/√k in each, so that its counts are a vector of length 1 at most,
// however many keys it holds: one person more or less moves the counts by 1 in ℓ2, and one
// exchanged by √2, as counts are not negative. In integers, with unit u = 1 for one key and u ≥
// 256·√MaxGroups else:
//
//	w_k = ⌊u/√k⌋, so that k·w_k² ≤ u²
//	c_b = the sum of w_k over the persons who hold key b, each with its own k
//	σ²  = ⌈s·u²/(2ρ)⌉, s = 1 under add-remove and 2 under replace-one
//	show key b  ⇔  c_b + N_Z(0,σ²) ≥ T
//	T    = max over k = 1 … MaxGroups of w_k + t_k,
//	t_k  = the least integer with tail(t_k) ≤ δ/k,
//	tail(t) ≥ P[N_Z(0,σ²) ≥ t] and P[round(N(0,σ²)) ≥ t], as noise.Rounded draws: the larger of
//	exp(−t²/2σ²)/√(2πσ²) + Q(t/σ)  and  Q((t−1/2)/σ),  Q the upper tail of N(0,1)
//
// The bound on the tail of N_Z: x ↦ exp(−x²/2σ²) falls for x ≥ 0, so its sum over the integers x
// ≥ t is at most its first term plus its integral from t; the normalising sum over all integers
// is at least √(2πσ²), because by Poisson summation it is √(2πσ²) times a series of positive
// terms that begins with 1. [CKS20] Proposition 25 gives a bound of the same kind.
//
// Loss: the keys that both neighbours have are decided from counts with Gaussian noise: ρ by
// [CKS20] Theorem 14 and post-processing. A key that only one of them has holds one person, of k
// keys; T is large enough for every k that it is shown with probability at most δ/k, and there are
// at most k such keys. Under add-remove one neighbour has such keys, and the other none. Under
// replace-one both may: those of the old rows on one side, those of the new rows on the other. On
// each side the event that none of its own is shown has probability at least 1−δ, and given these
// two events, which the noise of the common keys does not know of, the laws agree up to ρ. The
// definition asks for one event on each side, so δ is not doubled. That is δ-approximate ρ-zCDP of
// [BS16] Definition 8.1: an event δ. docs/proofs/keys.md has the proof.
//
// A Minimum is in persons, and a weighted count is at most the number of persons. Where it is above
// T/u, persons of many keys would have to be √k times as many for it as was asked. Then everybody
// counts 1 in each key, with s·MaxGroups in the place of s·u²: Minimum decides, not the noise.
//
// Only keys with at least one person may be passed to Keep. A threshold on truncated geometric
// noise ((ε,δ)-optimal for one key a person) costs ε·tanh(ε/2) ≈ ε²/2 in zCDP, which makes its
// threshold ≈ ln(ε/δ)/ε with ε = √(2ρ) grow like ln(1/δ) where this one grows like √ln(1/δ): at δ =
// 1e-6 it is the higher one for every ρ up to 2, so it is not offered.
//
// Source: thresholding a histogram, [BS16] section 8 for the account; weights by the length of a
// person's counts as in the Gaussian policies of [GGKSSY20]; the thresholds of all k from the union
// bound above.
type Selection struct {
	p         Params
	weights   weights
	sigma2    noise.Variance
	sigma     float64
	threshold int64 // in units of weights
}

// New returns a selection. It refuses parameters outside the ranges that Params states, and those
// whose noise would need more than 2^40 persons a key.
func New(p Params) (*Selection, error) {
	switch {
	case !(p.Rho > 0) || p.Rho > 1e6:
		return nil, fmt.Errorf("partition: want 0 < rho <= 1e6, have %v", p.Rho)
	case !(p.Delta > 0) || p.Delta >= 0.5:
		return nil, fmt.Errorf("partition: want 0 < delta < 0.5, have %v", p.Delta)
	case p.MaxGroups < 1 || p.MaxGroups > 1<<20:
		return nil, fmt.Errorf("partition: want 1 <= max groups <= %d, have %d", 1<<20, p.MaxGroups)
	case p.Relation > estimator.ReplaceOne:
		return nil, fmt.Errorf("partition: unknown neighbour relation %d", p.Relation)
	case p.Minimum < 0:
		return nil, fmt.Errorf("partition: want minimum >= 0, have %d", p.Minimum)
	}
	s, err := p.with(newWeights(p.MaxGroups))
	if err == nil && s.Weighted() && int64(p.Minimum) > s.Threshold() {
		s, err = p.with(weights{unit: 1, equal: true})
	}
	if err != nil {
		return nil, err
	}
	s.threshold = max(s.threshold, int64(p.Minimum)*s.weights.unit)
	return s, nil
}

// with returns the selection by such weights.
func (p Params) with(w weights) (*Selection, error) {
	changed := p.Relation.Factor() * w.length2(p.MaxGroups)
	sigma2 := scalar.Sigma2(big.NewInt(changed), 1, p.Rho)
	if sigma2.BitLen() > 70+bits.Len64(uint64(w.unit*w.unit)) {
		return nil, fmt.Errorf("partition: rho %v is too small for %d groups a person", p.Rho, p.MaxGroups)
	}
	s := &Selection{p: p, weights: w, sigma2: scalar.ToVariance(sigma2), sigma: scalar.Root(sigma2)}
	s.threshold = s.least()
	if s.Threshold() > 1<<40 {
		return nil, fmt.Errorf("partition: rho %v is too small for %d groups a person", p.Rho, p.MaxGroups)
	}
	return s, nil
}

// least returns the least threshold at which a person who holds so many keys, alone in all of them,
// is shown with probability δ at most, for every number of keys up to MaxGroups.
func (s *Selection) least() int64 {
	needs := func(held int) int64 {
		return s.weights.of(int64(held)) + tailPoint(s.sigma, s.p.Delta/float64(held))
	}
	// The need falls with the number of keys first, and rises then: the ends nearly always decide.
	least := max(needs(1), needs(s.p.MaxGroups))
	for held := 2; held < s.p.MaxGroups; held++ {
		if t := least - s.weights.of(int64(held)); t < 0 || tail(s.sigma, float64(t)) > s.p.Delta/float64(held) {
			least = needs(held)
		}
	}
	return least
}

// tailPoint returns the least integer t >= 0 with tail(t) <= q, computed a little to the safe side.
func tailPoint(sigma, q float64) int64 {
	lo, hi := int64(-1), int64(math.Ceil(40*sigma))+40 // tail(lo) > q >= tail(hi), or hi is far out
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; tail(sigma, float64(mid)) > q {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// tail is the bound on the upper tail of the noise at t >= 0, rounded up.
func tail(sigma, t float64) float64 {
	z := t / sigma
	discrete := math.Exp(-z*z/2)/(sigma*math.Sqrt(2*math.Pi)) + math.Erfc(z/math.Sqrt2)/2
	return max(discrete, math.Erfc((t-0.5)/sigma/math.Sqrt2)/2) * (1 + 1e-9)
}

// Loss is the loss of the selection over all keys for one person.
func (s *Selection) Loss() privacy.Loss {
	return privacy.Loss{Rho: privacy.RhoOf(s.p.Rho), DeltaEvent: s.p.Delta}
}

// Threshold is the noisy number of persons of one key each from which a key is shown, rounded up.
func (s *Selection) Threshold() int64 { return ceilOver(s.threshold, s.weights.unit) }

// MinPersons is the number of persons from which a key is shown with probability 95 % at least,
// however many keys each of them holds.
func (s *Selection) MinPersons() int64 { return s.PersonsOf(s.p.MaxGroups) }

// PersonsOf is that number where each of them holds so many keys, 1 <= held <= MaxGroups.
func (s *Selection) PersonsOf(held int) int64 {
	return ceilOver(s.threshold+int64(math.Ceil(1.645*s.sigma)), s.weights.of(int64(held)))
}

func ceilOver(x, by int64) int64 { return (x + by - 1) / by }

// Most is the number of keys that the store keeps of one person.
func (s *Selection) Most() int { return s.p.MaxGroups }

// Weighted reports whether persons count by how many keys they hold.
func (s *Selection) Weighted() bool { return s.p.MaxGroups > 1 && !s.weights.equal }

// Weight is what a person counts in each of the keys that it holds, 1 <= held <= MaxGroups.
func (s *Selection) Weight(held int64) int64 { return s.weights.of(held) }

// Steps describes the one noisy step.
func (s *Selection) Steps() []estimator.Step {
	changed := s.p.Relation.Factor()
	if s.weights.equal {
		changed *= int64(s.p.MaxGroups)
	}
	length := "l2=1"
	if changed > 1 {
		length = fmt.Sprintf("l2=sqrt(%d)", changed)
	}
	return []estimator.Step{{
		Name: "key selection", Mechanism: estimator.DiscreteGaussian, Use: "threshold",
		Sensitivity: length, Queries: 1, Rho: s.p.Rho,
	}}
}

// Keep decides on one key from the weights of the persons who hold it, added up: at least one, and
// each key must be decided once.
func (s *Selection) Keep(n noise.Noiser, weight int64) bool {
	return n.GaussianInt(weight, s.sigma2) >= s.threshold
}

// Weights are integers by which a person counts in each of the keys that it holds: a weight of
// unit/√k, rounded down, of a person with k of them.
//
// One person's weights are a vector with k·weight(k)² ≤ unit², so its length is at most unit,
// whatever k is. Where weights are not divided, a person counts 1 in each key and the length is √k.
type weights struct {
	unit  int64 // weight of a person of one key
	equal bool  // of every person, and unit is 1
}

// weightBits is how many bits the least weight has at least, but for one: rounding takes at most
// 1/256 off a weight.
const weightBits = 8

// newWeights are those of persons of up to so many keys: unit is 1 for one key, and else a power of
// two with unit ≥ 2^weightBits·√most.
func newWeights(most int) weights {
	if most == 1 {
		return weights{unit: 1}
	}
	return weights{unit: 1 << (weightBits + (bits.Len(uint(most-1))+1)/2)}
}

// of is the weight in each key of a person who holds so many: the largest integer w with held·w² ≤
// unit². Nobody holds less than one key, and nobody who does has a weight above unit.
func (w weights) of(held int64) int64 {
	switch {
	case w.equal || held <= 1:
		return w.unit
	}
	lo, hi := int64(0), w.unit // held·lo² ≤ unit² < held·hi²
	for square := w.unit * w.unit; hi-lo > 1; {
		if mid := (lo + hi) / 2; mid*mid <= square/held {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// length2 is the largest squared length of the weights of a person of up to so many keys.
func (w weights) length2(most int) int64 {
	if w.equal {
		return int64(most)
	}
	return w.unit * w.unit
}
