package cover

import (
	"math/big"

	"scrim/engine/estimator/noise"
)

// weights are those of the scores 0, 1, 2, …: W(0) = 2^128 and W(s+1) = ⌊W(s)·b/2^128⌋ for the
// integer b = ⌊e^{ε/2}·2^128⌋, rounded down again in its computation. So W(s+1) ≤ e^{ε/2}·W(s), and
// W(s) ≤ W(s+1) as b/2^128 > 1 + 2^-43 for ε ≥ 2^-40: a score that moves by 1 changes its weight by
// a factor of at most e^{ε/2} either way, for all s, without any error term.
type weights struct{ growth *big.Int } // b

const weightBits = 128

// newWeights returns the weights for 2^-40 <= eps <= maxEpsilon.
func newWeights(eps float64) weights {
	b, _ := expDown(eps/2).SetMantExp(expDown(eps/2), weightBits).Int(nil)
	return weights{b}
}

// expDown returns e^x for 0 < x <= 32, at most 2^-200 of it too small, never too large.
//
// It is (e^{x/64})^64 with a Taylor series for the inner power. All terms are positive and every
// operation rounds towards 0. The term 60 is below 2^-300 of the sum, and 320 bits less 6 for the
// squarings and some for the rounding of the terms remain.
func expDown(x float64) *big.Float {
	zero := func() *big.Float { return new(big.Float).SetPrec(320).SetMode(big.ToZero) }
	y := zero().SetMantExp(zero().SetFloat64(x), -6)
	sum, term := zero().SetInt64(1), zero().SetInt64(1)
	for i := int64(1); i <= 60; i++ {
		term.Quo(term.Mul(term, y), zero().SetInt64(i))
		sum.Add(sum, term)
	}
	for range 6 {
		sum.Mul(sum, sum)
	}
	return sum
}

// each calls visit with the weights of the scores 0, 1, …, top, until it returns false. The number
// changes after the call.
func (w weights) each(top int, visit func(score int, weight *big.Int) bool) {
	weight, product := new(big.Int).Lsh(big.NewInt(1), weightBits), new(big.Int)
	for s := 0; s <= top && visit(s, weight); s++ {
		weight.Rsh(product.Mul(weight, w.growth), weightBits)
	}
}

// draw returns the score of a candidate, and its rank among those of this score, where counts[s]
// candidates have the score s, and one at least some: each is drawn with a probability of exactly
// its weight over the sum of all.
func (w weights) draw(n noise.Noiser, counts []int64) (score int, rank int64) {
	top := len(counts) - 1
	for counts[top] == 0 {
		top--
	}
	sum, part, count := new(big.Int), new(big.Int), new(big.Int)
	w.each(top, func(s int, weight *big.Int) bool {
		if counts[s] > 0 {
			sum.Add(sum, part.Mul(weight, count.SetInt64(counts[s])))
		}
		return true
	})
	u := below(n, sum)
	w.each(top, func(s int, weight *big.Int) bool {
		if counts[s] == 0 {
			return true
		}
		if u.Cmp(part.Mul(weight, count.SetInt64(counts[s]))) >= 0 {
			u.Sub(u, part)
			return true
		}
		score, rank = s, u.Quo(u, weight).Int64()
		return false
	})
	return score, rank
}

// below returns a uniform integer under bound > 0, by rejection.
func below(n noise.Noiser, bound *big.Int) *big.Int {
	length := bound.BitLen()
	for {
		u := new(big.Int)
		for have := 0; have < length; have += 64 {
			u.Lsh(u, 64).Or(u, new(big.Int).SetUint64(n.Uniform()))
		}
		if u.Rsh(u, uint((length+63)/64*64-length)); u.Cmp(bound) < 0 {
			return u
		}
	}
}
