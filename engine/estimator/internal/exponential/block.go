package exponential

import (
	"runtime"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/noise"
)

// Search returns, for every coordinate, the cell of a quantile of the values x_ij, or of the
// distances |x_ij − centre_j| where centre is not nil. Each coordinate is one draw: q's loss,
// Dim times.
//
// Cost: a sort of each column, O(n log n), by all cores; the draws are made one after another in
// the order of the coordinates. Of a sparse block only the entries are sorted.
func (q Quantile) Search(n noise.Noiser, b *estimator.Block, axis block.Axis, centre []int64) []uint32 {
	out := make([]uint32, b.Dim)
	c := newColumns(b, axis, centre)
	wheels := make([]wheel, min(max(batchValues/max(c.persons, 1), 2), 64))
	for i := range wheels {
		wheels[i].memory = b.Memory
	}
	defer func() {
		for i := range wheels {
			wheels[i].done()
		}
		c.done()
	}()
	for from := 0; from < b.Dim; from += len(wheels) {
		wheels = wheels[:min(len(wheels), b.Dim-from)]
		c.fill(wheels, from, &q)
		for i := range wheels {
			out[from+i] = uint32(wheels[i].draw(n))
		}
	}
	return out
}

// batchValues bounds the values of the coordinates that are sorted at a time, as far as two
// coordinates allow it: they take up to 100 bytes each.
const batchValues = 1 << 22

// columns reads a block by coordinates.
type columns struct {
	b       *estimator.Block
	axis    block.Axis
	centre  []int64
	persons int64
	starts  []int // sparse: the entries of coordinate j are values[starts[j]:starts[j+1]]
	values  []int64
}

func newColumns(b *estimator.Block, axis block.Axis, centre []int64) *columns {
	c := &columns{b: b, axis: axis, centre: centre, persons: b.Persons()}
	if b.Sparse {
		c.transpose()
	}
	return c
}

// cell returns the cell of a value of coordinate j.
func (c *columns) cell(j int, v int64) uint32 {
	if c.centre != nil {
		v -= c.centre[j]
		v = max(v, -v)
	}
	return c.axis.Cell(v)
}

// transpose collects the entries of a sparse block by coordinate.
func (c *columns) transpose() {
	c.starts = make([]int, c.b.Dim+1)
	for _, ch := range c.b.Chunks {
		for _, j := range ch.Index[:ch.Starts[ch.Persons]] {
			c.starts[j+1]++
		}
	}
	for j := range c.b.Dim {
		c.starts[j+1] += c.starts[j]
	}
	c.values = estimator.Make[int64](c.b.Memory, c.starts[c.b.Dim])
	next := slices.Clone(c.starts)
	for _, ch := range c.b.Chunks {
		for e, j := range ch.Index[:ch.Starts[ch.Persons]] {
			v := int64(1)
			if ch.Values != nil {
				v = ch.Values[e]
			}
			c.values[next[j]] = v
			next[j]++
		}
	}
}

// done gives the entries' memory back.
func (c *columns) done() { estimator.Free(c.b.Memory, c.values) }

// fill makes the choices of the coordinates from, from+1, …
func (c *columns) fill(wheels []wheel, from int, q *Quantile) {
	var wg fork.Group
	workers := max(1, min(runtime.GOMAXPROCS(0), len(wheels)))
	for k := range workers {
		lo, hi := k*len(wheels)/workers, (k+1)*len(wheels)/workers
		wg.Go(func() {
			var data []run
			for i, cells := range c.cells(from+lo, hi-lo) {
				slices.Sort(cells)
				data = runs(c.b.Memory, data[:0], cells)
				if c.b.Sparse {
					data = insert(estimator.Grow(c.b.Memory, data, 1), uint64(c.cell(from+lo+i, 0)), c.persons-int64(len(cells)))
				}
				q.fill(&wheels[lo+i], data, 0, uint64(c.axis.Cells()-1))
				estimator.Free(c.b.Memory, cells)
			}
			estimator.Free(c.b.Memory, data)
		})
	}
	wg.Wait()
}

// cells returns the cells of some coordinates' values, of a sparse block the entries' alone. A
// dense one is read in one pass over the rows.
func (c *columns) cells(from, coordinates int) [][]uint32 {
	cells := make([][]uint32, coordinates)
	if c.b.Sparse {
		for i := range cells {
			values := c.values[c.starts[from+i]:c.starts[from+i+1]]
			cells[i] = estimator.Make[uint32](c.b.Memory, len(values))
			for k, v := range values {
				cells[i][k] = c.cell(from+i, v)
			}
		}
		return cells
	}
	for i := range cells {
		cells[i] = estimator.Make[uint32](c.b.Memory, int(c.persons))[:0]
	}
	for _, ch := range c.b.Chunks {
		for p := range ch.Persons {
			row := ch.Dense[p*c.b.Dim+from:]
			for i := range cells {
				cells[i] = append(cells[i], c.cell(from+i, row[i]))
			}
		}
	}
	return cells
}

// insert adds count values in one cell to sorted runs.
func insert(data []run, cell uint64, count int64) []run {
	if count == 0 {
		return data
	}
	i, found := slices.BinarySearchFunc(data, cell, byCell)
	if found {
		data[i].count += count
		return data
	}
	return slices.Insert(data, i, run{cell, count})
}
