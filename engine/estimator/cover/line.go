package cover

import (
	"slices"
	"sort"
)

// line holds the persons' projections on one direction, in ticks and in ascending order, with the
// sums of the first of them. A number is within ±2^37 and there are at most 2^24, so sums are
// within ±2^61.
type line struct {
	y    []int64
	sums []int64 // sums[i] = y[0] + … + y[i−1]
}

// newLine takes y over.
func newLine(y []int64) line {
	slices.Sort(y)
	sums := make([]int64, len(y)+1)
	for i, v := range y {
		sums[i+1] = sums[i] + v
	}
	return line{y, sums}
}

// score returns the least number of persons to exchange so that a candidate at the position at
// loses to the point ahead of it or to the one behind it, 2·threshold away on either side ([AKM25]
// Algorithm 5 and Definition 5.5 with one mean in the place of the median).
//
// With Z_i = clip(y_i − at, ±reach), it loses to the point ahead where Σ Z_i ≥ n·threshold. One
// exchange raises the sum the most where the least Z_i becomes reach, so the persons are taken from
// the lowest on until the sum suffices; with 0 < threshold < reach it does at the latest when all
// are. Behind it is the same with signs turned.
//
// Sensitivity: both numbers are Hamming distances of the list y to a set of lists of the same
// length, which depends on at, reach and threshold alone. They, and the less of them, change by at
// most 1 where one entry of y is any other. The order of y does not matter.
func (l line) score(at, reach, threshold int64) int64 {
	n := int64(len(l.y))
	i, _ := slices.BinarySearch(l.y, at-reach+1)
	j, _ := slices.BinarySearch(l.y, at+reach)
	// persons with Z = −reach, between, and Z = reach
	low, mid, high := int64(i), int64(j-i), n-int64(j)
	sum := reach*(high-low) + l.sums[j] - l.sums[i] - at*mid
	up := least(n*threshold-sum, low, mid, 2*reach, func(t int64) int64 {
		return t*(reach+at) - (l.sums[i+int(t)] - l.sums[i])
	})
	down := least(n*threshold+sum, high, mid, 2*reach, func(t int64) int64 {
		return t*(reach-at) + l.sums[j] - l.sums[j-int(t)]
	})
	return min(up, down)
}

// least returns the least number of exchanges that bring need, where the first ends bring whole
// each and t of the next mid bring gain(t), which does not fall.
func least(need, ends, mid, whole int64, gain func(t int64) int64) int64 {
	if need <= 0 {
		return 0
	}
	if t := (need + whole - 1) / whole; t <= ends {
		return t
	}
	need -= ends * whole
	return ends + 1 + int64(sort.Search(int(mid)-1, func(t int) bool { return gain(int64(t)+1) >= need }))
}
