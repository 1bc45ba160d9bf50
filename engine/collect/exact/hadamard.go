package exact

import (
	"fmt"
	"math/bits"
)

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
