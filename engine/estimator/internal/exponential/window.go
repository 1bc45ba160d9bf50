package exponential

import (
	"math"
	"math/bits"
	"slices"

	"scrim/engine/estimator"
)

// faded is the product of rate and distance from which on all weights are alike: under a unit of
// 2^-192, so 0, or in a pure choice the least weight.
const faded = 134 // 192·ln 2 = 133.08…

// window is the part of a list of cells in which the weights of a choice differ.
type window struct {
	runs  []run
	below int64 // number of cells under the first run
	all   int64 // number of cells in the list
}

// near returns the window of a quantile, whatever the order of cells. In a choice, what is under
// the window counts as a gap under the first run, and what is over it as one over the last: each
// point there is at least faded/rate from the target and has the weight that the point has by
// itself.
//
// Cost: a few passes over the cells, and a sort of those in the window, whose ranks are within
// faded/rate of the target.
func (q *Quantile) near(m estimator.Memory, cells []uint32) window {
	w := window{all: int64(len(cells))}
	if len(cells) == 0 {
		return w
	}
	far := math.Min(math.Ceil(faded/(q.rate*float64(q.den)))+1, 1<<60) // in values
	target := q.target(w.all) / q.den
	first, last := min(max(0, target-int64(far)), w.all-1), min(w.all-1, target+int64(far)+1)
	lo, hi := nth(cells, first), nth(cells, last)
	inside := estimator.Make[uint32](m, int(last-first+1))[:0]
	for _, c := range cells {
		switch {
		case c < lo:
			w.below++
		case c <= hi:
			inside = append(estimator.Grow(m, inside, 1), c)
		}
	}
	slices.Sort(inside)
	w.runs = runs(m, nil, inside)
	estimator.Free(m, inside)
	return w
}

// nth returns the entry that would be at place k of the sorted list.
func nth(cells []uint32, k int64) uint32 {
	shift := bits.Len32(slices.Max(cells))
	prefix, known := uint32(0), uint32(0) // the digits found so far, and where they are
	for shift > 0 {
		width := min(shift, 11)
		shift -= width
		var counts [1 << 11]int64
		mask := uint32(1)<<width - 1
		for _, c := range cells {
			if c&known == prefix {
				counts[c>>shift&mask]++
			}
		}
		d := 0
		for ; counts[d] <= k; d++ {
			k -= counts[d]
		}
		prefix |= uint32(d) << shift
		known |= mask << shift
	}
	return prefix
}
