package exec

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
)

// lattice brings numbers onto a grid: k = x/Step rounded half to even and clamped to [Lo, Hi], as
// the store does for scalars. It is a function of one row.
type lattice struct {
	factor float64 // 1/Step
	lo, hi float64
	inner  float64 // what is at most as far from 0 is between lo and hi
}

func newLattice(g estimator.Grid) (lattice, error) {
	factor := 1 / g.Step
	if g.Decimal {
		factor = math.Pow10(g.Scale)
	}
	if !(factor > 0) || math.IsInf(factor, 0) || g.Lo > g.Hi {
		return lattice{}, fmt.Errorf("exec: grid with step %v from %d to %d", g.Step, g.Lo, g.Hi)
	}
	bound := func(k int64) float64 { return float64(min(max(k, -estimator.MaxUnits), estimator.MaxUnits)) }
	l := lattice{factor: factor, lo: bound(g.Lo), hi: bound(g.Hi)}
	l.inner = min(-l.lo, l.hi)
	return l, nil
}

// reach is the largest absolute index.
func (l lattice) reach() int64 { return int64(max(math.Abs(l.lo), math.Abs(l.hi))) }

// rounder added to a number of size at most 2^51 leaves a float64 whose unit is 1: the addition
// rounds to an integer, half to even, which is then the difference of the bit patterns. 1.5·2^52
// keeps the sign out of the exponent. The indexes are at most 2^50.
const (
	rounder     = 0x1.8p52
	rounderBits = 0x4338 << 48
)

// index is the grid index of a finite number. A product that overflows is beyond either end.
func (l lattice) index(x float64) int64 {
	y := float64(x * l.factor)
	if y < l.lo {
		y = l.lo
	}
	if y > l.hi {
		y = l.hi
	}
	return rounded(y)
}

// rounded is the integer nearest to y, half to even, for |y| <= 2^50.
func rounded(y float64) int64 { return int64(math.Float64bits(y+rounder)) - rounderBits }

// add adds the indexes of a row's numbers to dst, modulo 2^64. It reports false, and adds nothing,
// where one of them is NaN or infinite.
func (l lattice) add(dst []int64, row []float64) bool {
	size := largest(row)
	if !(size <= math.MaxFloat64) {
		return false
	}
	dst = dst[:len(row)]
	if size*l.factor <= l.inner { // nothing to clamp
		for j, x := range row {
			dst[j] += rounded(float64(x * l.factor))
		}
		return true
	}
	for j, x := range row {
		dst[j] += l.index(x)
	}
	return true
}

// largest is the largest absolute value of a row's numbers, NaN where one of them is: without the
// sign, the bit patterns of floats are ordered as the numbers are, then infinity, then NaNs.
func largest(row []float64) float64 {
	most := uint64(0)
	for _, x := range row {
		most = max(most, math.Float64bits(x)&^(1<<63))
	}
	return math.Float64frombits(most)
}
