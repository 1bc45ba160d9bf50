package exec

import "slices"

// pairSet is the distinct pairs of one group, each a number person·dim + coordinate. A pair may arrive any number of
// times: whenever as many pairs have arrived as are known to be distinct, they are sorted and merged into those, so that
// at most about twice the distinct pairs are held, and rows that repeat what is known take no more memory. Every pair is
// sorted once, and merged as often as the set doubles after it: O(n) in all, but for small sets.
type pairSet struct {
	known   []uint64   // sorted and distinct
	fresh   [][]uint64 // runs of pairs as they arrived
	arrived int        // pairs of the runs
	taken   int        // pairs that room is taken for
}

// A run holds as many pairs as there are already, within these bounds.
const (
	firstPairs = 64
	runPairs   = 1 << 16
)

// heldPair is what a pair counts for: itself and a copy while it is sorted or merged; what is made of it in the end
// takes less.
const heldPair = 2 * 8

func (s *pairSet) add(pair uint64, space *room) error {
	last := len(s.fresh) - 1
	if last < 0 || len(s.fresh[last]) == cap(s.fresh[last]) {
		if err := s.grow(space); err != nil {
			return err
		}
		last = len(s.fresh) - 1
	}
	s.fresh[last] = append(s.fresh[last], pair)
	s.arrived++
	return nil
}

// grow makes room for another run. All runs are full.
func (s *pairSet) grow(space *room) error {
	if s.arrived >= max(len(s.known), 2*firstPairs) {
		s.compact()
		space.give(int64(s.taken-len(s.known)) * heldPair)
		s.taken = len(s.known)
	}
	n := min(max(len(s.known)+s.arrived, firstPairs), runPairs)
	if err := space.take(int64(n) * heldPair); err != nil {
		return err
	}
	s.taken += n
	s.fresh = append(s.fresh, make([]uint64, 0, n))
	return nil
}

// compact brings what has arrived to what is known.
func (s *pairSet) compact() {
	fresh := joined(s.fresh)
	s.fresh, s.arrived = nil, 0
	sortKeys(fresh)
	fresh = slices.Compact(fresh)
	if len(s.known) == 0 {
		s.known = fitted(fresh)
		return
	}
	s.known = fitted(union(make([]uint64, 0, len(s.known)+len(fresh)), s.known, fresh))
}

// sorted returns the pairs in order, each once. The set is of no use after it.
func (s *pairSet) sorted() []uint64 {
	s.compact()
	return s.known
}

// union appends the numbers that are in a or b to dst. Each is sorted and has every number once, and so has the result.
func union(dst, a, b []uint64) []uint64 {
	for len(a) > 0 && len(b) > 0 {
		x, y := a[0], b[0]
		dst = append(dst, min(x, y))
		if x <= y {
			a = a[1:]
		}
		if y <= x {
			b = b[1:]
		}
	}
	return append(append(dst, a...), b...)
}

// fitted returns keys without the memory behind them, where that is much.
func fitted(keys []uint64) []uint64 {
	if cap(keys)-len(keys) > len(keys)/16 {
		return append(make([]uint64, 0, len(keys)), keys...)
	}
	return keys
}

func joined(runs [][]uint64) []uint64 {
	n := 0
	for _, r := range runs {
		n += len(r)
	}
	out := make([]uint64, 0, n)
	for i, r := range runs {
		out = append(out, r...)
		runs[i] = nil
	}
	return out
}
