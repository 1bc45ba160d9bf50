package scalar

import (
	"math/big"
	"math/bits"

	"scrim/engine/estimator"
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

// Within returns the sum of squares of m >= 1 numbers about their own mean, Q − T²/m, from their
// sum T, |T| <= 2^50, and the sum of their squares Q in two's complement 128 bits. It is at least
// 0; inconsistent (saturated) columns give some number of the same kind. Q and T² are exact, so
// that a small spread about a large mean is not lost: mQ − T² is formed in integers when m < 2^16
// and Q < 2^110, in floats otherwise.
func Within(m, t int64, hi int64, lo uint64) float64 {
	if hi < 0 {
		return 0
	}
	if m >= 1<<16 || hi >= 1<<46 {
		q := float64(hi)*(1<<64) + float64(lo)
		return max(0, q-float64(float64(t)*float64(t))/float64(m))
	}
	ph, pl := bits.Mul64(lo, uint64(m))
	ph += uint64(hi) * uint64(m)
	u := uint64(max(t, -t))
	th, tl := bits.Mul64(u, u)
	dl, borrow := bits.Sub64(pl, tl, 0)
	dh, borrow := bits.Sub64(ph, th, borrow)
	if borrow != 0 {
		return 0
	}
	return (float64(dh)*(1<<64) + float64(dl)) / float64(m)
}

// Between returns the sum of products of m >= 1 pairs of numbers about their own means, P − TU/m,
// from their sums T and U, within ±2^50, and the sum of their products P in two's complement 128
// bits. It is formed in integers when m < 2^16 and |P| < 2^110, in floats otherwise; inconsistent
// (saturated) columns give some number.
func Between(m, t, u int64, hi int64, lo uint64) float64 {
	if m >= 1<<16 || hi >= 1<<46 || hi < -1<<46 {
		p := float64(hi)*(1<<64) + float64(lo)
		return p - float64(float64(t)*float64(u))/float64(m)
	}
	ph, pl := bits.Mul64(lo, uint64(m))
	ph += uint64(hi) * uint64(m)
	th, tl := bits.Mul64(uint64(max(t, -t)), uint64(max(u, -u)))
	if t < 0 != (u < 0) {
		th, tl = negative(th, tl)
	}
	dl, borrow := bits.Sub64(pl, tl, 0)
	dh, _ := bits.Sub64(ph, th, borrow)
	sign := 1.0
	if int64(dh) < 0 {
		sign = -1
		dh, dl = negative(dh, dl)
	}
	return sign * (float64(dh)*(1<<64) + float64(dl)) / float64(m)
}

// negative is −x of a number of 128 bits in two's complement.
func negative(hi, lo uint64) (uint64, uint64) {
	lo, borrow := bits.Sub64(0, lo, 0)
	hi, _ = bits.Sub64(0, hi, borrow)
	return hi, lo
}

// Times returns x·rows within ±MaxUnits, for rows >= 1 and |x| <= MaxUnits.
func Times(x, rows int64) int64 {
	over, c := bits.Mul64(uint64(max(x, -x)), uint64(rows))
	if over > 0 || c > estimator.MaxUnits {
		c = estimator.MaxUnits
	}
	if x < 0 {
		return -int64(c)
	}
	return int64(c)
}
