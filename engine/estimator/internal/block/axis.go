package block

import (
	"fmt"
	"math/bits"
)

// Axis cuts a public range of integers into numbered cells, as a floating-point number does: cells
// of width Step up to Step·2^Bits from 0 on either side, and of relative width 2^-Bits beyond. With
// Bits = 63 all cells have the width Step. The cells of k < 0 mirror those of −1−k, so that every
// cell starts at a multiple of its width.
type Axis struct {
	lo, hi int64
	shift  uint // Step = 2^shift
	bits   uint
	first  int64 // cell of lo, counted from the cell of 0
	cells  int64
}

// NewAxis returns the axis of [lo, hi] with smallest cell 2^shift and relative precision 2^-bits.
// lo and hi are within ±2^61, bits within 1 and 63. It panics where that has more than 2^32 cells.
func NewAxis(lo, hi int64, shift, bits int) Axis {
	a := Axis{lo: lo, hi: hi, shift: uint(shift), bits: uint(bits)}
	a.first = a.cell(lo)
	if a.cells = a.cell(hi) - a.first + 1; a.cells < 1 || a.cells > 1<<32 {
		panic(fmt.Sprintf("block: axis with %d cells", a.cells))
	}
	return a
}

// Cells is the number of cells.
func (a Axis) Cells() uint32 { return uint32(min(a.cells, 1<<32-1)) }

// Rounds is the number of times that an interval of cells is split at most until one cell is left:
// ⌈log2 cells⌉, or one more where the range is not a round one.
func (a Axis) Rounds() int {
	if a.cells == 1 {
		return 0
	}
	last := uint32(a.cells - 1)
	mid := a.split(0, last)
	return 1 + max(bits.Len32(mid), bits.Len32(last-mid-1))
}

// split returns the last cell of the left part of an interval of two cells or more: where their
// numbers, counted from the cell of 0 in two's complement, first differ. So a part holds the cells
// that begin with the same bits, and the right part starts at as round a number as there is.
func (a Axis) split(lo, hi uint32) uint32 {
	l, h := uint64(int64(lo)+a.first), uint64(int64(hi)+a.first)
	half := uint64(1) << (bits.Len64(l^h) - 1)
	return uint32(int64(h&^(half-1)) - 1 - a.first)
}

// cell returns the number of the cell of k, counted from the cell of 0.
func (a Axis) cell(k int64) int64 {
	sign := k >> 63
	u := uint64(k^sign) >> (a.shift & 63)
	e := uint(bits.Len64(u|1<<(a.bits&63))) - a.bits - 1
	return int64(e<<(a.bits&63)+uint(u>>(e&63))) ^ sign
}

// lowest returns the least integer of a cell, for cells from the second one on; the cell after the
// last starts where that ends.
func (a Axis) lowest(cell int64) int64 {
	if j := cell + a.first; j < 0 {
		return -a.start(-j)
	} else {
		return a.start(j)
	}
}

// start returns the least integer of cell j >= 0, counted from the cell of 0.
func (a Axis) start(j int64) int64 {
	e := uint(max(0, j>>(a.bits&63)-1))
	return (j - int64(e<<(a.bits&63))) << ((e + a.shift) & 63)
}

// Cell returns the number of k's cell, from 0; k outside the range counts as its nearest end.
func (a Axis) Cell(k int64) uint32 { return uint32(a.cell(min(max(k, a.lo), a.hi)) - a.first) }

// Value returns the middle of a cell, within the range; 0 for the cell of 0.
func (a Axis) Value(cell uint32) int64 {
	j := int64(cell) + a.first
	if j == 0 {
		return min(max(0, a.lo), a.hi)
	}
	from, to := a.lowest(int64(cell)), a.lowest(int64(cell)+1)
	return min(max(from+(to-1-from)/2, a.lo), a.hi)
}
