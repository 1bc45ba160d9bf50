package exec

import (
	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/internal/spill"
	"scrim/planner/plan"
)

// coordinates makes dense blocks of one column a coordinate, which hold each person's sums in one
// scan row, with the number of rows that they are of before them. Persons without a row are absent.
type coordinates struct {
	columns []int // the number of rows, then the coordinates
	dim     int
	groups  []dense
	memory  *spill.Area
	places  [][]int64 // the vectors of the persons of a chunk, nil where absent
}

func newCoordinates(columns []int, v *plan.Vector, memory *spill.Area) *coordinates {
	return &coordinates{columns: columns, dim: v.Dim, memory: memory}
}

func (c *coordinates) resize(groups int) {
	for len(c.groups) < groups {
		c.groups = append(c.groups, dense{dim: c.dim, counts: true, memory: c.memory})
	}
}

func (c *coordinates) add(ch store.Chunk, of origin) error {
	count := &ch.Columns[c.columns[0]]
	c.places = c.places[:0]
	for i := range ch.Len {
		var vector []int64
		if n := present(count, i); n > 0 {
			g := &c.groups[of.groups[i]]
			at, err := g.next()
			if err != nil {
				return err
			}
			vector = g.vector(at)
			g.keep(at, n)
		}
		c.places = append(c.places, vector)
	}
	// Few persons at a time, so that their vectors stay in the cache from column to column.
	const persons = 32
	for from := 0; from < ch.Len; from += persons {
		c.transpose(ch, from, min(from+persons, ch.Len))
	}
	return nil
}

func (c *coordinates) transpose(ch store.Chunk, from, to int) {
	for j, column := range c.columns[1:] {
		v := &ch.Columns[column]
		for i := from; i < to; i++ {
			if c.places[i] != nil {
				c.places[i][j] = clamped(present(v, i))
			}
		}
	}
}

// present is an integer of a column, 0 for NULL.
func present(v *store.Vector, i int) int64 {
	if v.Null != nil && v.Null[i] {
		return 0
	}
	return v.Ints[i]
}

func (c *coordinates) block(group int) (*estimator.Block, error) {
	return c.groups[group].block(0), nil
}
