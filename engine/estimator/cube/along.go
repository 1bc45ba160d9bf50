package cube

// What residuals and their noise have along a dimension, for products over the dimensions of a set.

// strategy is nil of a dimension that is not measured for ranges, or has one value.
func (d Dimension) strategy() *strategy {
	if !d.Ranges || d.Size < 2 {
		return nil
	}
	return strategyOf(d.Size)
}

// along is one number of the strategy, where there is one.
func (d Dimension) along(plain float64, of func(*strategy) float64) float64 {
	if s := d.strategy(); s != nil {
		return of(s)
	}
	return plain
}

// top is the most that a cell has in the metric of a residual.
func (d Dimension) top() float64 {
	return d.along(1-1/float64(d.Size), func(s *strategy) float64 { return s.top })
}

// least is the least that a cell has in it.
func (d Dimension) least() float64 {
	return d.along(1-1/float64(d.Size), func(s *strategy) float64 { return s.least })
}

// low is the most that two cells have under 0 in it.
func (d Dimension) low() float64 {
	return d.along(1/float64(d.Size), func(s *strategy) float64 { return s.low })
}

// excess is top where that is above 1.
func (d Dimension) excess() float64 {
	return d.along(1, func(s *strategy) float64 { return max(1, s.top) })
}

// scale is what a residual is multiplied by to be whole numbers.
func (d Dimension) scale() int64 {
	if d.strategy() != nil {
		return 1 << rangeBits
	}
	return int64(d.Size)
}

// reach is the most that whole numbers are multiplied by.
func (d Dimension) reach() float64 {
	return d.along(2*float64(d.Size-1), func(s *strategy) float64 { return s.reach })
}

// cell is the variance of a cell for noise of variance 1, the mean over all cells.
func (d Dimension) cell() float64 {
	return d.along(1-1/float64(d.Size), func(s *strategy) float64 { return s.cell })
}

// widened is the quotient of that and 1−1/n.
func (d Dimension) widened() float64 {
	return d.along(1, func(s *strategy) float64 { return s.cell / (1 - 1/float64(s.n)) })
}

// at is the variance of the cell of a value.
func (d Dimension) at(v int) float64 {
	return d.along(1-1/float64(d.Size), func(s *strategy) float64 { return s.inverse[v*s.n+v] })
}

// spread is what the residuals with the dimension add to the variance of what is wanted along it: a
// cell, or intervals.
func (d Dimension) spread() float64 {
	return d.along(1-1/float64(d.Size), func(s *strategy) float64 { return s.spread })
}

// mean is what those without it add.
func (d Dimension) mean() float64 {
	n := float64(d.Size)
	return d.along(1/(n*n), func(s *strategy) float64 { return s.mean })
}

// squared is wᵀCw of weights of the values, or wᵀG⁺w.
func (d Dimension) squared(w []float64) (square float64) {
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	s := d.strategy()
	for i, x := range w {
		if s == nil {
			square += (x - sum/float64(d.Size)) * (x - sum/float64(d.Size))
		} else if x != 0 {
			square += x * dot(s.inverse[i*s.n:(i+1)*s.n], w)
		}
	}
	return square
}

// times multiplies a table along the axis by a square matrix in row-major order.
func times[T int64 | float64](a axis, matrix, table []T) {
	out := make([]T, a.n*a.inner)
	for o := range a.outer {
		part := table[o*a.n*a.inner : (o+1)*a.n*a.inner]
		clear(out)
		for r := range a.n {
			to := out[r*a.inner : (r+1)*a.inner]
			for v, x := range matrix[r*a.n : (r+1)*a.n] {
				for j, y := range part[v*a.inner : (v+1)*a.inner] {
					to[j] += x * y
				}
			}
		}
		copy(part, out)
	}
}

func dot(a, b []float64) (sum float64) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
