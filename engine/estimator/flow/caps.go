package flow

import (
	"math/bits"
	"slices"
)

// perOctave is the number of caps from a power of two to the next, from 8 on.
const perOctave = 8

// capsUpTo returns the caps that may be chosen, ascending, and the caps that these are compared
// with: 1, 2, … 15, and m·2^j with 8 <= m < 16, up to twice the power of two that limit is at most.
// They hold the double of every cap that may be chosen. The choice is among the first n.
func capsUpTo(limit int64) (caps []int64, n int) {
	top := int64(1) << bits.Len64(uint64(max(limit, 1)-1))
	for c := int64(1); c < 2*perOctave && c <= 2*top; c++ {
		caps = append(caps, c)
	}
	for c, step := int64(2*perOctave), int64(2); c <= 2*top; c += step {
		if caps = append(caps, c); c == step*2*perOctave {
			step *= 2
		}
	}
	n, _ = slices.BinarySearch(caps, top)
	return caps, n + 1
}

// double is the place of the double of cap number i.
func double(i int) int {
	if i < perOctave {
		return 2*i + 1
	}
	return i + perOctave
}
