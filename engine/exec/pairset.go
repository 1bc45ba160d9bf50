package exec

import (
	"slices"

	"scrim/internal/spill"
)

// pairSet is the distinct pairs of one group, each a number person·dim + coordinate. A pair may
// arrive any number of times: whenever as many pairs have arrived as are known to be distinct, they
// are sorted and merged into those, so that at most about twice the distinct pairs are held, and
// rows that repeat what is known take no more memory. Every pair is sorted once, and merged as
// often as the set doubles after it: O(n) in all, but for small sets.
type pairSet struct {
	known   []uint64   // sorted and distinct
	fresh   [][]uint64 // runs of pairs as they arrived
	arrived int        // pairs of the runs
}

// A run holds as many pairs as there are already, within these bounds.
const (
	firstPairs = 64
	runPairs   = 1 << 16
)

func (s *pairSet) add(pair uint64, memory *spill.Area) error {
	last := len(s.fresh) - 1
	if last < 0 || len(s.fresh[last]) == cap(s.fresh[last]) {
		if err := s.grow(memory); err != nil {
			return err
		}
		last = len(s.fresh) - 1
	}
	s.fresh[last] = append(s.fresh[last], pair)
	s.arrived++
	return nil
}

// grow makes room for another run. All runs are full.
func (s *pairSet) grow(memory *spill.Area) error {
	if s.arrived >= max(len(s.known), 2*firstPairs) {
		if err := s.compact(memory); err != nil {
			return err
		}
	}
	run, err := room[uint64](memory, min(max(len(s.known)+s.arrived, firstPairs), runPairs))
	s.fresh = append(s.fresh, run[:0])
	return err
}

// compact brings what has arrived to what is known.
func (s *pairSet) compact(memory *spill.Area) error {
	fresh, err := joined(s.fresh, s.arrived, memory)
	if err != nil {
		return err
	}
	s.fresh, s.arrived = nil, 0
	other, err := room[uint64](memory, len(fresh))
	if err != nil {
		return err
	}
	sortKeys(fresh, other)
	free(memory, other)
	fresh = slices.Compact(fresh)
	if len(s.known) == 0 {
		s.known = fresh
		return nil
	}
	all, err := room[uint64](memory, len(s.known)+len(fresh))
	if err != nil {
		return err
	}
	before := s.known
	s.known = union(all[:0], before, fresh)
	free(memory, before)
	free(memory, fresh)
	return nil
}

// sorted returns the pairs in order, each once. The set is of no use after it.
func (s *pairSet) sorted(memory *spill.Area) ([]uint64, error) {
	err := s.compact(memory)
	return s.known, err
}

// union appends the numbers that are in a or b to dst. Each is sorted and has every number once,
// and so has the result.
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

// joined puts runs of so many pairs into one, and gives them back.
func joined(runs [][]uint64, pairs int, memory *spill.Area) ([]uint64, error) {
	out, err := room[uint64](memory, pairs)
	if err != nil {
		return nil, err
	}
	at := 0
	for _, r := range runs {
		at += copy(out[at:], r)
		free(memory, r)
	}
	return out, nil
}
