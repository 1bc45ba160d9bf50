package exact

import "math/bits"

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
