package synthetic

import (
	"math"
	"math/rand/v2"
	"slices"
)

// fit is a set of rows and the noisy tables that they are to agree with. The rows move towards the
// least
//
//	E = Σ over tables of Σ over cells of (scale·rows in the cell − noisy count)²/σ²
//
// by changes of one row, each of which makes E less. What no table tells stays as it was: columns
// that were drawn independently of each other.
type fit struct {
	width  int
	sizes  []int
	rows   []uint16 // width codes a row
	scale  float64  // persons that a row stands for
	r      *rand.Rand
	tables []fitted
	touch  [][]touched // by column: the tables that have it
	least  []float64   // scratch: what each value of a column would cost
	weight []float64   // by column: Σ of the weights of the tables that have it
}

// fitted is one noisy table.
type fitted struct {
	table
	target []float64
	weight float64   // 1/σ²
	off    []float64 // weight·(scale·rows in the cell − target)
}

// touched is a table that has a column, with the column's stride.
type touched struct{ table, stride int }

// newFit draws rows of which each column has the counts of its noisy table, those under 0 taken for
// 0, independently of the others.
func newFit(sizes []int, columns [][]float64, rows int, r *rand.Rand) *fit {
	f := &fit{width: len(sizes), sizes: sizes, rows: make([]uint16, rows*len(sizes)), scale: 1, r: r,
		touch: make([][]touched, len(sizes)), least: make([]float64, slices.Max(sizes)), weight: make([]float64, len(sizes))}
	for i, counts := range columns {
		order := r.Perm(rows)
		for code, n := range rounded(counts, rows, r) {
			for range n {
				f.rows[order[0]*f.width+i] = uint16(code)
				order = order[1:]
			}
		}
	}
	return f
}

// rounded brings counts to whole ones that add up to total: in proportion to what is above 0, each
// rounded down or up, by chance that makes the mean right.
func rounded(counts []float64, total int, r *rand.Rand) []int {
	sum, out := 0.0, make([]int, len(counts))
	for _, x := range counts {
		sum += max(0, x)
	}
	at, before, offset := 0.0, 0, r.Float64()
	for i, x := range counts {
		if sum > 0 {
			at += max(0, x) / sum
		} else {
			at += 1 / float64(len(counts))
		}
		now := min(max(int(math.Floor(at*float64(total)+offset)), before), total)
		if i == len(counts)-1 {
			now = total
		}
		out[i], before = now-before, now
	}
	return out
}

// count is the number of rows.
func (f *fit) count() int { return len(f.rows) / f.width }

// resize makes it so many rows, each of which stands for scale persons: of those that there are,
// some are left out or repeated, by chance.
func (f *fit) resize(rows int, scale float64) {
	n := f.count()
	if rows == n && scale == f.scale {
		return
	}
	for ; n > rows; n-- {
		copy(f.row(f.r.IntN(n)), f.row(n-1))
		f.rows = f.rows[:(n-1)*f.width]
	}
	for k := n; k < rows; k++ {
		f.rows = append(f.rows, f.row(f.r.IntN(n))...)
	}
	f.scale = scale
	for i := range f.tables {
		f.measure(&f.tables[i])
	}
}

// row are the codes of one row.
func (f *fit) row(at int) []uint16 { return f.rows[at*f.width : (at+1)*f.width] }

// add makes a noisy table one of those that the rows are to agree with: where there is one of its
// columns, the mean of both, weighed by their precision.
func (f *fit) add(t table, target []float64, sigma float64) {
	w := 1 / (sigma * sigma)
	for k := range f.tables {
		old := &f.tables[k]
		if slices.Equal(old.columns, t.columns) {
			for c, x := range target {
				old.target[c] += (x - old.target[c]) * w / (w + old.weight)
			}
			for _, i := range t.columns {
				f.weight[i] += w
			}
			old.weight += w
			f.measure(old)
			return
		}
	}
	f.tables = append(f.tables, fitted{table: t, target: target, weight: w, off: make([]float64, t.cells)})
	f.measure(&f.tables[len(f.tables)-1])
	for k, i := range t.columns {
		f.touch[i] = append(f.touch[i], touched{len(f.tables) - 1, t.strides[k]})
		f.weight[i] += w
	}
}

// measure computes how far the rows are off a table.
func (f *fit) measure(t *fitted) {
	for c, n := range t.count(f.rows, f.width) {
		t.off[c] = t.weight * (f.scale*float64(n) - t.target[c])
	}
}

// sweepWork is the most values that a sweep compares, each in all tables with its column.
const sweepWork = 1 << 28

// sweep goes once over all rows, in a random order, and gives each column of each the value that
// makes E least. Where that takes too long it is over a part of the rows.
func (f *fit) sweep() {
	each := f.width
	for i, size := range f.sizes {
		each += size * len(f.touch[i])
	}
	order := f.order()
	for _, at := range order[:min(len(order), 1+sweepWork/each)] {
		row := f.row(at)
		for k, i := 0, f.r.IntN(f.width); k < f.width; k++ {
			f.improve(row, i)
			if i++; i == f.width {
				i = 0
			}
		}
	}
}

// order is a random order of the rows.
func (f *fit) order() []int { return f.r.Perm(f.count()) }

// improve gives a column of a row the value that makes E least. A row that goes from a cell to
// another changes E by 2·scale·(off there − off here + scale·weight), over all tables with the
// column.
func (f *fit) improve(row []uint16, i int) {
	least := f.least[:f.sizes[i]]
	clear(least)
	here := int(row[i])
	for _, t := range f.touch[i] {
		tab := &f.tables[t.table]
		at := tab.cell(row) - here*t.stride
		if t.stride == 1 {
			for v, off := range tab.off[at : at+len(least)] {
				least[v] += off
			}
			continue
		}
		for v := range least {
			least[v] += tab.off[at]
			at += t.stride
		}
	}
	best := here
	bound := least[here] - f.scale*f.weight[i]
	for v, x := range least {
		if x < bound {
			best, bound = v, x
		}
	}
	if best != here {
		f.set(row, i, uint16(best))
	}
}

// set changes a code of a row.
func (f *fit) set(row []uint16, i int, code uint16) {
	for _, t := range f.touch[i] {
		tab := &f.tables[t.table]
		at := tab.cell(row)
		tab.off[at] -= f.scale * tab.weight
		tab.off[at+(int(code)-int(row[i]))*t.stride] += f.scale * tab.weight
	}
	row[i] = code
}

// exchange goes once over all rows, and gives each the values of another row in the columns of a
// table that is drawn by chance, where that makes E less: what one column at a time cannot do where
// two depend on each other.
func (f *fit) exchange() {
	if len(f.tables) == 0 {
		return
	}
	before := make([]uint16, MaxWays)
	for _, at := range f.order() {
		row, other := f.row(at), f.row(f.r.IntN(f.count()))
		columns := f.tables[f.r.IntN(len(f.tables))].columns
		if len(columns) < 2 {
			continue
		}
		gain := 0.0
		for k, i := range columns {
			before[k] = row[i]
			if row[i] != other[i] {
				gain += f.change(row, i, other[i])
				f.set(row, i, other[i])
			}
		}
		if gain >= 0 {
			for k, i := range columns {
				if row[i] != before[k] {
					f.set(row, i, before[k])
				}
			}
		}
	}
}

// change is what E changes by where a code of a row is changed, over 2·scale.
func (f *fit) change(row []uint16, i int, code uint16) float64 {
	sum := 0.0
	for _, t := range f.touch[i] {
		tab := &f.tables[t.table]
		at := tab.cell(row)
		sum += tab.off[at+(int(code)-int(row[i]))*t.stride] - tab.off[at] + f.scale*tab.weight
	}
	return sum
}
