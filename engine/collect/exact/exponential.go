package exact

import (
	"math"
	"math/bits"

	"scrim/engine/estimator/noise"
)

// BernoulliExp is true with probability exp(−a/b): [CKS20] Algorithm 1. It panics if b = 0.
func (r *Rand) BernoulliExp(a, b uint64) bool {
	if b == 0 {
		panic("exact: exponent over 0")
	}
	for n := uint64(0); a > b; r.step(&n) {
		if !r.inverseE() {
			return false
		}
		a -= b
	}
	return r.expUnit(a, b)
}

// expUnit is BernoulliExp for a <= b: whether the first failure of the coins a/b, a/2b, a/3b, … has
// an odd number. The k-th is tossed as the two coins a/b and 1/k, so that no product can overflow.
func (r *Rand) expUnit(a, b uint64) bool {
	for k := uint64(1); ; r.step(&k) {
		if !r.Bernoulli(a, b) || !r.Bernoulli(1, k) {
			return k&1 == 1
		}
	}
}

// inverseE is true with probability 1/e: expUnit(1, 1), whose first coin is sure.
func (r *Rand) inverseE() bool { return r.firstFailure(2)&1 == 1 }

// twoOverE is true with probability 2/e = 1 − 1/3 + 1/(3·4) − 1/(3·4·5) + …
func (r *Rand) twoOverE() bool { return r.firstFailure(3)&1 == 1 }

// firstFailure tosses coins 1/k for k = from, from+1, … and returns the k of the first that is
// false. With p(j) = 1/(from···(from+j−1)) the probability of j successes at least, the number of
// successes is even with probability 1 − p(1) + p(2) − ….
func (r *Rand) firstFailure(from uint64) uint64 {
	k := from
	for r.Bernoulli(1, k) {
		r.step(&k)
	}
	return k
}

// Geometric draws k >= 0 with P[k] = (1 − α)α^k, α = exp(−a/b): [CKS20] Algorithm 2 without its
// sign. It panics if a or b is 0.
//
// u + bv has the law with exp(−1/b) in place of α: u below b is accepted with exp(−u/b), v counts
// coins 1/e. Its quotient by a is the geometric law of exp(−a/b).
func (r *Rand) Geometric(a, b uint64) (int64, error) {
	if a == 0 || b == 0 {
		panic("exact: scale must be positive")
	}
	u := r.Uniform(b)
	for n := uint64(0); !r.expUnit(u, b); r.step(&n) {
		u = r.Uniform(b)
	}
	v := uint64(0)
	for r.inverseE() {
		r.step(&v)
	}
	hi, lo := bits.Mul64(b, v)
	lo, carry := bits.Add64(lo, u, 0)
	if hi += carry; hi >= a {
		return 0, ErrRange
	}
	k, _ := bits.Div64(hi, lo, a)
	if k > math.MaxInt64 {
		return 0, ErrRange
	}
	return int64(k), nil
}

// Laplace draws z with P[z] ∝ exp(−|z|·a/b), the discrete Laplace law of variance 2α/(1−α)², α =
// exp(−a/b). It panics if a or b is 0.
//
// Added to an integer that one contributor's value moves by Δ at most, it is Δ·a/b-DP.
func (r *Rand) Laplace(a, b uint64) (int64, error) {
	for n := uint64(0); ; r.step(&n) {
		negative := r.Coin()
		z, err := r.Geometric(a, b)
		switch {
		case err != nil:
			return 0, err
		case !negative:
			return z, nil
		case z > 0: // so that 0 does not count twice
			return -z, nil
		}
	}
}

// maxGaussianBits bounds log2 of Gaussian's variances: σ < 2^51.
const maxGaussianBits = 102

// Gaussian draws z with P[z] ∝ exp(−z²/2σ²), [CKS20] Algorithm 3, 0 < σ² < 2^102. It panics
// outside. A draw beyond ±2^63 saturates; at this σ that has a probability of under exp(−2^22).
//
// Added to every coordinate of an integer vector that one contributor's value moves by Δ at most in
// l2, it is Δ²/(2σ²)-zCDP [CKS20, Theorem 14].
func (r *Rand) Gaussian(sigma2 noise.Variance) int64 {
	if sigma2.Hi>>(maxGaussianBits-64) != 0 {
		panic("exact: variance beyond 2^102")
	}
	return r.noise.GaussianInt(0, sigma2)
}
