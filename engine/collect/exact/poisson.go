package exact

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
