package noise

import (
	"math/big"
)

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
