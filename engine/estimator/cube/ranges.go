package cube

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// MaxRanges is the number of values beyond which a dimension is not measured for ranges: what is
// made of its matrices takes time in proportion to the cube of that, a tenth of a second for the
// days of a year and one to three seconds for this many, once as long as it is kept (strategies).
const MaxRanges = 1024

// rangeBits is the resolution of the whole numbers that are measured along a dimension of ranges.
const rangeBits = 10

// levelled is how often columns are brought to one length.
const levelled = 40

// strategy is how a dimension of n values is measured so that sums over intervals of it have little
// noise: in the place of C = I − 11ᵀ/n stands an n×n matrix T of whole numbers, each of whose rows
// adds up to 0. With T′ = T/2^rangeBits a residual then has noise of covariance in proportion to
// G⁺, and a person's vector costs by G:
//
//	G = T′ᵀT′     G⁺ its inverse on vectors that add up to 0     (C in both places, else)
//
// Everything follows from n. Matrices are in row-major order.
type strategy struct {
	n          int
	t          []int64
	g, inverse []float64 // G, exact, and G⁺
	back       []float64 // G⁺T′ᵀ, which reads a residual of what is measured
	// top is the largest entry of the diagonal of G, and −low the least of all: no entry is larger
	// than top, since G has no eigenvalue under 0.
	top, low float64
	least    float64 // on the diagonal
	reach    float64 // the largest sum of sizes in a row of T
	// over all cells, and over all intervals: the means of fᵀG⁺f and, of intervals, (Σf/n)²
	cell, spread, mean float64
}

// newStrategy makes the strategy of n values, 2 or more.
//
// Its aim is the mean variance of all intervals. Of vectors that add up to 0 the cosines
// cos(πk(c+½)/n) have, in intervals, the mean square 1/(2n·sin²(πk/2n)) or nearly so, and the least
// variance for the mean cost of a cell is that of T′ with singular values in proportion to the
// fourth root of it [LM12]. The cost of the dearest cell is what counts, so columns are brought to
// one length, by turns with rows to sum 0.
func newStrategy(n int) *strategy {
	t := cosines(n)
	length := math.Sqrt(1 - 1/float64(n))
	for range levelled {
		level(t, n, length)
		for r := range n {
			centreRow(t[r*n : (r+1)*n])
		}
	}
	s := &strategy{n: n, t: wholeNumbers(t, n)}
	s.gram()
	s.invert()
	s.summarise()
	return s
}

// cosines is Σ_k √g_k·u_k·u_kᵀ, u_k of length 1 in proportion to cos(πk(c+½)/n) and g_k to
// 1/sin(πk/2n).
func cosines(n int) []float64 {
	at := make([]float64, 2*n)
	for d := range at {
		for k := 1; k < n; k++ {
			at[d] += math.Cos(math.Pi*float64(k*d%(2*n))/float64(n)) / math.Sqrt(math.Sin(math.Pi*float64(k)/float64(2*n)))
		}
	}
	t := make([]float64, n*n)
	for r := range n {
		for c := range n {
			t[r*n+c] = at[max(r-c, c-r)] + at[r+c+1]
		}
	}
	return t
}

// level brings the columns to a length.
func level(t []float64, n int, length float64) {
	for c := range n {
		square := 0.0
		for r := range n {
			square += t[r*n+c] * t[r*n+c]
		}
		for r := range n {
			t[r*n+c] *= length / math.Sqrt(square)
		}
	}
}

func centreRow(row []float64) {
	mean := 0.0
	for _, x := range row {
		mean += x / float64(len(row))
	}
	for c := range row {
		row[c] -= mean
	}
}

// wholeNumbers are those that are nearest, times 2^rangeBits, but for ones that keep the sum of
// each row at 0.
func wholeNumbers(t []float64, n int) []int64 {
	out := make([]int64, n*n)
	for r := range n {
		row, left := out[r*n:(r+1)*n], int64(0)
		for c := range row {
			row[c] = int64(math.Round(t[r*n+c] * (1 << rangeBits)))
			left -= row[c]
		}
		for c := 0; left != 0; c = (c + 1) % n {
			one := int64(1)
			if left < 0 {
				one = -1
			}
			row[(r+c)%n] += one // from its largest entry on
			left -= one
		}
	}
	return out
}

// gram computes G, exactly, and what bounds its entries.
func (s *strategy) gram() {
	n := s.n
	s.g = make([]float64, n*n)
	for r := range n {
		row, reach := s.t[r*n:(r+1)*n], 0.0
		for a, x := range row {
			for b, y := range row {
				s.g[a*n+b] += float64(x * y)
			}
			reach += math.Abs(float64(x))
		}
		s.reach = max(s.reach, reach)
	}
	for i := range s.g {
		s.g[i] /= 1 << (2 * rangeBits)
		s.low = max(s.low, -s.g[i])
	}
	s.least = s.g[0]
	for c := range n {
		s.top, s.least = max(s.top, s.g[c*n+c]), min(s.least, s.g[c*n+c])
	}
}

// invert computes G⁺ = (G + 11ᵀ/n)⁻¹ − 11ᵀ/n, that matrix having no eigenvalue near 0, and what is
// made of it.
func (s *strategy) invert() {
	n, even := s.n, 1/float64(s.n)
	m := mat.NewSymDense(n, nil)
	for r := range n {
		for c := r; c < n; c++ {
			m.SetSym(r, c, s.g[r*n+c]+even)
		}
	}
	var roots mat.Cholesky
	var inverse mat.SymDense
	if !roots.Factorize(m) || roots.InverseTo(&inverse) != nil {
		panic("cube: a strategy for ranges that does not tell all cells") // not for any n: a test
	}
	s.inverse = make([]float64, n*n)
	scaled := make([]float64, n*n)
	for i := range s.inverse {
		s.inverse[i] = inverse.At(i/n, i%n) - even
		scaled[i] = float64(s.t[i]) / (1 << rangeBits)
	}
	s.back = make([]float64, n*n)
	mat.NewDense(n, n, s.back).Mul(mat.NewDense(n, n, s.inverse), mat.NewDense(n, n, scaled).T())
}

// summarise computes the means over cells and intervals. An interval from a to b has the variance
// P[b,b] + P[a,a] − P[a,b] − P[b,a], P the sums of G⁺ over all that is before in both directions.
func (s *strategy) summarise() {
	n := s.n
	p := make([]float64, (n+1)*(n+1))
	for r := range n {
		s.cell += s.inverse[r*n+r] / float64(n)
		sum := 0.0
		for c := range n {
			sum += s.inverse[r*n+c]
			p[(r+1)*(n+1)+c+1] = p[r*(n+1)+c+1] + sum
		}
	}
	for a := range n + 1 {
		for b := a + 1; b <= n; b++ {
			share := float64(b-a) / float64(n)
			s.spread += p[b*(n+1)+b] + p[a*(n+1)+a] - p[a*(n+1)+b] - p[b*(n+1)+a]
			s.mean += share * share
		}
	}
	all := float64(n*(n+1)) / 2
	s.spread, s.mean = s.spread/all, s.mean/all
}

// strategies are those that were made last, since statements over views ask for them again. What
// there is follows from public sizes alone.
var strategies struct {
	sync.Mutex
	made []*strategy
}

// mostStrategies is how many are kept: 34 MB each at most.
const mostStrategies = 8

// strategyOf returns the strategy of n values.
func strategyOf(n int) *strategy {
	strategies.Lock()
	defer strategies.Unlock()
	for _, s := range strategies.made {
		if s.n == n {
			return s
		}
	}
	s := newStrategy(n)
	if len(strategies.made) == mostStrategies {
		strategies.made = strategies.made[1:]
	}
	strategies.made = append(strategies.made, s)
	return s
}

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
