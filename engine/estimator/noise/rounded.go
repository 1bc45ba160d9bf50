package noise

import (
	"math/big"
	"math/bits"
)

// Rounded returns a Noiser that draws like n, but for Gaussian noise: x + round(N(0, s²)) in the
// place of x + N_Z(0, σ²), where s >= σ is the least multiple of a power of two with 56 significant
// bits, so that s² <= σ²·(1+2^-54).
//
// For a vector of integers x that is round(x + N(0, s²·I)), coordinate by coordinate:
// post-processing of the Gaussian mechanism. So whatever the data, the release is μ-GDP for μ =
// Δ₂/σ, and Δ₂²/(2σ²)-zCDP; N_Z(0, σ²) has the second only. Its variance is at most s² + 1/12.
//
// The law is exact. A normal number is drawn by [Kar16] Algorithm N, as an integer and a fraction
// of which as many bits are drawn as its decisions take; each decision is one of integers, and what
// the bits leave open is decided by more of them. The result is no float that stands for the normal
// number, and rounded once more, but the integer next to the number itself.
func Rounded(n Noiser) Noiser { return &rounder{Noiser: n, bits: wordsOf{n}} }

// wordsOf reads the uniform bits of a Noiser.
type wordsOf struct{ n Noiser }

// Uint64 implements Bits.
func (w wordsOf) Uint64() uint64 { return w.n.Uniform() }

// rounder implements Noiser. What is not Gaussian noise is the embedded Noiser's.
type rounder struct {
	Noiser
	bits Bits
	// the scale of the last variance: groups ask for the same one again and again
	last  Variance
	scale scale
	num   uint64   // of scale
	more  []uint64 // of the fraction of the last normal number, for reuse
	// slow decides everything by big integers: tests compare both ways
	slow bool
}

// scale is s = num/2^shift.
type scale struct {
	num   *big.Int // at most 2^scaleBits where the shift is above 0
	shift uint     // below scaleBits
}

const scaleBits = 56

// newScale returns the least such s with s² >= sigma2 > 0.
func newScale(sigma2 *big.Int) scale {
	if sigma2.Sign() <= 0 {
		panic("noise: variance must be positive")
	}
	// num = ⌈√(σ²·4^shift)⌉
	whole := (sigma2.BitLen() + 1) / 2 // σ < 2^whole
	shift := uint(max(0, scaleBits-whole))
	want := new(big.Int).Lsh(sigma2, 2*shift)
	num := new(big.Int).Sqrt(want)
	if new(big.Int).Mul(num, num).Cmp(want) < 0 {
		num.Add(num, one)
	}
	return scale{num, shift}
}

// Gaussian implements Noiser. It panics if sigma2 <= 0.
func (r *rounder) Gaussian(v, sigma2 *big.Int) *big.Int {
	if sigma2.BitLen() <= fastBits && sigma2.Sign() > 0 {
		return new(big.Int).Add(v, big.NewInt(r.noise(variance(sigma2))))
	}
	s := newScale(sigma2)
	return new(big.Int).Add(v, r.signed(&s))
}

// GaussianInt implements Noiser. It panics if sigma2 = 0.
func (r *rounder) GaussianInt(v int64, sigma2 Variance) int64 {
	if sigma2.Hi>>(fastBits-64) == 0 {
		return saturatingAdd(v, r.noise(sigma2))
	}
	s := newScale(sigma2.Big())
	y := r.signed(&s)
	return Saturating(y.Add(y, big.NewInt(v)))
}

// noise draws round(N(0, s²)) for σ < 2^51. Beyond 2^63, which takes a normal number above 4000, it
// saturates: a map of what was drawn.
func (r *rounder) noise(sigma2 Variance) int64 {
	if r.last != sigma2 || r.scale.num == nil {
		r.last, r.scale = sigma2, newScale(sigma2.Big())
		r.num = r.scale.num.Uint64()
	}
	y := r.draw()
	if size, ok := y.rounded(r.num, r.scale.shift); ok && !r.slow {
		if r.bits.Uint64()>>63 == 1 {
			return -int64(size)
		}
		return int64(size)
	}
	return Saturating(r.sign(r.roundedExactly(&y, &r.scale)))
}

// signed is noise for every variance.
func (r *rounder) signed(s *scale) *big.Int {
	y := r.draw()
	return r.sign(r.roundedExactly(&y, s))
}

// sign returns size or -size, with an even chance.
func (r *rounder) sign(size *big.Int) *big.Int {
	if r.bits.Uint64()>>63 == 1 {
		size.Neg(size)
	}
	return size
}

// half is the magnitude of a normal number: whole + x, where x in [0, 1) begins with the 64 bits
// first, and goes on with those of more.
type half struct {
	whole uint64
	first uint64
	more  []uint64
}

// draw draws the magnitude of a unit normal number, [Kar16] Algorithm N:
//
//	k    with probability proportional to e^{-k/2}
//	     accepted with probability e^{-k(k-1)/2}
//	x    uniform in [0, 1)
//	     accepted with probability e^{-x(2k+x)/2} = (e^{-θ})^{k+1}, θ = x(2k+x)/(2k+2) < 1
//
// The density of k+x is then proportional to the product, e^{-(k+x)²/2}. A refusal begins anew.
func (r *rounder) draw() half {
	for {
		k := uint64(0)
		for r.halfExp() {
			k++
		}
		if !r.halfExps(k * (k - 1)) { // k = 0: 0·(2^64−1) = 0
			continue
		}
		y := half{whole: k, first: r.bits.Uint64(), more: r.more[:0]}
		ok := r.accept(&y)
		r.more = y.more
		if ok {
			return y
		}
	}
}

// halfExps returns true with probability e^{-n/2}.
func (r *rounder) halfExps(n uint64) bool {
	for ; n > 0; n-- {
		if !r.halfExp() {
			return false
		}
	}
	return true
}

// halfExp returns true with probability e^{-1/2}, [CKS20] Algorithm 1: with j trials
// Bernoulli(1/2j), j = 1, 2, …, up to the first failure, the result is whether their number is odd.
// A uniform real is below 1/2j iff its product with 2j is below 1; the 64 bits u say so unless u·2j
// < 2^64 < (u+1)·2j.
func (r *rounder) halfExp() bool {
	for j := uint64(1); ; j++ {
		u := r.bits.Uint64()
		hi, lo := bits.Mul64(u, 2*j)
		success := hi == 0
		if success && lo > -(2*j) {
			success = bigCompare(r.bits, u, one, new(big.Int).SetUint64(2*j))
		}
		if !success {
			return j&1 == 1
		}
	}
}

// accept returns true with probability e^{-x(2k+x)/2}: k+1 times e^{-θ}.
//
// θ·2^64 lies in [low, low+3]: with X = first, x lies in [X, X+1]·2^-64, so x(2k+x)·2^64 is at
// least 2kX + ⌊X²/2^64⌋ and at most 2k+3 more than that, which makes less than 2 of the quotient,
// and less than 1 is lost by rounding the quotient down.
func (r *rounder) accept(y *half) bool {
	k := y.whole
	if k >= 1<<31 { // not in the life of a universe
		return false
	}
	square, _ := bits.Mul64(y.first, y.first)
	hi, lo := bits.Mul64(2*k, y.first)
	lo, carry := bits.Add64(lo, square, 0)
	low, _ := bits.Div64(hi+carry, lo, 2*k+2) // hi+carry <= 2k
	for range k + 1 {
		if !r.expTheta(y, low) {
			return false
		}
	}
	return true
}

// expTheta returns true with probability e^{-θ}, [CKS20] Algorithm 1 with trials Bernoulli(θ/j). A
// uniform w that begins with the 64 bits u is compared with θ/j: u·j and (u+1)·j with θ·2^64.
func (r *rounder) expTheta(y *half, low uint64) bool {
	for j := uint64(1); ; j++ {
		u := r.bits.Uint64()
		hi, lo := bits.Mul64(u, j)
		success := false
		switch high, carry := bits.Add64(low, 3, 0); {
		case r.slow:
			success = r.below(y, u, j)
		case hi > 0 || carry == 0 && lo >= high:
		case lo < low && low-lo >= j:
			success = true
		default:
			success = r.below(y, u, j)
		}
		if !success {
			return j&1 == 1
		}
	}
}

// below decides whether w·j < θ, of a uniform real w that begins with the 64 bits u: whether
// w·j(2k+2) < x(2k+x). With n words, W and X, of w and of x both sides lie in intervals; more words
// are drawn until these do not meet.
func (r *rounder) below(y *half, u, j uint64) bool {
	factor := new(big.Int).SetUint64(j)
	factor.Mul(factor, new(big.Int).SetUint64(2*y.whole+2))
	w := new(big.Int).SetUint64(u)
	x := new(big.Int).SetUint64(y.first)
	for n := uint(1); ; n++ {
		// both times 2^(128n)
		left := new(big.Int).Mul(w, factor)
		leftTop := new(big.Int).Add(left, factor)
		left.Lsh(left, 64*n)
		leftTop.Lsh(leftTop, 64*n)
		twice := new(big.Int).Lsh(new(big.Int).SetUint64(2*y.whole), 64*n)
		right := new(big.Int).Add(twice, x)
		right.Mul(right, x)
		top := new(big.Int).Add(x, one)
		rightTop := new(big.Int).Add(twice, top)
		rightTop.Mul(rightTop, top)
		if leftTop.Cmp(right) <= 0 {
			return true
		}
		if left.Cmp(rightTop) >= 0 {
			return false
		}
		w.Lsh(w, 64).Or(w, new(big.Int).SetUint64(r.bits.Uint64()))
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(r.word(y, int(n)-1)))
	}
}

// word returns word i of what follows the first of the fraction, and draws it if nobody has.
func (r *rounder) word(y *half, i int) uint64 {
	for len(y.more) <= i {
		y.more = append(y.more, r.bits.Uint64())
	}
	return y.more[i]
}

// rounded returns the integer next to s·y, s = num/2^shift, where the first 64 bits of the fraction
// decide it.
//
//	⌊s·y + 1/2⌋ = ⌊(num·y + 2^(shift−1)) / 2^shift⌋
//
// and num·y·2^64 lies in [a, a+num) for a = num·(k·2^64 + X): both ends must have one quotient. For
// σ < 2^51 the shift is at least 5. num <= 2^56 and k < 64 keep all below 2^127.
func (y *half) rounded(num uint64, shift uint) (uint64, bool) {
	if y.whole >= 64 {
		return 0, false
	}
	hi, lo := bits.Mul64(num, y.first)
	hi += num*y.whole + 1<<(shift-1)
	_, carry := bits.Add64(lo, num-1, 0)
	return hi >> shift, (hi+carry)>>shift == hi>>shift
}

// roundedExactly is rounded for every scale, with as many bits of the fraction as it takes.
func (r *rounder) roundedExactly(y *half, s *scale) *big.Int {
	x := new(big.Int).SetUint64(y.whole)
	x.Lsh(x, 64).Add(x, new(big.Int).SetUint64(y.first))
	for n := uint(1); ; n++ {
		// twice (N·y·2^64n + 2^(shift−1)·2^64n), for the half step of an integral scale
		low := new(big.Int).Mul(s.num, x)
		low.Lsh(low, 1).Add(low, new(big.Int).Lsh(one, s.shift+64*n))
		top := new(big.Int).Lsh(s.num, 1)
		top.Add(top, low).Sub(top, one)
		low.Rsh(low, s.shift+64*n+1)
		top.Rsh(top, s.shift+64*n+1)
		if low.Cmp(top) == 0 {
			return low
		}
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(r.word(y, int(n)-1)))
	}
}
