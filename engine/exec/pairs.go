package exec

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/internal/spill"
	"scrim/planner/plan"
)

// pairs makes sparse blocks of rows that each name one coordinate of a person: it is 1 there,
// however often it comes. Numbers outside [0, dim), NULL and rows of nobody are absent.
type pairs struct {
	column int
	dim    int
	groups []pairSet
	memory *spill.Area
}

func newPairs(column int, v *plan.Vector, memory *spill.Area) (*pairs, error) {
	if v.Dim > math.MaxInt32 {
		return nil, fmt.Errorf("exec: pairs of %d coordinates", v.Dim)
	}
	return &pairs{column: column, dim: v.Dim, memory: memory}, nil
}

func (p *pairs) resize(groups int) {
	for len(p.groups) < groups {
		p.groups = append(p.groups, pairSet{})
	}
}

func (p *pairs) add(ch store.Chunk, of origin) error {
	v := &ch.Columns[p.column]
	for i, k := range v.Ints {
		if v.Null != nil && v.Null[i] || k < 0 || k >= int64(p.dim) || of.persons[i] < 0 {
			continue
		}
		if err := p.groups[of.groups[i]].add(uint64(of.persons[i])*uint64(p.dim)+uint64(k), p.memory); err != nil {
			return err
		}
	}
	return nil
}

// block cuts the group's pairs into persons.
func (p *pairs) block(group int) (*estimator.Block, error) {
	b := &estimator.Block{Dim: p.dim, Sparse: true, Memory: p.memory}
	all, err := p.groups[group].sorted(p.memory)
	if err != nil {
		return nil, err
	}
	p.groups[group] = pairSet{}
	for keys := all; len(keys) > 0; {
		n := p.cut(keys)
		c, err := p.chunk(keys[:n])
		if err != nil {
			return nil, err
		}
		b.Chunks = append(b.Chunks, c)
		keys = keys[n:]
	}
	free(p.memory, all)
	return b, nil
}

// cut returns how many of the sorted pairs make the next chunk: whole persons, about chunkNumbers
// pairs.
func (p *pairs) cut(keys []uint64) int {
	n := min(len(keys), chunkNumbers)
	for n < len(keys) && keys[n]/uint64(p.dim) == keys[n-1]/uint64(p.dim) {
		n++
	}
	return n
}

// chunk makes a chunk of sorted and distinct pairs.
func (p *pairs) chunk(keys []uint64) (c estimator.Chunk, err error) {
	person, dim := uint64(math.MaxUint64), uint64(p.dim)
	for _, k := range keys {
		if owner := k / dim; owner != person {
			person = owner
			c.Persons++
		}
	}
	if c.Index, err = room[int32](p.memory, len(keys)); err != nil {
		return c, err
	}
	if c.Starts, err = room[int](p.memory, c.Persons+1); err != nil {
		return c, err
	}
	c.Index, c.Starts, person = c.Index[:0], c.Starts[:0], math.MaxUint64
	for _, k := range keys {
		owner := k / dim
		if owner != person {
			person = owner
			c.Starts = append(c.Starts, len(c.Index))
		}
		c.Index = append(c.Index, int32(k-owner*dim))
	}
	c.Starts = append(c.Starts, len(c.Index))
	return c, nil
}

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

// digitBits is the size of the digits by which keys are sorted: the counts of one digit then fit
// into the nearest cache.
const digitBits = 11

// sortKeys sorts in place, with room for as many keys, by counting: one pass for each digit of the
// largest key, or by comparison where there are fewer keys than a digit has values.
func sortKeys(keys, room []uint64) {
	if len(keys) < 1<<digitBits {
		slices.Sort(keys)
		return
	}
	from, to := keys, room
	for shift := 0; shift < bits.Len64(slices.Max(keys)); shift += digitBits {
		scatterDigit(to, from, shift)
		from, to = to, from
	}
	if &from[0] != &keys[0] {
		copy(keys, from)
	}
}

// scatterDigit sorts by one digit and leaves equal digits in order.
func scatterDigit(dst, src []uint64, shift int) {
	var at [1 << digitBits]int
	for _, k := range src {
		at[k>>shift&(1<<digitBits-1)]++
	}
	n := 0
	for d, c := range at {
		at[d], n = n, n+c
	}
	for _, k := range src {
		d := k >> shift & (1<<digitBits - 1)
		dst[at[d]] = k
		at[d]++
	}
}
