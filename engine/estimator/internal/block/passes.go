package block

import (
	"math/bits"
	"sync"
)

// rows returns the vectors of a run of a dense block.
func (r run) rows(dim int) []int64 { return r.chunk.Dense[r.from*dim : r.to*dim] }

// countValues adds the vectors in x to tables of the whole axis. It makes a cell of the axis as Axis.Cell does but for the
// ends: what is under the first cell counts there, what is over the last may be left out, as no split is that high.
func countValues(counts []uint32, x []int64, axis Axis, t *tables) {
	shift, b, first, width := uint(axis.shift), uint(axis.bits), axis.first, t.width[0]
	buckets, dim := 1<<t.bits, len(t.lo)
	for ; len(x) > 0; x = x[dim:] {
		row := counts
		for _, v := range x[:dim] {
			m := v >> 63
			u := uint64(v^m-m) >> (shift & 63)
			e := uint(bits.Len64(u|1<<(b&63))) - b - 1
			c := int64(e<<(b&63)+uint(u>>(e&63))) ^ m - m - first
			if k := uint64(c) >> (width & 63); k < uint64(buckets) {
				row[k]++
			} else if c < 0 {
				row[0]++
			}
			row = row[buckets:]
		}
	}
}

// countDistances is countValues for the distances |x_ij − centre_j|.
func countDistances(counts []uint32, x []int64, axis Axis, t *tables, centre []int64) {
	shift, b, first, width := uint(axis.shift), uint(axis.bits), axis.first, t.width[0]
	buckets, dim := 1<<t.bits, len(t.lo)
	for ; len(x) > 0; x = x[dim:] {
		row, centre := counts, centre[:dim]
		for j, v := range x[:dim] {
			d := v - centre[j]
			m := d >> 63
			u := uint64(d^m-m) >> (shift & 63)
			e := uint(bits.Len64(u|1<<(b&63))) - b - 1
			c := int64(e<<(b&63)+uint(u>>(e&63))) - first
			if k := uint64(c) >> (width & 63); k < uint64(buckets) {
				row[k]++
			} else if c < 0 {
				row[0]++
			}
			row = row[buckets:]
		}
	}
}

// pass looks for the entries inside the intervals of a search.
type pass struct {
	axis     Axis
	distance int64 // −1 for distances, 0 for values
	columns  []column
}

// column says which entries of a coordinate are inside: those with v − from < size as unsigned numbers, where v is
// x − centre, or its absolute value.
type column struct {
	centre, from int64
	size         uint64
}

func newPass(s *search) *pass {
	p := &pass{axis: s.axis, columns: make([]column, len(s.at))}
	if s.centre != nil {
		p.distance = -1
	}
	for j, a := range s.at {
		c := &p.columns[j]
		if s.centre != nil {
			c.centre = s.centre[j]
		}
		if a.lo < a.hi {
			c.from = s.axis.lowest(int64(a.lo))
			c.size = uint64(s.axis.lowest(int64(a.hi)+1)) - uint64(c.from)
		}
	}
	return p
}

// inside calls found for every entry of the vectors in x that is inside.
func (p *pass) inside(x []int64, found func(j int, cell uint32)) {
	for dim := len(p.columns); len(x) > 0; x = x[dim:] {
		columns := p.columns
		row := x[:len(columns)]
		for j := range columns {
			c := &columns[j]
			v := row[j] - c.centre
			m := v >> 63 & p.distance
			if v = v ^ m - m; uint64(v-c.from) < c.size {
				found(j, p.axis.Cell(v))
			}
		}
	}
}

// take takes the cells of the persons inside the intervals out of the block.
func (s *search) take() {
	rs, p := runs(s.b), newPass(s)
	for j := range s.at {
		if a := &s.at[j]; a.lo < a.hi {
			a.cells = make([]uint32, 0, a.inside)
		}
	}
	var mu sync.Mutex
	spread(len(rs), func(next func() (int, bool)) {
		own := make([][]uint32, len(s.at))
		for k, ok := next(); ok; k, ok = next() {
			p.inside(rs[k].rows(s.b.Dim), func(j int, cell uint32) { own[j] = append(own[j], cell) })
		}
		mu.Lock()
		defer mu.Unlock()
		for j, cells := range own {
			s.at[j].cells = append(s.at[j].cells, cells...)
		}
	})
}
