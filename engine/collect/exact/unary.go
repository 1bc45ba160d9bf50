package exact

import (
	"encoding/binary"
	"fmt"
)

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
