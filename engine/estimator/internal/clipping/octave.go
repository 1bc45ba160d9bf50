package clipping

import (
	"math"
	"math/bits"
)

// maxBuckets is the number of octaves of totals up to 2^63, and of squares of such.
const maxBuckets = 128

// Octave returns the bucket of a total v ≥ 1: the k with 2^(k−1) < v ≤ 2^k.
func Octave(v uint64) int { return bits.Len64(v - 1) }

// octaveOfSquare returns the bucket of v², of 1 where v is 0.
func octaveOfSquare(v uint64) int {
	hi, lo := bits.Mul64(max(v, 1), max(v, 1))
	if lo--; lo == math.MaxUint64 { // it was 0
		hi--
	}
	if hi > 0 {
		return min(64+bits.Len64(hi), maxBuckets-1)
	}
	return bits.Len64(lo)
}

// Histogram counts persons by the octave of their total: of those above 0 in Up, of those below in
// Down. A person whose total is 0 is in no bucket. Its zero value is empty.
type Histogram struct{ Up, Down [maxBuckets]int64 }

// Add counts a person with total v.
func (h *Histogram) Add(v int64) {
	switch {
	case v > 0:
		h.Up[Octave(uint64(v))]++
	case v < 0:
		h.Down[Octave(uint64(-v))]++
	}
}

// AddSquare counts a person with total v².
func (h *Histogram) AddSquare(v uint64) { h.Up[octaveOfSquare(v)]++ }
