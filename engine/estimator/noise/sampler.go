package noise

import (
	"math"
	"math/big"
	"math/bits"
)

// sampler implements Noiser on a source of words. Variances below 2^fastBits go through fixed-size
// integers, larger ones through big integers; both draw from exactly the same law.
type sampler struct {
	bits Bits
	// derived numbers of the last small variance: groups ask for the same one again and again
	last gaussian
}

// fastBits bounds log2 of the variances of the fixed-size path: σ < 2^51.
const fastBits = 102

func newSampler(b Bits) *sampler { return &sampler{bits: b} }

// Uniform implements Noiser.
func (s *sampler) Uniform() uint64 { return s.bits.Uint64() }

// Gaussian implements Noiser. It panics if sigma2 <= 0.
func (s *sampler) Gaussian(v, sigma2 *big.Int) *big.Int {
	if sigma2.Sign() <= 0 {
		panic("noise: variance must be positive")
	}
	if sigma2.BitLen() <= fastBits {
		y, ok := s.gaussian(variance(sigma2))
		if ok {
			return new(big.Int).Add(v, big.NewInt(y))
		}
	}
	return new(big.Int).Add(v, bigGaussian(s.bits, sigma2))
}

// GaussianInt implements Noiser. It panics if sigma2 = 0.
func (s *sampler) GaussianInt(v int64, sigma2 Variance) int64 {
	if sigma2.Hi>>(fastBits-64) == 0 {
		if y, ok := s.gaussian(sigma2); ok {
			return saturatingAdd(v, y)
		}
	}
	y := bigGaussian(s.bits, sigma2.Big())
	return Saturating(y.Add(y, big.NewInt(v)))
}

// Laplace implements Noiser. It panics if num <= 0 or den <= 0.
func (s *sampler) Laplace(v, num, den *big.Int) *big.Int {
	if num.Sign() <= 0 || den.Sign() <= 0 {
		panic("noise: scale must be positive")
	}
	return new(big.Int).Add(v, bigLaplace(s.bits, num, den))
}

// Big returns the variance as a big integer.
func (v Variance) Big() *big.Int {
	b := new(big.Int).SetUint64(v.Hi)
	return b.Lsh(b, 64).Or(b, new(big.Int).SetUint64(v.Lo))
}

func variance(b *big.Int) Variance {
	var hi big.Int
	return Variance{Hi: hi.Rsh(b, 64).Uint64(), Lo: lowWord(b)}
}

func lowWord(b *big.Int) uint64 {
	var m big.Int
	return m.And(b, m.SetUint64(math.MaxUint64)).Uint64()
}

// Saturating is an integer in the range of int64, or the end on its side.
func Saturating(y *big.Int) int64 {
	switch {
	case y.IsInt64():
		return y.Int64()
	case y.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

func saturatingAdd(a, b int64) int64 {
	c := a + b
	if (a > 0) == (b > 0) && (c > 0) != (a > 0) && a != 0 && b != 0 {
		if a > 0 {
			return math.MaxInt64
		}
		return math.MinInt64
	}
	return c
}

// below returns a uniform integer in [0, n), n > 0, by rejection on a multiplication.
func below(b Bits, n uint64) uint64 {
	hi, lo := bits.Mul64(b.Uint64(), n)
	if lo < n {
		for floor := -n % n; lo < floor; {
			hi, lo = bits.Mul64(b.Uint64(), n)
		}
	}
	return hi
}
