package block

import (
	"scrim/engine/estimator"
)

// Bisect searches every coordinate's axis at once. centre nil: of the values x_ij; else of the distances
// |x_ij − centre_j|. In each round it asks, for each coordinate whose interval of cells has more than one
// cell, right(j, m) with m the number of persons whose cell is at most the interval's middle one: true goes on to the right
// of the middle, false keeps the left half with the middle. It returns the cell that is left.
//
// right is called at most axis.Rounds() times for a coordinate, in a fixed order that depends on its answers alone,
// from one goroutine. The counts change by at most 1 with one person, in either neighbour relation.
func Bisect(b *estimator.Block, axis Axis, centre []int64, right func(j int, atMost int64) bool) []uint32 {
	if b.Sparse {
		return sparseBisect(b, axis, centre, right)
	}
	lo, hi := make([]uint32, b.Dim), make([]uint32, b.Dim)
	for j := range hi {
		hi[j] = axis.Cells() - 1
	}
	for range axis.Rounds() {
		count := make([]int64, b.Dim)
		for _, ch := range b.Chunks {
			for i := range ch.Persons {
				for j, v := range ch.Dense[i*b.Dim : (i+1)*b.Dim] {
					if centre != nil {
						v -= centre[j]
						v = max(v, -v)
					}
					if axis.Cell(v) <= lo[j]+(hi[j]-lo[j])/2 {
						count[j]++
					}
				}
			}
		}
		for j := range lo {
			if lo[j] == hi[j] {
				continue
			}
			if mid := lo[j] + (hi[j]-lo[j])/2; right(j, count[j]) {
				lo[j] = mid + 1
			} else {
				hi[j] = mid
			}
		}
	}
	return lo
}
