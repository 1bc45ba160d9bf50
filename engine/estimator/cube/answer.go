package cube

import (
	"math"
	"math/bits"
)

// Answer is a released cube: everything in it may be shown. It is immutable.
type Answer struct {
	c         *Cube
	residuals [][]float64 // by place, in persons or rows
	atLeast0  bool        // no cell is under 0 but for rounding
}

// Marginal returns the table of s, which the cube must answer, without bias. Each cell has noise of
// standard deviation Cube.StdErr. Tables of several sets add up to each other but for rounding.
func (a *Answer) Marginal(s Set) []float64 {
	table := a.c.table(a.residuals, s)
	if a.atLeast0 {
		for j, x := range table {
			table[j] = max(0, x)
		}
	}
	return table
}

// table is a marginal of residuals by place. Dimensions of one value have the same cells as none.
func (c *Cube) table(residuals [][]float64, s Set) []float64 {
	c.mustAnswer(s)
	return c.merge(func(b Set) []float64 { return residuals[c.place[b]] }, 0, c.p.varied(s))
}

// Filter returns the sum of the cells of s, each times the product of the weights of its values,
// and the standard deviation of its noise. weights has one slice for each dimension of s, in rising
// order, with one number for each value: 0 and 1 for a filter or a range.
func (a *Answer) Filter(s Set, weights [][]float64) (value, stdErr float64) {
	stdErr = a.c.FilterStdErr(s, weights)
	table, at := a.Marginal(s), len(weights)-1
	for i := len(a.c.p.Dims) - 1; i >= 0; i-- { // the last dimension is the fastest
		if !s.Has(i) {
			continue
		}
		f := weights[at]
		out := make([]float64, len(table)/len(f))
		for o := range out {
			for v, w := range f {
				out[o] += w * table[o*len(f)+v]
			}
		}
		table, at = out, at-1
	}
	return table[0], stdErr
}

// Sum returns the sum of the cells of s, each times its weight, and the standard deviation of its
// noise: √(Σ_B σ_B²·‖g_B‖²), g_B what the weights give residual B.
func (a *Answer) Sum(s Set, weights []float64) (value, stdErr float64) {
	v := 0.0
	a.c.weigh(s, weights, func(place int, g []float64) {
		for j, x := range g {
			value += x * a.residuals[place][j]
		}
		v = a.c.spreads2(v, place, g)
	})
	return value, math.Sqrt(v)
}

// SumStdErr is the standard deviation of the noise of Answer.Sum, with the same arguments.
func (c *Cube) SumStdErr(s Set, weights []float64) float64 {
	v := 0.0
	c.weigh(s, weights, func(place int, g []float64) {
		v = c.spreads2(v, place, g)
	})
	return math.Sqrt(v)
}

// spreads2 adds to a variance that of a residual's cells times weights g: σ_B²·‖g‖², and along
// dimensions of ranges the square by G⁺.
func (c *Cube) spreads2(v float64, place int, g []float64) float64 {
	with := g
	for i := range c.sets[place].Dims() {
		if s := c.ranges[i]; s != nil {
			with = append([]float64(nil), with...)
			times(c.axis(c.sets[place], i), s.inverse, with)
		}
	}
	for j, x := range g {
		v += c.variance[place] * x * with[j]
	}
	return v
}

// StdErrs are the standard deviations of the noise of the cells of a marginal that c answers, which
// differ along dimensions of ranges alone.
func (c *Cube) StdErrs(s Set) []float64 {
	c.mustAnswer(s)
	own := c.p.varied(s)
	v := c.merge2(0, own)
	for j, x := range v {
		v[j] = math.Sqrt(x)
	}
	return v
}

// merge2 is merge of the variances of independent residuals.
func (c *Cube) merge2(fixed, free Set) []float64 {
	if free == 0 {
		return []float64{c.variance[c.place[fixed]]}
	}
	i := bits.Len32(uint32(free)) - 1 // the last dimension is the fastest
	n := c.p.Dims[i].Size
	with, without := c.merge2(fixed|1<<i, free&^(1<<i)), c.merge2(fixed, free&^(1<<i))
	out := make([]float64, 0, len(with)*n)
	for j := range with {
		for v := range n {
			out = append(out, with[j]*c.p.Dims[i].at(v)+without[j]/float64(n*n))
		}
	}
	return out
}

// weigh hands over what weights of the cells of s give each residual.
func (c *Cube) weigh(s Set, weights []float64, to func(place int, g []float64)) {
	c.mustAnswer(s)
	if len(weights) != c.Size(s) {
		panic("cube: weights do not fit the table")
	}
	c.split(append([]float64(nil), weights...), 0, c.p.varied(s), func(b Set, g []float64) { to(c.place[b], g) })
}
