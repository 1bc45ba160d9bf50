package exec

import (
	"fmt"
	"math"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/internal/spill"
	"scrim/planner/plan"
)

// arrays makes dense blocks of a column of arrays. Rows that are NULL or hold a number that is
// NULL, NaN or infinite are absent.
//
// A person of several rows gets the sum of their grid indexes, added up exactly as the rows arrive
// and clamped to ±MaxUnits in the end. Rows arrive in an order that other persons' rows may decide;
// an exact sum does not depend on it, so the result is a function of this person's rows alone,
// which the sensitivities ask for. Sums are kept in 64 bits, and those of persons with thousands of
// rows in two numbers: see carry.
type arrays struct {
	column int
	dim    int
	onto   lattice
	sums   bool // several rows a person
	groups []summed
	memory *spill.Area

	touched int64 // see prefetch
}

// summed is one group: its block and, with several rows a person, each person's place in it.
type summed struct {
	dense
	// by the person's number, plus 1; 0 while the person has no row that is present
	places []place
	// by chunk, where it has persons with many rows: the sums are high·2^carryBits and what the
	// block holds
	high [][]int64
}

func newArrays(column int, v *plan.Vector, sums bool, memory *spill.Area) (*arrays, error) {
	onto, err := newLattice(v.Grid)
	return &arrays{column: column, dim: v.Dim, onto: onto, sums: sums, memory: memory}, err
}

func (a *arrays) resize(groups int) {
	for len(a.groups) < groups {
		a.groups = append(a.groups, summed{dense: dense{dim: a.dim, counts: a.sums, memory: a.memory}})
	}
}

func (a *arrays) add(ch store.Chunk, of origin) error {
	v := &ch.Columns[a.column]
	if v.Width != a.dim {
		return fmt.Errorf("exec: arrays of %d numbers, want %d", v.Width, a.dim)
	}
	for i := range ch.Len {
		if i%ahead == 0 && a.sums {
			a.prefetch(of, i, min(i+ahead, ch.Len))
		}
		if v.Null != nil && v.Null[i] {
			continue
		}
		row, err := v.Floats[i*a.dim:(i+1)*a.dim], error(nil)
		if g := &a.groups[of.groups[i]]; a.sums {
			err = g.sum(a.onto, row, of.persons[i])
		} else {
			_, _, err = g.new(a.onto, row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// prefetch reads the sums of rows' persons, so that they are in the cache when the rows are added:
// see ahead.
func (a *arrays) prefetch(of origin, from, to int) {
	var places [ahead]place
	for i, n := range of.persons[from:to] {
		if g := &a.groups[of.groups[from+i]]; n >= 0 && int(n) < len(g.places) {
			places[i] = g.places[n]
		}
	}
	touched := int64(0)
	for i, at := range places[:to-from] {
		if at > 0 {
			touched += a.groups[of.groups[from+i]].touch(at - 1)
		}
	}
	a.touched = touched // or else the compiler may leave the reading out
}

// new appends a person with one row. ok is false where the row is absent.
func (g *summed) new(onto lattice, row []float64) (at place, ok bool, err error) {
	if at, err = g.next(); err != nil {
		return 0, false, err
	}
	if ok = onto.add(g.vector(at), row); ok {
		g.keep(at, 1)
	}
	return at, ok, nil
}

// sum adds a row to a person's; a row of nobody is absent.
func (g *summed) sum(onto lattice, row []float64, person int32) error {
	if person < 0 {
		return nil
	}
	if err := g.number(person); err != nil {
		return err
	}
	if at := g.places[person]; at > 0 {
		if !onto.add(g.vector(at-1), row) {
			return nil
		}
		if g.again(at-1)%carryRows == 0 {
			return g.carry(at - 1)
		}
		return nil
	}
	at, ok, err := g.new(onto, row)
	if ok {
		g.places[person] = at + 1
	}
	return err
}

// number makes room for the place of a person who is one after those before.
func (g *summed) number(person int32) error {
	if int(person) < len(g.places) {
		return nil
	}
	if int(person) >= cap(g.places) {
		more, err := take[place](g.memory, max(2*cap(g.places), int(person)+1, firstPersons))
		if err != nil {
			return err
		}
		copy(more, g.places)
		free(g.memory, g.places)
		g.places = more[:len(g.places)]
	}
	g.places = g.places[:person+1]
	return nil
}

// Every carryRows rows of a person, what is above carryBits bits of a sum is carried to high. An
// index is at most 2^50, so in between a sum's size is less than 2^carryBits + carryRows·2^50 <
// 2^62.
const (
	carryBits = 50
	carryRows = 1 << 11
)

// carry leaves the last carryBits bits of a person's sums in the block, which are not negative.
func (g *summed) carry(at place) error {
	chunk := int(at >> placeBits)
	for len(g.high) <= chunk {
		g.high = append(g.high, nil)
	}
	if g.high[chunk] == nil {
		var err error
		if g.high[chunk], err = take[int64](g.memory, len(g.chunks[chunk].Dense)); err != nil {
			return err
		}
	}
	from := int(at&(chunkPersons-1)) * g.dim
	high := g.high[chunk][from : from+g.dim]
	for j, k := range g.vector(at) {
		high[j] += k >> carryBits
		g.vector(at)[j] = k & (1<<carryBits - 1)
	}
	return nil
}

// fold brings high back and clamps the sums. Where high is beyond ±(carryRows+2), it makes no
// difference how far: what the block holds cannot bring such a sum back within MaxUnits.
func (g *summed) fold() {
	for chunk, high := range g.high {
		sums := g.chunks[chunk].Dense
		for i, h := range high {
			if h == 0 {
				continue
			}
			sums[i] = clamped(sums[i] + min(max(h, -carryRows-2), carryRows+2)<<carryBits)
		}
		free(g.memory, high)
	}
	g.high = nil
}

func (a *arrays) block(group int) (*estimator.Block, error) {
	g := &a.groups[group]
	g.fold()
	return g.dense.block(int64(max(math.Abs(a.onto.lo), math.Abs(a.onto.hi)))), nil
}

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
