package cover

import (
	"cmp"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
)

// points are the persons' means by coordinates, in units and within the public range: columns[j][i]
// of person i.
type points [][]int64

// fromRows returns the points of one number a person. A person without rows has the middle of the
// range.
func fromRows(means scalar.Means, rows, sums []int64) points {
	middle, _ := means.Middle()
	x := make([]int64, len(rows))
	for i, m := range rows {
		if x[i] = middle; m > 0 {
			x[i] = means.Of(m, sums[i])
		}
	}
	return points{x}
}

// fromBlock returns the points of the persons in a block, dense or sparse.
func fromBlock(means scalar.Means, dim int, b *estimator.Block) points {
	out := make(points, dim)
	if b == nil || b.Dim != dim {
		return out
	}
	for _, c := range block.Means(b, means.Shift).Chunks {
		for i := range c.Persons {
			for j := range out {
				out[j] = append(out[j], min(max(entry(b, c, i, j), means.Lo), means.Hi))
			}
		}
	}
	return out
}

// entry returns coordinate j of person i.
func entry(b *estimator.Block, c estimator.Chunk, i, j int) int64 {
	if !b.Sparse {
		return c.Dense[i*b.Dim+j]
	}
	for e := c.Starts[i]; e < c.Starts[i+1]; e++ {
		if int(c.Index[e]) == j {
			if c.Values == nil {
				return 1
			}
			return c.Values[e]
		}
	}
	return 0
}

// exactly returns n points: the middle of the range stands for those who are missing, and of more
// than n the least are taken, by their first coordinate and then the second. Two lists that differ
// in one point give lists that differ in one at most: where a point is exchanged, or there is one
// more or less, the n least, or all and the middles, have at least n−1 in common.
func (x points) exactly(n int, middle int64) points {
	have := len(x[0])
	switch {
	case have < n:
		for j := range x {
			x[j] = append(x[j], slices.Repeat([]int64{middle}, n-have)...)
		}
	case have > n:
		order := make([]int, have)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int {
			for _, c := range x {
				if d := cmp.Compare(c[a], c[b]); d != 0 {
					return d
				}
			}
			return 0
		})
		out := make(points, len(x))
		for j := range out {
			for _, i := range order[:n] {
				out[j] = append(out[j], x[j][i])
			}
		}
		return out
	}
	return x
}
