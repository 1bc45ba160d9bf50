package partition

import (
	"fmt"
	"math"
	"math/big"

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
	// keys whose noisy number of persons is under this are never shown; 0 for no such rule
	Minimum int

	Relation estimator.Relation // that Rho and Delta hold for
}

// Selection shows a key when its noisy number of persons reaches a threshold. A person is counted
// once in each of at most MaxGroups keys; adding a person changes the counts of those keys by one
// each (ℓ2 sensitivity √MaxGroups) and may bring in up to MaxGroups keys that nobody else has.
// Exchanging a person changes the counts of up to 2·MaxGroups keys by one each, those of the old
// rows and those of the new.
//
//	add-remove    σ² = ⌈MaxGroups/(2ρ)⌉
//	replace-one   σ² = ⌈2·MaxGroups/(2ρ)⌉
//	show key b  ⇔  c_b + N_Z(0,σ²) ≥ max(1+t, Minimum)
//	t  = the least integer with tail(t) ≤ δ/MaxGroups,
//	tail(t) = exp(−t²/2σ²)/√(2πσ²) + Q(t/σ) ≥ P[N_Z(0,σ²) ≥ t],  Q the upper tail of N(0,1)
//
// The bound on the tail: x ↦ exp(−x²/2σ²) falls for x ≥ 0, so its sum over the integers x ≥ t is at
// most its first term plus its integral from t; the normalising sum over all integers is at least
// √(2πσ²), because by Poisson summation it is √(2πσ²) times a series of positive terms that begins
// with 1. [CKS20] Proposition 25 gives a bound of the same kind.
//
// Loss: the keys that both neighbours have are decided from counts with Gaussian noise: ρ by
// [CKS20] Theorem 14 and post-processing. A key that only one of them has holds one person and is
// shown with probability at most δ/MaxGroups. Under add-remove one neighbour has at most MaxGroups
// such keys, and the other none. Under replace-one each of the two has at most MaxGroups: those of
// the old rows on one side, those of the new rows on the other. On each side the event that none of
// its own is shown has probability at least 1−δ, and given these two events, which the noise of the
// common keys does not know of, the laws agree up to ρ. The definition asks for one event on each
// side, so δ is not doubled. That is δ-approximate ρ-zCDP of [BS16] Definition 8.1: an event δ.
//
// Only keys with at least one person may be passed to Keep. A threshold on truncated geometric
// noise ((ε,δ)-optimal for one key a person) costs ε·tanh(ε/2) ≈ ε²/2 in zCDP, which makes its
// threshold ≈ ln(ε/δ)/ε with ε = √(2ρ) grow like ln(1/δ) where this one grows like √ln(1/δ): at δ =
// 1e-6 it is the higher one for every ρ up to 2, so it is not offered.
//
// Source: thresholding a histogram, [BS16] section 8 for the account; the key-bounded form follows
// from the union bound above.
type Selection struct {
	p         Params
	sigma2    noise.Variance
	sigma     float64
	threshold int64
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
	sigma2 := scalar.Sigma2(big.NewInt(p.changed()), 1, p.Rho)
	if sigma2.BitLen() > 70 {
		return nil, fmt.Errorf("partition: rho %v is too small for %d groups a person", p.Rho, p.MaxGroups)
	}
	s := &Selection{p: p, sigma2: scalar.ToVariance(sigma2), sigma: scalar.Root(sigma2)}
	s.threshold = max(1+tailPoint(s.sigma, p.Delta/float64(p.MaxGroups)), int64(p.Minimum))
	if s.threshold > 1<<40 {
		return nil, fmt.Errorf("partition: rho %v is too small for %d groups a person", p.Rho, p.MaxGroups)
	}
	return s, nil
}

// changed is the number of keys whose counts one person changes.
func (p Params) changed() int64 { return p.Relation.Factor() * int64(p.MaxGroups) }

// tailPoint returns the least integer t >= 0 with tail(t) <= q, computed a little to the safe side.
func tailPoint(sigma, q float64) int64 {
	tail := func(t float64) float64 {
		z := t / sigma
		return (math.Exp(-z*z/2)/(sigma*math.Sqrt(2*math.Pi)) + math.Erfc(z/math.Sqrt2)/2) * (1 + 1e-9)
	}
	lo, hi := int64(-1), int64(math.Ceil(40*sigma))+40 // tail(lo) > q >= tail(hi), or hi is far out
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; tail(float64(mid)) > q {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// Loss is the loss of the selection over all keys for one person.
func (s *Selection) Loss() privacy.Loss {
	return privacy.Loss{Rho: privacy.RhoOf(s.p.Rho), DeltaEvent: s.p.Delta}
}

// Threshold is the noisy number of persons from which a key is shown.
func (s *Selection) Threshold() int64 { return s.threshold }

// MinPersons is the number of persons from which a key is shown with probability 95 % at least.
func (s *Selection) MinPersons() int64 { return s.threshold + int64(math.Ceil(1.645*s.sigma)) }

// Steps describes the one noisy step.
func (s *Selection) Steps() []estimator.Step {
	return []estimator.Step{{
		Name: "key selection", Mechanism: estimator.DiscreteGaussian, Use: "threshold",
		Sensitivity: fmt.Sprintf("l2=sqrt(%d)", s.p.changed()), Queries: 1, Rho: s.p.Rho,
	}}
}

// Keep decides on one key that units >= 1 persons have; each key must be decided once.
func (s *Selection) Keep(n noise.Noiser, units int64) bool {
	return n.GaussianInt(units, s.sigma2) >= s.threshold
}
