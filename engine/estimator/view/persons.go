package view

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/internal/block"
)

// persons are those of a block, with one measure of each cell.
type persons struct {
	block         *estimator.Block
	dims          []cube.Dimension
	width, column int
}

// each calls visit with what each person has in cells, in multiples of unit, a power of two. Those
// who have nothing are left out. The entries are good until visit returns. What is beyond ±MaxUnits
// counts as that.
func (p persons) each(unit float64, visit func([]cube.Entry)) {
	var entries []cube.Entry // of which those used are the person's
	used := 0
	add := func(cell int, x int64) {
		if x == 0 {
			return
		}
		if used++; used > len(entries) {
			entries = append(entries, cube.Entry{Values: make([]int, len(p.dims))})
		}
		e := &entries[used-1]
		e.Rows = float64(min(max(x, -estimator.MaxUnits), estimator.MaxUnits)) / unit
		for i := len(p.dims) - 1; i >= 0; i-- {
			e.Values[i] = cell % p.dims[i].Size
			cell /= p.dims[i].Size
		}
	}
	for c := range p.block.Chunks {
		chunk := &p.block.Chunks[c]
		for i := range chunk.Persons {
			used = 0
			block.Person{Chunk: chunk, I: i}.Each(func(at int, x int64) {
				if at%p.width == p.column {
					add(at/p.width, x)
				}
			})
			if used > 0 {
				visit(entries[:used])
			}
		}
	}
}
