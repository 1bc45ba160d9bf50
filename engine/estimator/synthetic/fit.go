package synthetic

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/internal/scalar"
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

// table says how the counts of rows by some columns lie in memory: the cell of a row is the sum of
// its codes times the strides.
type table struct {
	columns, strides []int
	cells            int // MaxCells+1 where they are more
}

func newTable(of []cube.Dimension, columns []int) table {
	t := table{columns: append([]int(nil), columns...), strides: make([]int, len(columns)), cells: 1}
	for k := len(columns) - 1; k >= 0; k-- { // the last column is the fastest
		t.strides[k] = t.cells
		t.cells = min(t.cells*of[columns[k]].Size, MaxCells+1)
	}
	return t
}

// cell is that of a row of codes.
func (t table) cell(row []uint16) int {
	at := 0
	for k, c := range t.columns {
		at += int(row[c]) * t.strides[k]
	}
	return at
}

// count counts rows of width codes by cell.
func (t table) count(rows []uint16, width int) []int64 {
	out := make([]int64, t.cells)
	for at := 0; at < len(rows); at += width {
		out[t.cell(rows[at:at+width])]++
	}
	return out
}

// persons reads the exact tables of a block. A code that is none of its column's, which the planner
// lets nobody have, counts as the nearest one, so that each person is in one cell of each table.
func persons(of []cube.Dimension, tables []table, in *estimator.Block) [][]int64 {
	out := make([][]int64, len(tables))
	for i, t := range tables {
		out[i] = make([]int64, t.cells)
	}
	if in == nil {
		return out
	}
	row := make([]uint16, len(of))
	for c := range in.Chunks {
		chunk := &in.Chunks[c]
		for p := range chunk.Persons {
			for k, code := range chunk.Dense[p*in.Dim : p*in.Dim+len(of)] {
				row[k] = uint16(min(max(code, 0), int64(of[k].Size-1)))
			}
			for i := range tables {
				out[i][tables[i].cell(row)]++
			}
		}
	}
	return out
}

// distance is Σ |a − b| over the cells of two tables of the same shape.
func distance(a, b []int64) int64 {
	sum := int64(0)
	for i, x := range a {
		if d := x - b[i]; d < 0 {
			sum -= d
		} else {
			sum += d
		}
	}
	return sum
}

// Result is a synthetic table as it was released: everything in it may be shown.
type Result struct {
	Total  float64 // noisy number of persons
	Rows   [][]uint16
	Rounds []Round
	Pairs  []Pair
}

// Pair is how far the rows are off in the table of two columns.
type Pair struct {
	Columns [2]int
	// Variation is the noisy total variation distance between the shares of the rows and of the
	// persons, StdErr the standard deviation of its noise.
	Variation, StdErr float64
}

// answer measures how far the rows are off in each pair of columns, and puts all that is released
// into an estimate.
//
// The distance ‖exact − made‖₁ of a pair moves by 1 at most where one person comes or goes, by 2
// where one is exchanged; all of them are one vector with Gaussian noise.
func (r *run) answer() estimator.Estimate {
	v := []float64{r.total.persons(), float64(r.fit.count()), float64(len(r.done)), float64(len(r.pairs))}
	for _, d := range r.done {
		v = append(v, float64(len(d.Columns)))
		for _, i := range d.Columns {
			v = append(v, float64(i))
		}
		v = append(v, d.Rho, d.StdErr)
	}
	if len(r.pairs) > 0 {
		x := r.reportNoise()
		for i, d := range r.distances() {
			share := 1 / (2 * r.total.persons())
			v = append(v, float64(r.pairs[i].columns[0]), float64(r.pairs[i].columns[1]), share*float64(x.Add(r.n, d)), share*x.Sigma())
		}
	}
	for _, code := range r.fit.rows {
		v = append(v, float64(code))
	}
	return estimator.Estimate{Values: v}
}

// reportNoise is that of the distances of all pairs together.
func (s synthetic) reportNoise() scalar.Noise {
	delta := s.p.Relation.Factor()
	l2 := new(big.Int).Mul(big.NewInt(delta*delta), big.NewInt(int64(len(s.pairs))))
	return scalar.NewNoise(estimator.Params{Rho: s.p.Rho}, l2, 1, reportShare*s.p.Rho)
}

// distances are those of all pairs.
func (r *run) distances() []int64 {
	out := make([]int64, len(r.pairs))
	for i := range r.pairs {
		out[i] = distance(r.exact[len(r.sizes)+i], r.made(&r.pairs[i]))
	}
	return out
}

// ResultOf reads an answer of an estimator of so many columns.
func ResultOf(e estimator.Estimate, columns int) Result {
	v := e.Values
	next := func() float64 {
		x := v[0]
		v = v[1:]
		return x
	}
	r := Result{Total: next()}
	rows, rounds, pairs := int(next()), int(next()), int(next())
	for range rounds {
		d := Round{Columns: make([]int, int(next()))}
		for k := range d.Columns {
			d.Columns[k] = int(next())
		}
		d.Rho, d.StdErr = next(), next()
		r.Rounds = append(r.Rounds, d)
	}
	for range pairs {
		r.Pairs = append(r.Pairs, Pair{Columns: [2]int{int(next()), int(next())}, Variation: math.Max(0, next()), StdErr: next()})
	}
	for range rows {
		row := make([]uint16, columns)
		for k := range row {
			row[k] = uint16(next())
		}
		r.Rows = append(r.Rows, row)
	}
	return r
}
