package cube

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"scrim/test/stattest"
)

// sparse releases a cube of persons of whom most are in few cells.
func sparse(t *testing.T, c *Cube, persons int, name string) (exact, a *Answer) {
	r := rand.New(stattest.Source(t, name))
	tables := c.Tables()
	for range persons {
		at := make([]int, len(c.p.Dims))
		for i, d := range c.p.Dims {
			at[i] = min(int(r.ExpFloat64()*float64(d.Size)/5), d.Size-1)
		}
		c.Add(tables, at, 1)
	}
	return c.Release(stattest.Zero{}, tables), c.Release(stattest.Noiser(t, name), tables)
}

// TestNonNegativeTablesAddUp: no cell is under 0, every table adds up to every other and to the
// total as it was released, and the error is less.
func TestNonNegativeTablesAddUp(t *testing.T) {
	for _, v := range []struct {
		sizes         []int
		ways, persons int
	}{
		{[]int{20, 12, 5, 7}, 4, 2000}, {[]int{20, 12, 5, 7}, 2, 300}, {[]int{6, 1, 5}, 3, 40}, {[]int{50}, 1, 100}, {[]int{3}, 0, 10}, {adult, 2, 1000},
	} {
		p := Params{Dims: dims(v.sizes...), Workload: Ways(len(v.sizes), v.ways), Rho: 0.05}
		if v.ways == 0 {
			p.Workload = []Marginal{{0, 1}} // the total alone
		}
		c := build(t, p)
		exact, a := sparse(t, c, v.persons, "sparse")
		b, fit := a.NonNegative()
		t.Logf("%v: %d rounds, %.2g mixed", v.sizes, fit.Rounds, fit.Mixed)
		if !fit.Converged || fit.Mixed > fitMixed {
			t.Errorf("%v: not converged: %+v", v.sizes, fit)
		}
		total := a.Marginal(0)[0]
		before, after := 0.0, 0.0
		for _, s := range c.sets {
			truth, raw, table := exact.Marginal(s), a.Marginal(s), b.Marginal(s)
			sum := 0.0
			for j, x := range table {
				if sum += x; x < 0 {
					t.Fatalf("%v: cell %d of %b is %v", v.sizes, j, s, x)
				}
				before += math.Pow(raw[j]-truth[j], 2) / float64(len(table))
				after += math.Pow(x-truth[j], 2) / float64(len(table))
			}
			if math.Abs(sum-total) > 1e-6*total {
				t.Errorf("%v: the table %b adds up to %v, not %v", v.sizes, s, sum, total)
			}
			for _, top := range c.tops {
				if s.Within(top) {
					agree(t, c, top, s, b.Marginal(top), table)
				}
			}
		}
		if after > before {
			t.Errorf("%v: mean squared error %v, was %v", v.sizes, after, before)
		}
	}
}

// TestNonNegativeKeepsSmallTables: lifting many nearly empty cells takes nothing much from tables
// of few dimensions. Without stiffness their error is 2.8 times what it was.
func TestNonNegativeKeepsSmallTables(t *testing.T) {
	c := build(t, Params{Dims: dims(adult...), Workload: Ways(len(adult), 3), Rho: 0.05})
	exact, a := sparse(t, c, 30000, "many")
	b, _ := a.NonNegative()
	var before, after [4]float64
	for _, s := range c.sets {
		truth, raw, table := exact.Marginal(s), a.Marginal(s), b.Marginal(s)
		for j, x := range table {
			before[s.Len()] += math.Pow(raw[j]-truth[j], 2) / float64(len(table))
			after[s.Len()] += math.Pow(x-truth[j], 2) / float64(len(table))
		}
	}
	for ways, most := range []float64{1, 1.2, 1, 0.8} {
		if r := math.Sqrt(after[ways] / before[ways]); r > most+1e-9 {
			t.Errorf("%d ways: %v times the error, want at most %v", ways, r, most)
		}
	}
}

// agree checks that a table of s is the marginal of one of top.
func agree(t *testing.T, c *Cube, top, s Set, large, small []float64) {
	t.Helper()
	for i := range (top &^ s).Dims() {
		large = sum(c.axis(top, i), large)
		top &^= 1 << i
	}
	for j, x := range small {
		if math.Abs(x-large[j]) > 1e-6*(1+math.Abs(x)) {
			t.Errorf("cell %d of %b is %v, and %v by a larger table", j, s, x, large[j])
		}
	}
}

// TestNonNegativeIsTheNearest compares with the best of all choices of cells that are 0, each by
// its linear system.
func TestNonNegativeIsTheNearest(t *testing.T) {
	c := build(t, Params{Dims: dims(2, 3), Workload: Ways(2, 2), Rho: 0.05})
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		_, a := sparse(t, c, 6, name)
		total := a.Marginal(0)[0]
		b, fit := a.NonNegative()
		if total <= 0 {
			for _, x := range b.Marginal(Of(0, 1)) {
				if x != 0 {
					t.Errorf("%s: a cell of %v for a total of %v", name, x, total)
				}
			}
			continue
		}
		want, wantAt := math.Inf(1), []float64{}
		for zeros := range 1 << 6 {
			if x, ok := c.nearest(a, zeros, total); ok {
				if v := c.distance(x, a); v < want {
					want, wantAt = v, x
				}
			}
		}
		got := c.distance(b.Marginal(Of(0, 1)), a)
		if got > want*(1+5e-3)+1e-6 || got < want*(1-1e-6)-1e-9 {
			t.Errorf("%s: distance %v after %+v, want %v at %v", name, got, fit, want, wantAt)
		}
	}
}

// precisionMatrix is Σ over sets but the empty one of R_Bᵀ R_B/g_B.
func (c *Cube) precisionMatrix() *mat.Dense {
	q := mat.NewDense(6, 6, nil)
	for i, b := range c.sets[1:] {
		r := c.kron(func(i, n int) mat.Matrix {
			if b.Has(i) {
				return centring(n)
			}
			return constant(1, n, 1)
		})
		var part mat.Dense
		part.Mul(r.T(), r)
		_, above := c.spreads(b)
		part.Scale(1/(c.variance[i+1]*math.Pow(fitStiff, float64(above))), &part)
		q.Add(q, &part)
	}
	return q
}

// distance is the weighted squared distance of a table from an answer.
func (c *Cube) distance(x []float64, a *Answer) float64 {
	d := mat.NewVecDense(6, nil)
	d.SubVec(mat.NewVecDense(6, x), mat.NewVecDense(6, a.Marginal(Of(0, 1))))
	return mat.Inner(d, c.precisionMatrix(), d)
}

// nearest is the nearest table of a total with the given cells at 0, if no cell of it is under 0.
func (c *Cube) nearest(a *Answer, zeros int, total float64) ([]float64, bool) {
	var free []int
	for j := range 6 {
		if zeros>>j&1 == 0 {
			free = append(free, j)
		}
	}
	if len(free) == 0 {
		return nil, false
	}
	q, n := c.precisionMatrix(), len(free)
	var right mat.VecDense
	right.MulVec(q, mat.NewVecDense(6, a.Marginal(Of(0, 1))))
	m, v := mat.NewDense(n+1, n+1, nil), mat.NewVecDense(n+1, nil)
	for i, j := range free {
		for k, l := range free {
			m.Set(i, k, q.At(j, l))
		}
		m.Set(i, n, 1)
		m.Set(n, i, 1)
		v.SetVec(i, right.AtVec(j))
	}
	v.SetVec(n, total)
	var x mat.VecDense
	if x.SolveVec(m, v) != nil {
		return nil, false
	}
	table := make([]float64, 6)
	for i, j := range free {
		if table[j] = x.AtVec(i); table[j] < -1e-9 {
			return nil, false
		}
	}
	return table, true
}
