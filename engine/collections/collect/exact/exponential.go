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

// RateBits says what Poisson's rate is over: 2^20.
const RateBits = 20

// Poisson draws from the Poisson law of rate l/2^20. It panics if l > 2^50.
//
// It takes some 1.5 draws of a small law for each unit of the rate. The difference of two draws is
// a Skellam variable of variance 2l/2^20, and those of many devices add up to one again.
func (r *Rand) Poisson(l uint64) (int64, error) {
	if l > 1<<50 {
		panic("exact: Poisson rate beyond 2^30")
	}
	return r.poisson(l, 1<<RateBits)
}

// poisson draws from the Poisson law of rate num/den, 0 < den < 2^62: the sum of independent laws
// of rate 1 and of one or two that share the rest, of rate 1/2 at most.
func (r *Rand) poisson(num, den uint64) (int64, error) {
	whole, rest := num/den, num%den
	sum := uint64(0)
	if 2*rest > den { // two of rate rest/2den
		sum = r.poissonHalf(rest, den) + r.poissonHalf(rest, den)
	} else {
		sum = r.poissonHalf(2*rest, den)
	}
	for range whole {
		if sum += r.poissonOne(); sum>>63 != 0 { // one draw is under 2^47
			return 0, ErrRange
		}
	}
	return int64(sum), nil
}

// poissonHalf draws from the Poisson law of rate λ = a/2b, a <= b: k tails before the first head,
// accepted with probability (2λ)^k/k!, so that P[k] ∝ 2^-(k+1)·(2λ)^k/k!. The factor 2λ/i is tossed
// as two coins.
func (r *Rand) poissonHalf(a, b uint64) uint64 {
	for n := uint64(0); ; r.step(&n) {
		k := r.waits()
		if r.each(k, a, b) {
			return k
		}
	}
}

// each tosses the coins a/b and 1/i for i = 1, …, k until one is false, and tells whether none was.
func (r *Rand) each(k, a, b uint64) bool {
	for i := uint64(1); i <= k; i++ {
		if !r.Bernoulli(a, b) || !r.Bernoulli(1, i) {
			return false
		}
	}
	return true
}

// poissonOne draws from the Poisson law of rate 1: k tails before the first head, accepted with
// probability (2^k/k!)/2, so that P[k] ∝ 1/k!. This is 1/2, 1, 1 for k = 0, 1, 2, and every i from
// 3 on brings a factor 2/i.
func (r *Rand) poissonOne() uint64 {
	for n := uint64(0); ; r.step(&n) {
		k := r.waits()
		if k == 0 && r.Coin() {
			continue
		}
		i := uint64(3)
		for i <= k && r.Bernoulli(2, i) {
			i++
		}
		if i > k {
			return k
		}
	}
}

// NegativeBinomial draws from the negative binomial law of shape r = 1/h and ratio α = exp(−a/b),
//
//	P[k] = C(k+r−1, k)·(1 − α)^r·α^k,    mean rα/(1−α), variance rα/(1−α)²
//
// for h >= 1 and 1 <= a, b < 2^40; it panics outside. The difference of two draws is one device's
// share of discrete Laplace noise: over h devices they add up to Laplace(a, b), and further devices
// only add noise.
//
// The law is that of a sum over a Poisson process: of points k >= 1 with intensity r·α^k/k, since
// the logarithm of its generating function is Σ r·α^k/k·(z^k − 1) = r·ln((1−α)/(1−αz)). The process
// is drawn by thinning one of rational rate. Let K = 2^J be the least power of two with K·a >= b.
//
//	block j < J   k in [2^j, 2^{j+1})     intensity under r/2^j, so r points, uniform in the block
//	tail i >= 1   k in [iK, (i+1)K)       α^k <= e^-i <= 2^-i, intensity under r·2^-i/K, so r·2^-i points
//
// That is (J+1)·r points in all, each in one of the blocks or the tail with equal probability. One
// is kept with probability (2^j/k)·α^k, or (K/k)·2^i·α^k = (K/k)·(2/e)^i·exp(−(ka − ib)/b).
//
// Most devices draw no point at all: 1 − α is seldom under 2^-20 and h is in the thousands. The
// rejection from a geometric law, which needs b/a steps, has the same law; tests compare both with
// the formula.
func (r *Rand) NegativeBinomial(h, a, b uint64) (int64, error) {
	if h == 0 || h >= 1<<40 || a == 0 || b == 0 || a >= 1<<40 || b >= 1<<40 {
		panic("exact: shares of a negative binomial law out of range")
	}
	j := blocks(a, b)
	points, err := r.poisson(j+1, h)
	if err != nil {
		return 0, err
	}
	sum := uint64(0)
	for ; points > 0; points-- {
		k, err := r.point(j, a, b)
		if err != nil {
			return 0, err
		}
		if sum += k; sum>>63 != 0 { // k < 2^63
			return 0, ErrRange
		}
	}
	return int64(sum), nil
}

// blocks returns the least J with 2^J·a >= b.
func blocks(a, b uint64) uint64 {
	return uint64(bits.Len64((b - 1) / a)) // the least J with 2^J > ⌊(b−1)/a⌋, that is 2^J·a > b−1
}

// point draws one point of the dominating process and returns it if it is kept, else 0.
func (r *Rand) point(last, a, b uint64) (uint64, error) {
	if j := r.Uniform(last + 1); j < last {
		k := 1<<j + r.Uniform(1<<j)
		if r.Bernoulli(1<<j, k) && r.BernoulliExp(k*a, b) { // k·a < 2^J·a < 2b
			return k, nil
		}
		return 0, nil
	}
	return r.tail(last, a, b)
}

// tail draws a point of the tail; ka − ib = i(Ka − b) + ua for k = iK + u.
func (r *Rand) tail(last, a, b uint64) (uint64, error) {
	i, u := 1+r.waits(), r.Uniform(1<<last)
	if i >= 1<<20 {
		return 0, ErrRange // all is below 2^62 for smaller i, as Ka < max(2b, a+1) <= 2^41
	}
	k := i<<last + u
	if !r.Bernoulli(1<<last, k) {
		return 0, nil
	}
	for range i {
		if !r.twoOverE() {
			return 0, nil
		}
	}
	if !r.BernoulliExp(i*(a<<last-b)+u*a, b) {
		return 0, nil
	}
	return k, nil
}
