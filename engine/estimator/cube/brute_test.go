package cube

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// dims returns dimensions named a, b, c … of the given sizes.
func dims(sizes ...int) []Dimension {
	var d []Dimension
	for i, n := range sizes {
		d = append(d, Dimension{Name: string(rune('a' + i)), Size: n})
	}
	return d
}

// ordered are dims, those of s measured for ranges.
func ordered(s Set, sizes ...int) []Dimension {
	d := dims(sizes...)
	for i := range s.Dims() {
		d[i].Ranges = true
	}
	return d
}

func build(t *testing.T, p Params) *Cube {
	t.Helper()
	c, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// small are cubes whose joint domain can be listed.
func small(t *testing.T) map[string]*Cube {
	weighted := []Marginal{{Of(0, 1), 3}, {Of(1, 2), 0.5}, {Of(2), 7}}
	m := map[string]*Cube{}
	for name, p := range map[string]Params{
		"2 ways":       {Dims: dims(3, 2, 4), Workload: Ways(3, 2)},
		"all":          {Dims: dims(2, 3, 2), Workload: Ways(3, 3)},
		"weighted":     {Dims: dims(3, 4, 2), Workload: weighted},
		"total":        {Dims: dims(3, 2), Workload: []Marginal{{0, 1}}},
		"with a point": {Dims: dims(3, 1, 4), Workload: Ways(3, 3)},
		"ranges":       {Dims: ordered(Of(2), 3, 2, 4), Workload: Ways(3, 2)},
		"all ranges":   {Dims: ordered(Of(0, 1), 5, 3, 1), Workload: Ways(3, 3)},
	} {
		for _, r := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
			p.Rho, p.Relation = 0.02, r
			m[name+", "+r.String()] = build(t, p)
		}
	}
	return m
}

// points lists the cells of all dimensions.
func (c *Cube) points() [][]int {
	out := [][]int{{}}
	for _, d := range c.p.Dims {
		var next [][]int
		for _, at := range out {
			for v := range d.Size {
				next = append(next, append(append([]int(nil), at...), v))
			}
		}
		out = next
	}
	return out
}

// marginalMatrix is ⊗ of I for the dimensions of s and 1ᵀ for others.
func (c *Cube) marginalMatrix(s Set) mat.Matrix {
	return c.kron(func(i, n int) mat.Matrix {
		if s.Has(i) {
			return eye(n)
		}
		return constant(1, n, 1)
	})
}

// kron multiplies matrices of all dimensions.
func (c *Cube) kron(of func(i, n int) mat.Matrix) *mat.Dense {
	m := mat.NewDense(1, 1, []float64{1})
	for i, d := range c.p.Dims {
		var next mat.Dense
		next.Kronecker(m, of(i, d.Size))
		m = &next
	}
	return m
}

func eye(n int) *mat.Dense {
	m := mat.NewDense(n, n, nil)
	for i := range n {
		m.Set(i, i, 1)
	}
	return m
}

func constant(r, c int, x float64) *mat.Dense {
	m := mat.NewDense(r, c, nil)
	m.Apply(func(_, _ int, _ float64) float64 { return x }, m)
	return m
}

func centring(n int) *mat.Dense {
	m := constant(n, n, -1/float64(n))
	m.Add(m, eye(n))
	return m
}

// measured is C_i, or T′ of a dimension of ranges.
func (c *Cube) measured(i int) *mat.Dense {
	s := c.ranges[i]
	if s == nil {
		return centring(c.p.Dims[i].Size)
	}
	m := mat.NewDense(s.n, s.n, nil)
	for at, x := range s.t {
		m.Set(at/s.n, at%s.n, float64(x)/(1<<rangeBits))
	}
	return m
}

// covariance of a marginal by explicit matrices: with the noise of all residuals' covariances put
// together as an information matrix on the cells of all dimensions, the marginal's is that of the
// best linear unbiased estimate.
func (c *Cube) covariance(s Set) *mat.Dense {
	n := c.Size(Of(upTo(len(c.p.Dims))...))
	information := mat.NewDense(n, n, nil)
	for i, b := range c.sets {
		r := c.kron(func(i, n int) mat.Matrix {
			if b.Has(i) {
				return c.measured(i)
			}
			return constant(1, n, 1)
		})
		var part mat.Dense
		part.Mul(r.T(), r) // of independent noise; the pseudo-inverse of a projection is the projection
		part.Scale(1/c.variance[i], &part)
		information.Add(information, &part)
	}
	var svd mat.SVD
	svd.Factorize(information, mat.SVDFull)
	var u, v mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	inverse := mat.NewDense(n, n, nil)
	for i, x := range svd.Values(nil) {
		if x > 1e-9*svd.Values(nil)[0] {
			var outer mat.Dense
			outer.Outer(1/x, v.ColView(i), u.ColView(i))
			inverse.Add(inverse, &outer)
		}
	}
	m := c.marginalMatrix(s)
	var out mat.Dense
	out.Product(m, inverse, m.T())
	return &out
}

// pulses is a Noiser of which every draw is 0, but for one of size on a wire.
type pulses struct {
	stattest.Zero
	at, n int
	size  int64
}

func (p *pulses) Gaussian(v, _ *big.Int) *big.Int {
	if p.n++; p.n-1 == p.at {
		return new(big.Int).Add(v, big.NewInt(p.size))
	}
	return v
}

func (p *pulses) GaussianInt(v int64, s noise.Variance) int64 {
	return p.Gaussian(big.NewInt(v), s.Big()).Int64()
}

// drawn returns the variance of each draw, and what one unit of it does to the cells of s.
func (c *Cube) drawn(s Set) (variance []float64, effect [][]float64) {
	for i, b := range c.sets {
		v, _ := new(big.Float).SetInt(c.noise[i]).Float64()
		for range c.Size(b) {
			p := &pulses{at: len(variance), size: 1 << 20}
			m := c.Release(p, c.Tables()).Marginal(s)
			for j := range m {
				m[j] /= 1 << 20
			}
			variance, effect = append(variance, v), append(effect, m)
		}
	}
	return variance, effect
}

// TestVariancesAreThoseOfTheMatrices compares three covariances of every marginal: by explicit
// matrices, by what each draw does to the answer, and the closed forms of cells, filters and sums.
func TestVariancesAreThoseOfTheMatrices(t *testing.T) {
	r := rand.New(stattest.Source(t, "weights"))
	for name, c := range small(t) {
		a := c.Release(stattest.Zero{}, c.Tables())
		for _, m := range c.p.Workload {
			want := c.covariance(m.Set)
			variance, effect := c.drawn(m.Set)
			cells := c.Size(m.Set)
			for i := range cells {
				near(t, name+" cell", math.Pow(c.StdErrs(m.Set)[i], 2), want.At(i, i))
				for j := range cells {
					got := 0.0
					for d, v := range variance {
						got += v * effect[d][i] * effect[d][j]
					}
					if math.Abs(got-want.At(i, j)) > 1e-9*want.At(i, i) {
						t.Errorf("%s, %b: covariance of cells %d, %d is %v, want %v", name, m.Set, i, j, got, want.At(i, j))
					}
				}
			}
			near(t, name+" cells", c.StdErr(m.Set)*c.StdErr(m.Set)*float64(cells), mat.Trace(want))
			w := randoms(r, cells)
			_, got := a.Sum(m.Set, w)
			near(t, name+" sum", got*got, quadratic(want, w))
			var factors [][]float64
			product := []float64{1}
			for i := range m.Set.Dims() {
				f := randoms(r, c.p.Dims[i].Size)
				factors = append(factors, f)
				var next []float64
				for _, x := range product {
					for _, y := range f {
						next = append(next, x*y)
					}
				}
				product = next
			}
			near(t, name+" filter", math.Pow(c.FilterStdErr(m.Set, factors), 2), quadratic(want, product))
		}
	}
}

func quadratic(m *mat.Dense, w []float64) float64 {
	v := mat.NewVecDense(len(w), w)
	return mat.Inner(v, m, v)
}

func randoms(r *rand.Rand, n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = r.NormFloat64()
	}
	return w
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestAnswersAreUnbiased: without noise, marginals, filters and sums are exact, of counts that take
// all bits and of negative ones.
func TestAnswersAreUnbiased(t *testing.T) {
	r := rand.New(stattest.Source(t, "tables"))
	for name, c := range small(t) {
		for _, bits := range []uint{3, 20, 59} {
			tables, joint := c.Tables(), []float64{}
			for _, at := range c.points() {
				x := r.Int64N(1<<bits) - 1<<(bits-1)
				c.Add(tables, at, x)
				joint = append(joint, float64(x))
			}
			a := c.Release(stattest.Zero{}, tables)
			for _, m := range c.p.Workload {
				var want mat.VecDense
				want.MulVec(c.marginalMatrix(m.Set), mat.NewVecDense(len(joint), joint))
				w := randoms(r, want.Len())
				sum, _ := a.Sum(m.Set, w)
				exact, tolerance := 0.0, 0x1p-45*math.Ldexp(1, int(bits))
				for j, x := range a.Marginal(m.Set) {
					exact += w[j] * want.AtVec(j)
					if math.Abs(x-want.AtVec(j)) > tolerance {
						t.Errorf("%s, %d bits: cell %d of %b is %v, want %v", name, bits, j, m.Set, x, want.AtVec(j))
					}
				}
				if math.Abs(sum-exact) > 100*tolerance {
					t.Errorf("%s, %d bits: a sum is %v, want %v", name, bits, sum, exact)
				}
				ones := [][]float64{}
				for i := range m.Set.Dims() {
					ones = append(ones, make([]float64, c.p.Dims[i].Size))
					ones[len(ones)-1][c.p.Dims[i].Size-1] = 1 // the last value of each
				}
				if got, _ := a.Filter(m.Set, ones); math.Abs(got-want.AtVec(want.Len()-1)) > tolerance {
					t.Errorf("%s, %d bits: a filter is %v, want %v", name, bits, got, want.AtVec(want.Len()-1))
				}
			}
		}
	}
}
