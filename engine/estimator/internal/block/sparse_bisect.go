package block

import (
	"slices"
	"sync/atomic"

	"scrim/engine/estimator"
)

// sparseBisect is Bisect on a sparse block. The cells of each coordinate's entries are sorted once;
// the persons without an entry are all in the cell of 0, or of |0 − centre_j|, so that
//
//	#{cell ≤ m} = #{entries of j in cells ≤ m} + (n − entries of j)·[cell of 0 ≤ m]
//
// and a round costs O(d·log n) after O(nnz·log nnz).
func sparseBisect(b *estimator.Block, axis Axis, centre []int64, right func(j int, atMost int64) bool) []uint32 {
	cols := newColumns(b, axis, centre)
	s := newSearch(b.Dim, axis)
	return s.run(cols.atMost, right)
}

// columns holds the cells of a sparse block's entries, by coordinate.
type columns struct {
	persons int64
	starts  []int    // the cells of coordinate j are cells[starts[j]:starts[j+1]], sorted
	cells   []uint32 // nil where all entries are 1: one is then the cell of each
	one     []uint32
	zero    []uint32 // cell of a person without an entry
}

func newColumns(b *estimator.Block, axis Axis, centre []int64) *columns {
	c := &columns{persons: b.Persons(), starts: starts(b), one: make([]uint32, b.Dim), zero: make([]uint32, b.Dim)}
	cell := func(j int, v int64) uint32 {
		if centre != nil {
			v -= centre[j]
			v = max(v, -v)
		}
		return axis.Cell(v)
	}
	for j := range c.zero {
		c.zero[j], c.one[j] = cell(j, 0), cell(j, 1)
	}
	if slices.ContainsFunc(b.Chunks, func(ch estimator.Chunk) bool { return ch.Values != nil }) {
		c.fill(b, cell)
	}
	return c
}

// starts returns where each coordinate's entries begin when they stand coordinate by coordinate.
func starts(b *estimator.Block) []int {
	s := make([]int, b.Dim+1)
	for i := range b.Chunks {
		if ch := &b.Chunks[i]; ch.Persons > 0 {
			for _, j := range ch.Index[ch.Starts[0]:ch.Starts[ch.Persons]] {
				s[j+1]++
			}
		}
	}
	for j := range b.Dim {
		s[j+1] += s[j]
	}
	return s
}

// fill sets the cells and sorts them within each coordinate.
func (c *columns) fill(b *estimator.Block, cell func(j int, v int64) uint32) {
	c.cells = estimator.Make[uint32](b.Memory, c.starts[b.Dim])
	at := make([]atomic.Int64, b.Dim)
	rs := runs(b)
	spread(len(rs), func(next func() (int, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			r := rs[k]
			for e := r.chunk.Starts[r.from]; e < r.chunk.Starts[r.to]; e++ {
				j, v := int(r.chunk.Index[e]), int64(1)
				if r.chunk.Values != nil {
					v = r.chunk.Values[e]
				}
				c.cells[c.starts[j]+int(at[j].Add(1))-1] = cell(j, v)
			}
		}
	})
	spread(b.Dim, func(next func() (int, bool)) {
		for j, ok := next(); ok; j, ok = next() {
			slices.Sort(c.cells[c.starts[j]:c.starts[j+1]])
		}
	})
}

// atMost returns the number of persons whose cell of coordinate j is at most mid.
func (c *columns) atMost(j int, mid uint32) int64 {
	from, to := c.starts[j], c.starts[j+1]
	count := int64(0)
	switch {
	case c.cells != nil:
		k, _ := slices.BinarySearchFunc(c.cells[from:to], mid, func(cell, mid uint32) int {
			if cell <= mid {
				return -1
			}
			return 1
		})
		count = int64(k)
	case c.one[j] <= mid:
		count = int64(to - from)
	}
	if c.zero[j] <= mid {
		count += c.persons - int64(to-from)
	}
	return count
}
