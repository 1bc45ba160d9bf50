package cube

// axis is one dimension of a table: cells (o·n + v)·inner + j for outer o, value v and j < inner.
type axis struct{ outer, n, inner int }

// axis returns dimension i of a table of the set s, which has it.
func (c *Cube) axis(s Set, i int) axis {
	below := s & (1<<i - 1)
	n := c.p.Dims[i].Size
	return axis{c.Size(below), n, c.Size(s &^ below &^ (1 << i))}
}

// lines calls f with the first cell of each line along the axis and its place without the axis.
// The cells of a line are inner apart.
func (a axis) lines(f func(first, without int)) {
	for o := range a.outer {
		for j := range a.inner {
			f(o*a.n*a.inner+j, o*a.inner+j)
		}
	}
}

// sum adds up along the axis.
func sum[T int64 | float64](a axis, table []T) []T {
	out := make([]T, a.outer*a.inner)
	a.lines(func(first, without int) {
		for v := range a.n {
			out[without] += table[first+v*a.inner]
		}
	})
	return out
}

// centre replaces each number x of a line by x − mean, the mean of the line.
func (a axis) centre(table []float64) {
	a.lines(func(first, _ int) {
		mean := 0.0
		for v := range a.n {
			mean += table[first+v*a.inner]
		}
		mean /= float64(a.n)
		for v := range a.n {
			table[first+v*a.inner] -= mean
		}
	})
}

// centreTimes replaces each x of a line by n·x − sum, in integers.
func (a axis) centreTimes(table []int64) {
	a.lines(func(first, _ int) {
		sum := int64(0)
		for v := range a.n {
			sum += table[first+v*a.inner]
		}
		for v := range a.n {
			x := &table[first+v*a.inner]
			*x = int64(a.n)*(*x) - sum
		}
	})
}

// spread adds to each number of a line its share 1/n of the line's number in without.
func (a axis) spread(table, without []float64) {
	a.lines(func(first, at int) {
		share := without[at] / float64(a.n)
		for v := range a.n {
			table[first+v*a.inner] += share
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
	c.axis(fixed|free|1<<i, i).spread(out, c.merge(residual, fixed, free))
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
	means := sum(a, table)
	for j := range means {
		means[j] /= float64(a.n)
	}
	c.split(means, fixed, free, to)
	a.centre(table)
	c.split(table, fixed|1<<i, free, to)
}

func first(s Set) int {
	for i := range s.Dims() {
		return i
	}
	return -1
}
