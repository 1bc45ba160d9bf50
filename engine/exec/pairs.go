package exec

import (
	"fmt"
	"math"

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
