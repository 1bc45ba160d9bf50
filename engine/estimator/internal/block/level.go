package block

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
