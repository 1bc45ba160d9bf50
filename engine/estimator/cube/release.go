package cube

import (
	"math/big"

	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Tables are the exact tables of a cube's Tops, in their order, in steps of Unit. All of them must
// be marginals of one table to which each person adds what Params say: one Unit in one cell at
// most, or what Tally makes of several rows.
type Tables [][]int64

// Tables returns tables of zeros.
func (c *Cube) Tables() Tables {
	t := make(Tables, len(c.tops))
	for i, s := range c.tops {
		t[i] = make([]int64, c.Size(s))
	}
	return t
}

// Add counts steps in the cell of the given values, one for each dimension of the cube.
func (c *Cube) Add(t Tables, values []int, steps int64) {
	for i, s := range c.tops {
		t[i][c.cell(s, values)] += steps
	}
}

// cell is the place of a cell in a set's table. It panics on values outside the dimensions.
func (c *Cube) cell(s Set, values []int) int {
	at := 0
	for i := range s.Dims() {
		if values[i] < 0 || values[i] >= c.p.Dims[i].Size {
			panic("cube: a value outside its dimension")
		}
		at = at*c.p.Dims[i].Size + values[i]
	}
	return at
}

// Release measures the residuals of the tables.
//
// Of each set B it takes the integers q = (⊗ (n_i·I − 11ᵀ))·M_B x = Π n_i · r_B, adds independent
// discrete Gaussian noise to every cell, divides by Π n_i and centres: the noise of the residual
// has the covariance σ_B²·⊗ C_i, where that of a cell of q is σ_B²·Π n_i². One person moves q by
// Π n_i times a residual, so all q together cost Σ_B ‖r_B‖²/(2σ_B²) by [CKS20, Theorem 14]; the
// rest is post-processing. It never fails, panics only on tables of the wrong shape, and is exact
// for all integers.
func (c *Cube) Release(n noise.Noiser, t Tables) *Answer {
	c.mustFit(t)
	a := &Answer{c: c, residuals: make([][]float64, len(c.sets))}
	for i, table := range c.marginals(t) {
		a.residuals[i] = c.measure(n, c.sets[i], table, c.noise[i])
	}
	return a
}

func (c *Cube) mustFit(t Tables) {
	if len(t) != len(c.tops) {
		panic("cube: tables do not fit the cube")
	}
	for i, s := range c.tops {
		if len(t[i]) != c.Size(s) {
			panic("cube: tables do not fit the cube")
		}
	}
}

// marginals are the exact tables of all sets, by place.
func (c *Cube) marginals(t Tables) [][]int64 {
	out := make([][]int64, len(c.sets))
	for i, s := range c.tops {
		out[c.place[s]] = t[i]
	}
	for i := len(c.sets) - 1; i >= 0; i-- { // larger sets first
		if b := c.sets[i]; out[i] == nil {
			a := c.over(b)
			out[i] = sum(c.axis(a, first(a&^b)), out[c.place[a]])
		}
	}
	return out
}

// measure is one residual with noise.
//
// The integers q may pass 64 bits, so q is computed of the upper and of the lower 32 bits of the
// table apart: each has |q| ≤ 2^32·Π 2(n_i−1) ≤ 2^62, by checkSize. Along dimensions of ranges it
// is of T, and what is read back is G⁺T′ᵀ times that, of covariance G⁺.
func (c *Cube) measure(n noise.Noiser, b Set, table []int64, sigma2 *big.Int) []float64 {
	hi, lo := make([]int64, len(table)), make([]int64, len(table))
	for j, x := range table {
		hi[j], lo[j] = x>>32, x&(1<<32-1)
	}
	out := make([]float64, len(table))
	for i := range b.Dims() {
		a := c.axis(b, i)
		if s := c.ranges[i]; s != nil {
			times(a, s.t, hi)
			times(a, s.t, lo)
			continue
		}
		a.centreTimes(hi)
		a.centreTimes(lo)
	}
	scale := c.p.each(b, func(d Dimension) float64 { return float64(d.scale()) }) * float64(c.Unit())
	d := newDraw(n, sigma2)
	for j := range out {
		out[j] = d.of(hi[j], lo[j]) / scale
	}
	for i := range b.Dims() {
		a := c.axis(b, i)
		if s := c.ranges[i]; s != nil {
			times(a, s.back, out)
			continue
		}
		a.centre(out)
	}
	return out
}

// draw adds noise of one variance.
type draw struct {
	n      noise.Noiser
	sigma2 *big.Int
	small  noise.Variance // where sigma2 is below 2^100, so that the noise is far below 2^62
}

func newDraw(n noise.Noiser, sigma2 *big.Int) draw {
	d := draw{n: n, sigma2: sigma2}
	if sigma2.BitLen() <= 100 {
		d.small = scalar.ToVariance(sigma2)
	}
	return d
}

// of returns hi·2^32 + lo with noise. Which way it takes changes time, and not the law.
func (d draw) of(hi, lo int64) float64 {
	if v := hi<<32 + lo; hi > -1<<29 && hi < 1<<29 && lo > -1<<61 && lo < 1<<61 && (d.small != noise.Variance{}) {
		return float64(d.n.GaussianInt(v, d.small))
	}
	v := new(big.Int).Lsh(big.NewInt(hi), 32)
	return scalar.Float(d.n.Gaussian(v.Add(v, big.NewInt(lo)), d.sigma2))
}
