package block

import (
	"scrim/engine/estimator"
)

// Bisect searches every coordinate's axis at once. centre nil: of the values x_ij; else of the distances
// |x_ij − centre_j|. In each round it asks, for each coordinate whose interval of cells has more than one
// cell, right(j, m) with m the number of persons whose cell is at most that at which the axis splits the interval: true
// goes on to the right of it, false keeps the left part with it. It returns the cell that is left.
//
// right is called at most axis.Rounds() times for a coordinate, round by round and in each in the order of the
// coordinates that are not done, from one goroutine: the order depends on its answers alone. The counts change by at most 1
// with one person, in either neighbour relation; they are exact, so neither the order of persons nor the number of cores matters.
//
// It does not read the block once a round: where cells are few it counts them all (counted), otherwise it guesses from a sample of the persons what will be asked: see view. The
// guess is that of a search for about the median; another one reads the block again for the coordinates that
// leave it. The guess decides how long it takes and nothing else.
func Bisect(b *estimator.Block, axis Axis, centre []int64, right func(j int, atMost int64) bool) []uint32 {
	if b.Sparse {
		return sparseBisect(b, axis, centre, right)
	}
	if countable(b, axis) {
		return counted(b, axis, centre, right)
	}
	s := &search{b: b, axis: axis, centre: centre, at: make([]interval, b.Dim)}
	for j := range s.at {
		s.at[j].hi = uint32(axis.cells - 1)
	}
	s.views = look(b, axis, centre)
	for range axis.Rounds() {
		s.count()
		for j := range s.at {
			if a := &s.at[j]; a.lo < a.hi {
				a.answer(axis.split(a.lo, a.hi), right(j, a.below+a.atMost))
			}
		}
	}
	out := make([]uint32, b.Dim)
	for j := range out {
		out[j] = s.at[j].lo
	}
	return out
}

// search is the state of Bisect.
type search struct {
	b      *estimator.Block
	axis   Axis
	centre []int64
	at     []interval
	views  []view
}

// interval is where the search of one coordinate has come to.
type interval struct {
	lo, hi uint32
	below  int64   // persons in cells under lo
	atMost int64   // persons in the cells from lo to the split
	taken  bool    // whether values is set
	values []int64 // of the persons inside; after count, those left of the split are first
}

// answer goes on to one side of the split.
func (a *interval) answer(mid uint32, right bool) {
	cut := 0
	if a.taken {
		cut = int(a.atMost)
	}
	if right {
		a.lo, a.below, a.values = mid+1, a.below+a.atMost, a.values[cut:]
	} else {
		a.hi, a.values = mid, a.values[:cut]
	}
}

// count sets atMost of the coordinates that are not done.
func (s *search) count() {
	missing := make([]bool, len(s.at))
	spread(len(s.at), func(next func() (int, bool)) {
		for j, ok := next(); ok; j, ok = next() {
			missing[j] = s.at[j].lo < s.at[j].hi && !s.countOne(j)
		}
	})
	var again []int
	for j, m := range missing {
		if m {
			again = append(again, j)
		}
	}
	if len(again) == 0 {
		return
	}
	s.take(again)
	spread(len(again), func(next func() (int, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			s.countOne(again[k])
		}
	})
}

// countOne sets atMost of a coordinate, or returns false where the persons inside must be looked for in the block first.
func (s *search) countOne(j int) bool {
	a := &s.at[j]
	limit := s.axis.lowest(int64(s.axis.split(a.lo, a.hi)) + 1)
	if !a.taken {
		a.values, a.taken = s.views[j].values(s.bounds(a))
	}
	if a.taken {
		a.atMost = int64(partition(a.values, limit))
		return true
	}
	under, ok := s.views[j].under(limit)
	a.atMost = under - a.below
	return ok
}

// bounds returns the values from which and to which an interval reaches: from ≤ v < to. The ends of the axis reach to those of the integers.
func (s *search) bounds(a *interval) (from, to int64) {
	from, to = -1<<63, 1<<63-1
	if a.lo > 0 {
		from = s.axis.lowest(int64(a.lo))
	}
	if int64(a.hi) < s.axis.cells-1 {
		to = s.axis.lowest(int64(a.hi) + 1)
	}
	return from, to
}

// partition moves the numbers under limit to the front and returns how many they are. It does not branch on them.
func partition(x []int64, limit int64) int {
	n := 0
	for i, v := range x {
		x[i], x[n] = x[n], v
		n += below(uint64(v)^1<<63, uint64(limit)^1<<63)
	}
	return n
}
