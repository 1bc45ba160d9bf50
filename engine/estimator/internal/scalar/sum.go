package scalar

import (
	"math/big"
	"math/bits"

	"scrim/engine/estimator/noise"
)

// Sum is a signed 128-bit accumulator in two's complement. Its zero value is 0.
type Sum struct {
	hi int64
	lo uint64
}

// Add adds v.
func (s *Sum) Add(v int64) {
	lo, carry := bits.Add64(s.lo, uint64(v), 0)
	s.lo = lo
	s.hi += v>>63 + int64(carry)
}

// Big returns the sum as a big integer.
func (s Sum) Big() *big.Int {
	b := big.NewInt(s.hi)
	b.Lsh(b, 64)
	return b.Add(b, new(big.Int).SetUint64(s.lo))
}

// Release returns the noisy sum as a float64: noise is added to the exact integer, rounding comes
// after it.
func (s Sum) Release(n noise.Noiser, sigma2 *big.Int) float64 {
	f, _ := new(big.Float).SetInt(n.Gaussian(s.Big(), sigma2)).Float64()
	return f
}
