package exec

import (
	"scrim/engine/estimator"
)

// The persons of a chunk of a dense block: at most 1 MiB of numbers and 1024 persons. The first chunks of a
// block are smaller, twice as large each time, so that a block of few persons takes little.
const (
	chunkNumbers = 1 << 17
	chunkPersons = 1 << placeBits
	firstPersons = 4
	placeBits    = 10
)

// held is what a number of a block counts for, in bytes: it is there once, and an estimator may copy
// it once, for means or rotated vectors.
const held = 2 * 8

// dense is a dense block that is being filled. Nothing is copied when it grows.
type dense struct {
	dim    int
	counts bool // of rows are kept; otherwise each person has one
	chunks []estimator.Chunk
	space  *room
}

// place is where a person lies in a dense block: the chunk's number and, in the last placeBits bits, the person's
// in it.
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

// glance reads a person's count and first numbers, one a cache line, and returns what means nothing. Of longer vectors the processor
// fetches the rest by itself.
func (d *dense) glance(at place) int64 {
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
	if err := d.space.take(int64(n) * (int64(d.dim)*held + 8)); err != nil {
		return err
	}
	c := estimator.Chunk{Dense: make([]int64, n*d.dim)}
	if d.counts {
		c.Rows = make([]int64, n)
	}
	d.chunks = append(d.chunks, c)
	return nil
}

// block returns what has been filled in. reach bounds the size of a number of one row: only sums of so many
// rows that they may be beyond MaxUnits are clamped.
func (d *dense) block(reach int64) *estimator.Block {
	b := &estimator.Block{Dim: d.dim}
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

func clamp(sums []int64) {
	for j, k := range sums {
		sums[j] = min(max(k, -estimator.MaxUnits), estimator.MaxUnits)
	}
}
