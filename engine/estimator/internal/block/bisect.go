package block

import (
	"scrim/engine/estimator"
)

// Bisect searches every coordinate's axis at once. centre nil: of the values x_ij; else of the
// distances |x_ij − centre_j|, with entries and centre within ±2^61. In each round it asks, for
// each coordinate whose interval of cells has more than one cell, right(j, m) with m the number of
// persons whose cell is at most that at which the axis splits the interval: true goes on to the
// right of it, false keeps the left part with it. It returns the cell that is left.
//
// right is called at most axis.Rounds() times for a coordinate, round by round and in each in the
// order of the coordinates that are not done, from one goroutine: the order depends on its answers
// alone. The counts change by at most 1 with one person, in either neighbour relation; they are
// exact, so neither the order of persons nor the number of cores matters.
//
// A dense block is read once for six rounds or more, whatever the answers are, but for rare ones at
// the ends of the axis: see levels.
func Bisect(b *estimator.Block, axis Axis, centre []int64, right func(j int, atMost int64) bool) []uint32 {
	if b.Sparse {
		return sparseBisect(b, axis, centre, right)
	}
	l := newLevels(b, axis, centre)
	return l.run(l.atMost, right)
}

// search is where the search of every coordinate has come to: the cells from lo to hi.
type search struct {
	axis   Axis
	lo, hi []uint32
}

func newSearch(dim int, axis Axis) search {
	s := search{axis, make([]uint32, dim), make([]uint32, dim)}
	for j := range s.hi {
		s.hi[j] = uint32(axis.cells - 1)
	}
	return s
}

// run asks until one cell is left, where atMost is the number of persons whose cell is at most the
// given one: at which the coordinate's interval is split.
func (s *search) run(atMost func(j int, cell uint32) int64, right func(j int, atMost int64) bool) []uint32 {
	for range s.axis.Rounds() {
		for j := range s.lo {
			if s.lo[j] == s.hi[j] {
				continue
			}
			if mid := s.axis.split(s.lo[j], s.hi[j]); right(j, atMost(j, mid)) {
				s.lo[j] = mid + 1
			} else {
				s.hi[j] = mid
			}
		}
	}
	return s.lo
}

// numbers returns the cells of a coordinate's interval, counted from the cell of 0.
func (s *search) numbers(j int) (from, to int64) {
	return int64(s.lo[j]) + s.axis.first, int64(s.hi[j]) + s.axis.first
}
