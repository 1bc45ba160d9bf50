package noise

import (
	crand "crypto/rand"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
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

// Bits is a source of independent uniform 64-bit words.
type Bits interface{ Uint64() uint64 }

// New returns a Noiser that draws from bits. It is not safe for concurrent use.
func New(bits Bits) Noiser { return newSampler(bits) }

// Secure returns a Noiser on a ChaCha8 stream with a fresh key from the operating system. It is not
// safe for concurrent use: give each goroutine its own.
func Secure() Noiser {
	var key [32]byte
	crand.Read(key[:]) // never fails: it ends the program instead
	return Keyed(key)
}

// Keyed is Secure with a key of the caller's, which decides every draw.
func Keyed(key [32]byte) Noiser { return keyed{New(rand.NewChaCha8(key)), key} }

type keyed struct {
	Noiser
	key [32]byte
}

// Again returns a Noiser that draws what n has drawn, from its first draw on, and then what n
// would. n is by Secure or Keyed, or Rounded of these. Again panics for others: other noise in the
// place of what was drawn would be another law.
func Again(n Noiser) Noiser {
	switch n := n.(type) {
	case keyed:
		return Keyed(n.key)
	case *rounder:
		return Rounded(Again(n.Noiser))
	}
	panic("noise: a source that cannot begin again")
}

// Noiser is where every data-dependent number passes on its way out: it adds exact discrete noise
// to an integer. The server's Noiser draws from the operating system's secure source; tests inject
// recording or seeded ones. Implementations are safe for concurrent use only if they say so; the
// engine gives each goroutine its own.
type Noiser interface {
	// Gaussian returns v + N_Z(0, sigma2) with sigma2 > 0 an integer [CKS20, Alg. 3].
	Gaussian(v *big.Int, sigma2 *big.Int) *big.Int
	// GaussianInt is Gaussian for values and variances that fit: |v| < 2^62, 0 < sigma2. The
	// result saturates at ±2^63.
	GaussianInt(v int64, sigma2 Variance) int64
	// Laplace returns v + Lap_Z(t), P[y] proportional to exp(-|y|/t), t = num/den [CKS20, Alg. 2].
	Laplace(v *big.Int, num, den *big.Int) *big.Int
	// Uniform returns uniform random bits, for secret random choices that are not noise.
	Uniform() uint64
}

// Variance is a positive integer variance of up to 128 bits.
type Variance struct{ Hi, Lo uint64 }
