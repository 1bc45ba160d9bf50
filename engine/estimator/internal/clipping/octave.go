package clipping

import "math/bits"

// maxBuckets is the number of octaves of totals up to 2^63.
const maxBuckets = 64

// Octave returns the bucket of a total v ≥ 1: the k with 2^(k−1) < v ≤ 2^k.
func Octave(v uint64) int { return min(bits.Len64(v-1), maxBuckets-1) }

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
