package exec

import (
	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/internal/spill"
)

// The persons of a chunk of a dense block: at most 1 MiB of numbers and 1024 persons. The first
// chunks of a block are smaller, twice as large each time, so that a block of few persons takes
// little.
const (
	chunkNumbers = 1 << 17
	chunkPersons = 1 << placeBits
	firstPersons = 4
	placeBits    = 10
)

// dense is a dense block that is being filled. Nothing is copied when it grows.
type dense struct {
	dim    int
	counts bool // of rows are kept; otherwise each person has one
	chunks []estimator.Chunk
	memory *spill.Area
}

// place is where a person lies in a dense block: the chunk's number and, in the last placeBits
// bits, the person's in it.
type place uint32

// vector returns the person's numbers.
func (d *dense) vector(at place) []int64 {
	i := int(at&(chunkPersons-1)) * d.dim
	return d.chunks[at>>placeBits].Dense[i : i+d.dim : i+d.dim]
}

// next returns the place that the next person will have; the numbers there are 0.
func (d *dense) next() (place, error) {
	last := len(d.chunks) - 1
	if last < 0 || len(d.chunks[last].Dense) == d.chunks[last].Persons*d.dim {
		if err := d.grow(); err != nil {
			return 0, err
		}
		last++
	}
	return place(last<<placeBits | d.chunks[last].Persons), nil
}

// keep makes the next place the person's, with so many rows.
func (d *dense) keep(at place, rows int64) {
	c := &d.chunks[at>>placeBits]
	c.Persons++
	if d.counts {
		c.Rows[at&(chunkPersons-1)] = rows
	}
}

// again counts one more row of a person, and returns how many there are.
func (d *dense) again(at place) int64 {
	n := &d.chunks[at>>placeBits].Rows[at&(chunkPersons-1)]
	*n++
	return *n
}

// touch reads a person's count and first numbers, one a cache line, and returns what means nothing.
// Of longer vectors the processor fetches the rest by itself.
func (d *dense) touch(at place) int64 {
	sum := d.chunks[at>>placeBits].Rows[at&(chunkPersons-1)]
	v := d.vector(at)
	for j := 0; j < min(len(v), 64); j += 8 {
		sum += v[j]
	}
	return sum
}

func (d *dense) grow() error {
	n := min(max(chunkNumbers/d.dim, 1), chunkPersons)
	if k := len(d.chunks); k < placeBits {
		n = min(n, firstPersons<<k)
	}
	c, err := estimator.Chunk{}, error(nil)
	if c.Dense, err = take[int64](d.memory, n*d.dim); err != nil {
		return err
	}
	if d.counts {
		if c.Rows, err = take[int64](d.memory, n); err != nil {
			return err
		}
	}
	d.chunks = append(d.chunks, c)
	return nil
}

// block returns what has been filled in. reach bounds the size of a number of one row: only sums of
// so many rows that they may be beyond MaxUnits are clamped.
func (d *dense) block(reach int64) *estimator.Block {
	b := &estimator.Block{Dim: d.dim, Memory: d.memory}
	for _, c := range d.chunks {
		if c.Persons == 0 {
			continue
		}
		c.Dense = c.Dense[:c.Persons*d.dim]
		if d.counts {
			c.Rows = c.Rows[:c.Persons]
		}
		for i, n := range c.Rows {
			if n > estimator.MaxUnits/max(reach, 1) {
				clamp(c.Dense[i*d.dim : (i+1)*d.dim])
			}
		}
		b.Chunks = append(b.Chunks, c)
	}
	return b
}

// clamped returns k within ±MaxUnits.
func clamped(k int64) int64 { return min(max(k, -estimator.MaxUnits), estimator.MaxUnits) }

func clamp(sums []int64) {
	for j, k := range sums {
		sums[j] = clamped(k)
	}
}

// coordinates makes dense blocks of one column a coordinate, which hold each person's sums in one
// scan row, with the number of rows that they are of before them. Persons without a row are absent.
type coordinates struct {
	columns []int // the number of rows, then the coordinates
	dim     int
	groups  []dense
	memory  *spill.Area
	places  [][]int64 // the vectors of the persons of a chunk, nil where absent
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
