package block

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"scrim/engine/estimator"
)

// Bisect searches every coordinate's axis at once. centre nil: of the values x_ij; else of the
// distances |x_ij − centre_j|, with entries and centre within ±2^61. In each round it asks, for
// each coordinate whose interval of cells has more than one cell, right(j, m) with m the number of
// persons whose cell is at most that at which the axis splits the interval: true goes on to the
// right of it, false keeps the left part with it. It returns the cell that is left.
//
// right is called at most axis.Rounds() times for a coordinate, round by round and in each in the
// order of the coordinates that are not done, from one goroutine: the order depends on its answers
// alone. The counts change by at most 1 with one person, in either neighbour relation; they are
// exact, so neither the order of persons nor the number of cores matters.
//
// A dense block is read once for six rounds or more, whatever the answers are, but for rare ones at
// the ends of the axis: see levels.
func Bisect(b *estimator.Block, axis Axis, centre []int64, right func(j int, atMost int64) bool) []uint32 {
	if b.Sparse {
		return sparseBisect(b, axis, centre, right)
	}
	l := newLevels(b, axis, centre)
	return l.run(l.atMost, right)
}

// search is where the search of every coordinate has come to: the cells from lo to hi.
type search struct {
	axis   Axis
	lo, hi []uint32
}

func newSearch(dim int, axis Axis) search {
	s := search{axis, make([]uint32, dim), make([]uint32, dim)}
	for j := range s.hi {
		s.hi[j] = uint32(axis.cells - 1)
	}
	return s
}

// run asks until one cell is left, where atMost is the number of persons whose cell is at most the
// given one: at which the coordinate's interval is split.
func (s *search) run(atMost func(j int, cell uint32) int64, right func(j int, atMost int64) bool) []uint32 {
	for range s.axis.Rounds() {
		for j := range s.lo {
			if s.lo[j] == s.hi[j] {
				continue
			}
			if mid := s.axis.split(s.lo[j], s.hi[j]); right(j, atMost(j, mid)) {
				s.lo[j] = mid + 1
			} else {
				s.hi[j] = mid
			}
		}
	}
	return s.lo
}

// numbers returns the cells of a coordinate's interval, counted from the cell of 0.
func (s *search) numbers(j int) (from, to int64) {
	return int64(s.lo[j]) + s.axis.first, int64(s.hi[j]) + s.axis.first
}

// sparseBisect is Bisect on a sparse block. The cells of each coordinate's entries are sorted once;
// the persons without an entry are all in the cell of 0, or of |0 − centre_j|, so that
//
//	#{cell ≤ m} = #{entries of j in cells ≤ m} + (n − entries of j)·[cell of 0 ≤ m]
//
// and a round costs O(d·log n) after O(nnz·log nnz).
func sparseBisect(b *estimator.Block, axis Axis, centre []int64, right func(j int, atMost int64) bool) []uint32 {
	cols := newColumns(b, axis, centre)
	s := newSearch(b.Dim, axis)
	return s.run(cols.atMost, right)
}

// columns holds the cells of a sparse block's entries, by coordinate.
type columns struct {
	persons int64
	starts  []int    // the cells of coordinate j are cells[starts[j]:starts[j+1]], sorted
	cells   []uint32 // nil where all entries are 1: one is then the cell of each
	one     []uint32
	zero    []uint32 // cell of a person without an entry
}

func newColumns(b *estimator.Block, axis Axis, centre []int64) *columns {
	c := &columns{persons: b.Persons(), starts: starts(b), one: make([]uint32, b.Dim), zero: make([]uint32, b.Dim)}
	cell := func(j int, v int64) uint32 {
		if centre != nil {
			v -= centre[j]
			v = max(v, -v)
		}
		return axis.Cell(v)
	}
	for j := range c.zero {
		c.zero[j], c.one[j] = cell(j, 0), cell(j, 1)
	}
	if slices.ContainsFunc(b.Chunks, func(ch estimator.Chunk) bool { return ch.Values != nil }) {
		c.fill(b, cell)
	}
	return c
}

// starts returns where each coordinate's entries begin when they stand coordinate by coordinate.
func starts(b *estimator.Block) []int {
	s := make([]int, b.Dim+1)
	for i := range b.Chunks {
		if ch := &b.Chunks[i]; ch.Persons > 0 {
			for _, j := range ch.Index[ch.Starts[0]:ch.Starts[ch.Persons]] {
				s[j+1]++
			}
		}
	}
	for j := range b.Dim {
		s[j+1] += s[j]
	}
	return s
}

// fill sets the cells and sorts them within each coordinate.
func (c *columns) fill(b *estimator.Block, cell func(j int, v int64) uint32) {
	c.cells = estimator.Make[uint32](b.Memory, c.starts[b.Dim])
	at := make([]atomic.Int64, b.Dim)
	rs := runs(b)
	spread(len(rs), func(next func() (int, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			r := rs[k]
			for e := r.chunk.Starts[r.from]; e < r.chunk.Starts[r.to]; e++ {
				j, v := int(r.chunk.Index[e]), int64(1)
				if r.chunk.Values != nil {
					v = r.chunk.Values[e]
				}
				c.cells[c.starts[j]+int(at[j].Add(1))-1] = cell(j, v)
			}
		}
	})
	spread(b.Dim, func(next func() (int, bool)) {
		for j, ok := next(); ok; j, ok = next() {
			slices.Sort(c.cells[c.starts[j]:c.starts[j+1]])
		}
	})
}

// atMost returns the number of persons whose cell of coordinate j is at most mid.
func (c *columns) atMost(j int, mid uint32) int64 {
	from, to := c.starts[j], c.starts[j+1]
	count := int64(0)
	switch {
	case c.cells != nil:
		k, _ := slices.BinarySearchFunc(c.cells[from:to], mid, func(cell, mid uint32) int {
			if cell <= mid {
				return -1
			}
			return 1
		})
		count = int64(k)
	case c.one[j] <= mid:
		count = int64(to - from)
	}
	if c.zero[j] <= mid {
		count += c.persons - int64(to-from)
	}
	return count
}

// level says which bin of its coordinate a number is in: that of cell c, counted from the cell of
// 0, is c>>shifts[j] − firsts[j]. At the first level what is outside the bins counts in the nearest
// one. At the others (rest) it counts in bin 0, which has nothing else.
type level struct {
	axis   Axis
	centre []int64
	rest   bool
	size   int // bins of every coordinate
	shifts []uint8
	firsts []int64
	even   *even  // nil where not all bins of a coordinate have one width
	steps  *steps // nil where these are not counted
}

// even is the same for numbers themselves, where the bins of a coordinate have one width: v is in
// bin v>>widths[j] − origins[j].
type even struct {
	widths  []uint8
	origins []int64
}

// newLevel returns the level of the narrowest bins of which most cover the interval of each
// coordinate.
func newLevel(s *search, centre []int64, most int64, rest bool) *level {
	dim := len(s.lo)
	l := &level{axis: s.axis, centre: centre, rest: rest, shifts: make([]uint8, dim), firsts: make([]int64, dim)}
	l.even = &even{make([]uint8, dim), make([]int64, dim)}
	for j := range dim {
		l.set(s, j, most)
	}
	if !rest {
		l.steps = newSteps(l)
	}
	return l
}

// set sets the bins of a coordinate.
func (l *level) set(s *search, j int, most int64) {
	from, to := s.numbers(j)
	shift, before := uint(0), int64(0)
	for to>>shift-from>>shift >= most {
		shift++
	}
	if l.rest {
		before = 1
	}
	l.shifts[j], l.firsts[j] = uint8(shift), from>>shift-before
	l.size = max(l.size, int(l.bin(j, to))+1)
	if l.even != nil && !l.even.set(s.axis, j, from, to, shift, before) {
		l.even = nil
	}
}

// bin returns the bin of a cell, counted from the cell of 0.
func (l *level) bin(j int, cell int64) int64 { return cell>>l.shifts[j] - l.firsts[j] }

// set sets the bins of 2^shift cells from that of cell from to that of cell to, and reports whether
// they have one width: whether all cells between have. Then no bin reaches to cells of another
// width, since those begin at a multiple of 2^bits.
func (e *even) set(a Axis, j int, from, to int64, shift uint, before int64) bool {
	width := a.width(from)
	if width != a.width(to) || width > a.shift && from < 0 && to >= 0 || shift > a.bits {
		return false
	}
	e.widths[j], e.origins[j] = uint8(width+shift), a.member(from)>>(width+shift)-before
	return true
}

// width returns the width of a cell, counted from the cell of 0: 2^width.
func (a Axis) width(cell int64) uint {
	return a.shift + uint(max(0, (cell^cell>>63)>>a.bits-1))
}

// member returns a number in a cell, counted from the cell of 0.
func (a Axis) member(cell int64) int64 {
	sign := cell >> 63
	return a.start(cell^sign) ^ sign
}

// levels is the state of a search of a dense block. It reads the block once a level: for each
// coordinate it then knows how many persons are in each bin of its interval, where bins are runs of
// 2^s cells that begin at multiples of 2^s, counted from the cell of 0. An axis is split at
// multiples of falling powers of two, so these counts answer all questions until an interval lies
// within one bin; then a new level is read, for all coordinates that are not done, with finer bins.
//
// A level has 2^w+1 bins at most: the first one makes do with that for 2^(L·w)+1 cells with bins of
// 2^((L−1)·w), however they lie; an interval in one bin of 2^(i·w) cells has 2^w bins of the next
// level. So L levels are enough, but for intervals at the two ends of the axis. These may be small
// parts of such runs, and lie in one bin sooner: once in w bits of the number of cells at most, on
// either end.
type levels struct {
	search
	b      *estimator.Block
	centre []int64
	most   int64 // bins of a coordinate
	level  *level
	counts []uint32 // persons at most in each bin, by coordinate
	read   int      // number of readings
}

func newLevels(b *estimator.Block, axis Axis, centre []int64) *levels {
	l := &levels{search: newSearch(b.Dim, axis), b: b, centre: centre}
	cells := bits.Len64(uint64(max(0, axis.cells-2))) // 2^cells+1 or less
	w := levelBits(b.Dim, b.Persons())
	if cells > w {
		// many values of a coordinate may lie in one bin and be spread over those of the next level
		w = min(w, 8)
	}
	read := max(1, (cells+w-1)/w)
	l.most = 1<<((cells+read-1)/read) + 1
	return l
}

// levelBits is the largest w of a block. The counts of all coordinates should stay near the core,
// in 4 MB, and not take longer to clear and add up than the reading.
func levelBits(dim int, persons int64) int {
	return max(6, min(20-bits.Len(uint(dim-1)), bits.Len64(uint64(persons))-4, 12))
}

// atMost returns the number of persons whose cell is at most mid, at which the interval of
// coordinate j is split.
func (l *levels) atMost(j int, mid uint32) int64 {
	from, to := l.numbers(j)
	if l.level == nil || l.level.bin(j, from) == l.level.bin(j, to) {
		l.next(newLevel(&l.search, l.centre, l.most, l.level != nil))
	}
	return int64(l.known(j, mid))
}

// next reads a level.
func (l *levels) next(level *level) {
	counts := level.count(l.b)
	for j := range l.lo {
		c := counts[j*level.size:][:level.size]
		if level.rest && l.lo[j] < l.hi[j] {
			c[0] = l.before(level, j, c)
		}
		for k := 1; k < len(c); k++ {
			c[k] += c[k-1]
		}
	}
	l.level, l.counts = level, counts
	l.read++
}

// before returns the number of persons before the bins of a new level: before the interval. Where
// it begins with the axis it may begin within a bin; then they are those up to its end, as the
// level before has counted them, less those in the new bins.
func (l *levels) before(next *level, j int, counts []uint32) uint32 {
	if l.lo[j] > 0 {
		return l.known(j, l.lo[j]-1)
	}
	n := l.known(j, l.hi[j])
	_, to := l.numbers(j)
	for _, c := range counts[1 : next.bin(j, to)+1] {
		n -= c
	}
	return n
}

// known returns the number of persons whose cell is at most the given one, the last of a bin or
// that before the bins.
func (l *levels) known(j int, cell uint32) uint32 {
	return l.counts[j*l.level.size+int(l.level.bin(j, int64(cell)+l.axis.first))]
}

// steps says to which bins of a first level the distances between halves of powers of two belong,
// [2^e, 1.5·2^e) and [1.5·2^e, 2^(e+1)). So many distances are counted fast, by exponent and first
// bit of floating-point numbers.
type steps [1 << 7]int

// newSteps returns nil where a first level has bins that are no unions of steps, or no distances,
// or reaches beyond 2^53: up to there conversion is exact, and what is beyond does not come below
// it.
func newSteps(l *level) *steps {
	axis, shift := l.axis, uint(l.shifts[0])
	if l.centre == nil || shift > axis.bits || axis.bits-shift > 1 || axis.lo != 0 || axis.hi > 1<<53 {
		return nil
	}
	s := new(steps)
	for k := 2; k < len(s); k++ {
		v := math.Ldexp(2+float64(k&1), k/2-2)
		s[k] = int(axis.cell(int64(min(v, float64(axis.hi)))) >> shift)
	}
	return s
}

// stepOf returns the step of a difference: 2(e+1) and the bit after the first one of its distance
// from 0, which itself is step 0. The exponent of four times a number is 1025+e, and 1025 is 1 but
// for multiples of 64.
func stepOf(difference int64) uint64 {
	return math.Float64bits(4*float64(difference)) >> 51 & (1<<7 - 1)
}

// countSteps counts four vectors.
func countSteps(counts []uint32, centre, x, y, z, t []int64) {
	y, z, t, centre = y[:len(x)], z[:len(x)], t[:len(x)], centre[:len(x)]
	for j, v := range x {
		c, bins := centre[j], (*[len(steps{})]uint32)(counts)
		counts = counts[len(bins):]
		bins[stepOf(v-c)]++
		bins[stepOf(y[j]-c)]++
		bins[stepOf(z[j]-c)]++
		bins[stepOf(t[j]-c)]++
	}
}

// fold adds up the counts of the steps in each of size bins.
func (s *steps) fold(counts []uint32, size int) []uint32 {
	out := make([]uint32, len(counts)/len(s)*size)
	for to := out; len(to) > 0; to, counts = to[size:], counts[len(s):] {
		for k, bin := range s {
			to[bin] += counts[k]
		}
	}
	return out
}

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
