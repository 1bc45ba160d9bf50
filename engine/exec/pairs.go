package exec

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/planner"
)

// pairs makes sparse blocks of rows that each name one coordinate of a person: it is 1 there, however often
// it comes. Numbers outside [0, dim), NULL and rows of nobody are absent.
type pairs struct {
	column int
	dim    int
	groups [][][]uint64 // of each group runs of person·dim + coordinate
	space  *room
}

// A run of pairs holds at most runPairs, the first ones of a group fewer.
const (
	runPairs   = 1 << 16
	firstPairs = 64
)

// heldPair is what a pair counts for: itself and a copy while it is sorted; what is made of it then takes less.
const heldPair = 2 * 8

func newPairs(column int, v *planner.Vector, space *room) (*pairs, error) {
	if v.Dim > math.MaxInt32 {
		return nil, fmt.Errorf("exec: pairs of %d coordinates", v.Dim)
	}
	return &pairs{column: column, dim: v.Dim, space: space}, nil
}

func (p *pairs) resize(groups int) {
	for len(p.groups) < groups {
		p.groups = append(p.groups, nil)
	}
}

func (p *pairs) add(ch store.Chunk, of origin) error {
	v := &ch.Columns[p.column]
	for i, k := range v.Ints {
		if v.Null != nil && v.Null[i] || k < 0 || k >= int64(p.dim) || of.persons[i] < 0 {
			continue
		}
		g := &p.groups[of.groups[i]]
		last := len(*g) - 1
		if last < 0 || len((*g)[last]) == cap((*g)[last]) {
			n := min(firstPairs<<min(len(*g), 16), runPairs)
			if err := p.space.take(int64(n) * heldPair); err != nil {
				return err
			}
			*g = append(*g, make([]uint64, 0, n))
			last++
		}
		(*g)[last] = append((*g)[last], uint64(of.persons[i])*uint64(p.dim)+uint64(k))
	}
	return nil
}

// block sorts the group's pairs and cuts them into persons. Time O(pairs), but for small groups.
func (p *pairs) block(group int) *estimator.Block {
	b := &estimator.Block{Dim: p.dim, Sparse: true}
	keys := joined(p.groups[group])
	p.groups[group] = nil
	sortKeys(keys)
	for len(keys) > 0 {
		n := p.cut(keys)
		b.Chunks = append(b.Chunks, p.chunk(keys[:n]))
		keys = keys[n:]
	}
	return b
}

// cut returns how many of the sorted pairs make the next chunk: whole persons, about chunkNumbers pairs.
func (p *pairs) cut(keys []uint64) int {
	n := min(len(keys), chunkNumbers)
	for n < len(keys) && keys[n]/uint64(p.dim) == keys[n-1]/uint64(p.dim) {
		n++
	}
	return n
}

// chunk makes a chunk of sorted pairs, each counted once.
func (p *pairs) chunk(keys []uint64) estimator.Chunk {
	c := estimator.Chunk{Index: make([]int32, 0, len(keys))}
	person, dim := uint64(math.MaxUint64), uint64(p.dim)
	for i, k := range keys {
		if i > 0 && k == keys[i-1] {
			continue
		}
		owner := k / dim
		if owner != person {
			person = owner
			c.Starts = append(c.Starts, len(c.Index))
		}
		c.Index = append(c.Index, int32(k-owner*dim))
	}
	c.Persons = len(c.Starts)
	c.Starts = append(c.Starts, len(c.Index))
	return c
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
