package stattest

import (
	"math/big"
	"math/rand/v2"

	"scrim/engine/estimator/noise"
)

// Forced returns answers for a Recorder that lead searches down many branches: count for the first
// query, where it is not nil, and then the truth, the truth with noise, or numbers 2^far variances
// away.
func Forced(r *rand.Rand, n noise.Noiser, count *big.Int, far uint) func(int, *big.Int, *big.Int) *big.Int {
	style := r.IntN(4)
	return func(i int, value, sigma2 *big.Int) *big.Int {
		switch {
		case i == 0 && count != nil:
			return count
		case style == 0:
			return value
		case style == 1 || r.IntN(3) > 0:
			return n.Gaussian(value, sigma2)
		}
		away := new(big.Int).Lsh(sigma2, far)
		if r.IntN(2) == 0 {
			away.Neg(away)
		}
		return away
	}
}
