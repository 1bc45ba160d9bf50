package exact

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// BinaryResponse is randomised response on one bit: it tells the truth with probability p =
// K1/2^62.
//
// Privacy: of the two rows (p, 1−p) and (1−p, p) the ratios are at most p/(1−p) = K1/(2^62 − K1) <=
// e^ε. It is ε²/2-zCDP as any ε-DP law is [BS16, Proposition 1.4].
type BinaryResponse struct{ keep uint64 }

// NewBinaryResponse returns the randomiser of ε.
func NewBinaryResponse(eps Epsilon) (BinaryResponse, error) {
	if err := eps.Check(); err != nil {
		return BinaryResponse{}, err
	}
	return BinaryResponse{KeepBinary(eps)}, nil
}

// Randomize returns the report of a bit.
func (b BinaryResponse) Randomize(r *Rand, bit bool) bool { return r.Bernoulli62(b.keep) == bit }

// Keep returns K1.
func (b BinaryResponse) Keep() uint64 { return b.keep }

// BitMean sends one bit of mean i/M through BinaryResponse: 1 with probability i/M, then
// randomised.
//
// Privacy: the law of each input is a mixture of the two rows of BinaryResponse, and so are all
// ratios at most e^ε.
type BitMean struct {
	BinaryResponse
	steps uint64
}

// NewBitMean returns the randomiser of fractions i/steps, steps >= 1.
func NewBitMean(eps Epsilon, steps uint64) (BitMean, error) {
	if steps == 0 {
		return BitMean{}, fmt.Errorf("exact: want a step at least")
	}
	b, err := NewBinaryResponse(eps)
	return BitMean{b, steps}, err
}

// Randomize returns the report of the fraction i/M; i > M counts as M.
func (b BitMean) Randomize(r *Rand, i uint64) bool {
	return b.BinaryResponse.Randomize(r, r.Uniform(b.steps) < i)
}

// KaryResponse is randomised response on one of k values: it tells the truth with probability p =
// Kk/2^62, and each other value with probability o = (1 − p)/(k − 1).
//
// Privacy: every output has probability p or o under each value, and p/o = Kk·(k−1)/(2^62 − Kk) <=
// e^ε. It is ε²/2-zCDP as any ε-DP law is [BS16, Proposition 1.4].
type KaryResponse struct{ k, keep uint64 }

// NewKaryResponse returns the randomiser of k values, 2 <= k <= MaxKary.
func NewKaryResponse(eps Epsilon, k uint64) (KaryResponse, error) {
	if err := checkKary(eps, k); err != nil {
		return KaryResponse{}, err
	}
	return KaryResponse{k, KeepKary(eps, k)}, nil
}

// Randomize returns the report of value v in [0, k); a larger v counts as k−1.
func (c KaryResponse) Randomize(r *Rand, v uint64) uint64 {
	v = min(v, c.k-1)
	truth, other := r.Bernoulli62(c.keep), r.Uniform(c.k-1)
	switch {
	case truth:
		return v
	case other >= v:
		return other + 1
	}
	return other
}

// Keep returns Kk.
func (c KaryResponse) Keep() uint64 { return c.keep }

// MaxUnary bounds the D of UnaryEncoding.
const MaxUnary = 1 << 20

// UnaryEncoding reports one of D values by D bits (optimised unary encoding [WBLJ17]): the value's
// own bit is a fair coin, every other bit is 1 with probability q = Q/2^62.
//
//	bit i is bit 7 − i mod 8 of byte ⌊i/8⌋; what the last byte has beyond bit D−1 is 0
//
// Privacy: values v and w differ in the law of bits v and w only. With q(1) = q and q(0) = 1 − q, a
// report has the likelihood ratio q(bit w)/q(bit v); it is largest, (1−q)/q = (2^62 − Q)/Q <= e^ε,
// where bit v is 1 and bit w is 0. It is ε²/4-zCDP: each of the two bits has a log-ratio of range
// ln((1−q)/q) <= ε, a law of bounded range ε is ε²/8-zCDP [CR21], and they are independent.
type UnaryEncoding struct{ d, flip uint64 }

// NewUnaryEncoding returns the randomiser of d values, 2 <= d <= MaxUnary.
func NewUnaryEncoding(eps Epsilon, d uint64) (UnaryEncoding, error) {
	if err := eps.Check(); err != nil {
		return UnaryEncoding{}, err
	}
	if d < 2 || d > MaxUnary {
		return UnaryEncoding{}, fmt.Errorf("exact: want from 2 to %d values, have %d", MaxUnary, d)
	}
	return UnaryEncoding{d, FlipUnary(eps)}, nil
}

// Size returns the bytes of a report.
func (u UnaryEncoding) Size() int { return int((u.d + 7) / 8) }

// Randomize returns the report of value v in [0, D); a larger v counts as D−1.
func (u UnaryEncoding) Randomize(r *Rand, v uint64) []byte {
	report := make([]byte, u.Size())
	u.RandomizeTo(report, r, v)
	return report
}

// RandomizeTo is Randomize into dst, which has Size bytes; it panics otherwise.
func (u UnaryEncoding) RandomizeTo(dst []byte, r *Rand, v uint64) {
	if len(dst) != u.Size() {
		panic("exact: report length mismatch")
	}
	for rest := dst; len(rest) > 0; rest = rest[min(8, len(rest)):] {
		var word [8]byte
		binary.BigEndian.PutUint64(word[:], r.sixtyFour(u.flip))
		copy(rest, word[:])
	}
	v = min(v, u.d-1)
	place := byte(0x80) >> (v % 8)
	dst[v/8] &^= place
	if r.Coin() {
		dst[v/8] |= place
	}
	if over := u.d % 8; over != 0 {
		dst[len(dst)-1] &= 0xff << (8 - over)
	}
}

// Flip returns Q.
func (u UnaryEncoding) Flip() uint64 { return u.flip }

// MaxHadamard bounds the D of Hadamard: an index is three bytes.
const MaxHadamard = 1 << 24

// Hadamard reports a sign s and one of D values, a power of two, by one bit of the Walsh-Hadamard
// transform of s at v: a uniform index j, and s·(−1)^|j∧v| through BinaryResponse, |x| the number
// of ones.
//
// Privacy: j is independent of the input, and given j the bit is that of BinaryResponse, so all
// ratios are at most e^ε; the zCDP loss is that of BinaryResponse.
type Hadamard struct {
	bit BinaryResponse
	d   uint64
}

// NewHadamard returns the randomiser of d values, a power of two from 1 to MaxHadamard.
func NewHadamard(eps Epsilon, d uint64) (Hadamard, error) {
	if bits.OnesCount64(d) != 1 || d > MaxHadamard {
		return Hadamard{}, fmt.Errorf("exact: want a power of two up to %d values, have %d", MaxHadamard, d)
	}
	b, err := NewBinaryResponse(eps)
	return Hadamard{b, d}, err
}

// Randomize returns the report of a sign, negative or not, at value v in [0, D): an index in [0,
// D), and a bit that stands for +1. A larger v counts as D−1.
func (h Hadamard) Randomize(r *Rand, negative bool, v uint64) (index uint64, bit bool) {
	index = r.Uniform(h.d)
	return index, h.bit.Randomize(r, Walsh(index, min(v, h.d-1)) != negative)
}

// Walsh tells whether (−1)^|j∧v| is +1.
func Walsh(j, v uint64) bool { return bits.OnesCount64(j&v)&1 == 0 }

// Bit returns the randomiser of the bit, with K1.
func (h Hadamard) Bit() BinaryResponse { return h.bit }
