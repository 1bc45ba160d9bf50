package block

import (
	"fmt"
	"math"
	"math/bits"
)

// Axis cuts a public range of integers into numbered cells, as a floating-point number does: cells of
// width Step up to Step·2^Bits from 0 on either side, and of relative width 2^-Bits beyond. With Bits = 63 all cells
// have the width Step.
type Axis struct {
	lo, hi int64
	shift  int // Step = 2^shift
	bits   int
	first  int64 // cell of lo, counted from the cell of 0
	cells  int64
}

// NewAxis returns the axis of [lo, hi] with smallest cell 2^shift and relative precision 2^-bits. lo and hi are within
// ±2^61, bits within 1 and 63. It panics where that has more than 2^32 cells.
func NewAxis(lo, hi int64, shift, bits int) Axis {
	a := Axis{lo: lo, hi: hi, shift: shift, bits: bits}
	a.first = a.cell(lo)
	if a.cells = a.cell(hi) - a.first + 1; a.cells < 1 || a.cells > 1<<32 {
		panic(fmt.Sprintf("block: axis with %d cells", a.cells))
	}
	return a
}

// Cells is the number of cells.
func (a Axis) Cells() uint32 { return uint32(min(a.cells, 1<<32-1)) }

// Rounds is the number of halvings that leave one cell: ⌈log2 cells⌉.
func (a Axis) Rounds() int { return bits.Len64(uint64(a.cells - 1)) }

// cell returns the number of the cell of k, counted from the cell of 0; symmetric about 0.
func (a Axis) cell(k int64) int64 {
	if k < 0 {
		return -a.cell(-k)
	}
	k >>= a.shift
	e := bits.Len64(uint64(k)) - (a.bits + 1)
	if e <= 0 {
		return k
	}
	return int64(e)<<a.bits + k>>e
}

// last is the number of the last cell.
func (a Axis) last() uint32 { return uint32(a.cells - 1) }

// lowest returns the least of the integers in a cell; the first cell reaches to the least of all, and the one after
// the last starts where the last ends.
func (a Axis) lowest(cell int64) int64 {
	switch j := cell + a.first; {
	case cell <= 0:
		return math.MinInt64
	case cell >= a.cells:
		return math.MaxInt64
	case j > 0:
		return a.start(j)
	default:
		return 1 - a.start(1-j)
	}
}

// start returns the least integer of cell j >= 1, counted from the cell of 0.
func (a Axis) start(j int64) int64 {
	e := int64(0)
	if a.bits < 62 {
		e = max(0, j>>a.bits-1)
	}
	return (j - e<<a.bits) << (e + int64(a.shift))
}

// Cell returns the number of k's cell, from 0; k outside the range counts as its nearest end.
func (a Axis) Cell(k int64) uint32 { return uint32(a.cell(min(max(k, a.lo), a.hi)) - a.first) }

// Value returns the middle of a cell, within the range.
func (a Axis) Value(cell uint32) int64 {
	j := int64(cell) + a.first
	sign := int64(1)
	if j < 0 {
		j, sign = -j, -1
	}
	e := 0
	if a.bits < 62 {
		if x := j>>a.bits - 1; x > 0 {
			e = int(x)
			j = (j - x<<a.bits) << e
		}
	}
	width := int64(1) << (e + a.shift)
	v := j<<a.shift + (width-1)/2
	if j == 0 && e == 0 {
		v = 0 // the cell of 0 reaches to both sides
	}
	return min(max(sign*v, a.lo), a.hi)
}
