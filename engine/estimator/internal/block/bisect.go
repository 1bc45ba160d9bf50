package block

import (
	"math/bits"

	"scrim/engine/estimator"
)

// Bisect searches every coordinate's axis at once. centre nil: of the values x_ij; else of the distances
// |x_ij − centre_j|. In each round it asks, for each coordinate whose interval of cells has more than one
// cell, right(j, m) with m the number of persons whose cell is at most split's: true goes on to the right
// of it, false keeps the left part with it. It returns the cell that is left.
//
// right is called at most axis.Rounds() times for a coordinate, round by round and in each in the order of the
// coordinates that are not done, from one goroutine: the order depends on its answers alone. The counts change by at most 1
// with one person, in either neighbour relation; they are exact, so neither the order of persons nor the number of cores matters.
//
// It does not read the block once a round. Persons are counted in a table of the cells' leading bits, which answers
// the first rounds; then those in each coordinate's interval are counted in a finer table, or taken out once they are
// few. So a search of 24 rounds reads the block two or three times, whatever the answers.
func Bisect(b *estimator.Block, axis Axis, centre []int64, right func(j int, atMost int64) bool) []uint32 {
	if b.Sparse {
		return sparseBisect(b, axis, centre, right)
	}
	s := newSearch(b, axis, centre)
	for range axis.Rounds() {
		s.count()
		for j := range s.at {
			if a := &s.at[j]; a.lo < a.hi {
				a.answer(split(a.lo, a.hi), right(j, a.below+a.atMost))
			}
		}
	}
	out := make([]uint32, b.Dim)
	for j, a := range s.at {
		out[j] = a.lo
	}
	return out
}

// split returns the last cell of the left part of an interval of cells: where their numbers first differ in binary. So
// the cells on a side are those that begin with some bits, and an axis of N cells is done in ⌈log2 N⌉ splits.
func split(lo, hi uint32) uint32 {
	half := uint32(1) << (bits.Len32(lo^hi) - 1)
	return hi&^(half-1) - 1
}

// search is the state of Bisect.
type search struct {
	b      *estimator.Block
	axis   Axis
	centre []int64
	at     []interval
	tables *tables // nil once the persons in the intervals are taken out

	started bool // whether an interval may be less than the axis
}

// interval is where the search of one coordinate has come to.
type interval struct {
	lo, hi uint32
	below  int64    // persons in cells under lo
	atMost int64    // persons in the cells from lo to the split
	inside int64    // persons in the cells from lo to hi
	cells  []uint32 // without tables: the cells of the persons inside; those up to the split are first
}

// answer goes on to one side of the split.
func (a *interval) answer(mid uint32, right bool) {
	cut := min(int(a.atMost), len(a.cells))
	if right {
		a.lo, a.cells = mid+1, a.cells[cut:]
		a.below, a.inside = a.below+a.atMost, a.inside-a.atMost
	} else {
		a.hi, a.cells, a.inside = mid, a.cells[:cut], a.atMost
	}
}

func newSearch(b *estimator.Block, axis Axis, centre []int64) *search {
	s := &search{b: b, axis: axis, centre: centre, at: make([]interval, b.Dim)}
	persons := b.Persons()
	for j := range s.at {
		s.at[j] = interval{hi: axis.last(), inside: persons}
	}
	s.tables = newTables(s)
	s.started = true
	return s
}

// fewShare is the share of the block's entries that may be taken out: reading an entry that is taken out costs
// about this many times as much as passing it over.
const fewShare = 16

// count sets atMost of the coordinates that are not done.
func (s *search) count() {
	if s.tables != nil && s.tables.fails(s.at) {
		if s.inside() <= s.b.Persons()*int64(s.b.Dim)/fewShare {
			s.tables = nil
			s.take()
		} else {
			s.tables = newTables(s)
		}
	}
	if s.tables != nil {
		s.tables.count(s.at)
		return
	}
	spread(len(s.at), func(next func() (int, bool)) {
		for j, ok := next(); ok; j, ok = next() {
			if a := &s.at[j]; a.lo < a.hi {
				a.atMost = int64(partition(a.cells, split(a.lo, a.hi)))
			}
		}
	})
}

// inside returns the number of entries in the intervals that are not done.
func (s *search) inside() (sum int64) {
	for j := range s.at {
		if a := &s.at[j]; a.lo < a.hi {
			sum += a.inside
		}
	}
	return sum
}

// partition moves the numbers that are at most mid to the front and returns how many they are. It does not branch on them.
func partition(x []uint32, mid uint32) int {
	n := 0
	for i, v := range x {
		x[i], x[n] = x[n], v
		n += int(uint64(int64(v)-int64(mid)-1) >> 63)
	}
	return n
}
