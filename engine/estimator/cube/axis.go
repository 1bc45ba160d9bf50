package cube

// axis is one dimension of a table: cells (o·n + v)·inner + j for outer o, value v and j < inner.
type axis struct{ outer, n, inner int }

// axis returns dimension i of a table of the set s, which has it.
func (c *Cube) axis(s Set, i int) axis {
	below := s & (1<<i - 1)
	n := c.p.Dims[i].Size
	return axis{c.Size(below), n, c.Size(s &^ below &^ (1 << i))}
}

// rows calls f with each row of cells that differ in what comes after the axis alone, and the cells
// of the table without the axis that it belongs to.
func rows[T int64 | float64](a axis, table, without []T, f func(row, without []T)) {
	for o := range a.outer {
		under := without[o*a.inner : (o+1)*a.inner]
		for v := o * a.n; v < (o+1)*a.n; v++ {
			f(table[v*a.inner:(v+1)*a.inner], under)
		}
	}
}

// sum adds up along the axis.
func sum[T int64 | float64](a axis, table []T) []T {
	out := make([]T, a.outer*a.inner)
	rows(a, table, out, func(row, out []T) {
		for j, x := range row {
			out[j] += x
		}
	})
	return out
}

// means are those along the axis.
func (a axis) means(table []float64) []float64 {
	m := sum(a, table)
	for j := range m {
		m[j] /= float64(a.n)
	}
	return m
}

// add adds to each cell a multiple of that without the axis.
func (a axis) add(table, without []float64, times float64) {
	rows(a, table, without, func(row, without []float64) {
		for j, x := range without {
			row[j] += times * x
		}
	})
}

// centre takes the means along the axis out of a table.
func (a axis) centre(table []float64) { a.add(table, a.means(table), -1) }

// centreTimes replaces each x by n·x − sum along the axis, in integers.
func (a axis) centreTimes(table []int64) {
	rows(a, table, sum(a, table), func(row, sum []int64) {
		for j, x := range sum {
			row[j] = int64(a.n)*row[j] - x
		}
	})
}

// merge returns the table of fixed and free together: of each residual of fixed and a part of free,
// spread over the rest of free, the sum.
func (c *Cube) merge(residual func(Set) []float64, fixed, free Set) []float64 {
	if free == 0 {
		return append([]float64(nil), residual(fixed)...)
	}
	i := first(free)
	free &^= 1 << i
	out := c.merge(residual, fixed|1<<i, free)
	a := c.axis(fixed|free|1<<i, i)
	a.add(out, c.merge(residual, fixed, free), 1/float64(a.n))
	return out
}

// split is the transpose of merge: it hands each residual of fixed and a part of free what a table
// of weights of both gives it. The table is used up.
func (c *Cube) split(table []float64, fixed, free Set, to func(Set, []float64)) {
	if free == 0 {
		to(fixed, table)
		return
	}
	i := first(free)
	a := c.axis(fixed|free, i)
	free &^= 1 << i
	means := a.means(table)
	a.add(table, means, -1)
	c.split(means, fixed, free, to)
	c.split(table, fixed|1<<i, free, to)
}

func first(s Set) int {
	for i := range s.Dims() {
		return i
	}
	return -1
}
