package cube

import (
	"math"
	"math/big"
	"math/bits"

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

// rowBits is the resolution of a person's vector of several rows: steps of 2^-12 rows.
const rowBits = 12

// mostSteps bounds the steps of one person in all cells together, so that the tables of 2^31
// persons stay within 63 bits. Vectors of numbers that are not under 0 are within it, but for those
// over very many cells.
const mostSteps = 1 << 32

// Entry is the number of rows that a person has in one cell, or what else is added up by cell, in
// multiples of one row that are not under 0 unless Params.Signed says so: what is under 0 then
// counts as 0. It is finite.
type Entry struct {
	Values []int // one for each dimension of the cube
	Rows   float64
}

// Tally adds one person to the tables: all rows of the person, each cell once.
//
// Where Params.Rows is 0, that is one Unit in the first cell with rows. Else the vector of the
// person's rows is multiplied by a factor of at most 1, rounded to the lattice, and its cost Σ over
// cells a, b of y_a·y_b·K[S] is compared with that of Rows rows in one cell, Rows²·K[all]: what
// decides is the lattice vector itself, with all that floats may be off added to its cost. So what
// the release costs does not depend on how the factor is found. Numbers of rows that are multiples
// of 2^-12 are not rounded where the vector is not shortened.
func (c *Cube) Tally(t Tables, person []Entry) {
	if c.p.Rows == 0 {
		for _, e := range person {
			if e.Rows > 0 {
				c.Add(t, e.Values, 1)
				return
			}
		}
		return
	}
	for i, steps := range c.shorten(person) {
		if steps != 0 {
			c.Add(t, person[i].Values, steps)
		}
	}
}

// Length is what a person's vector costs, as the number of rows in one cell that cost the same. It
// is a function of the person's rows alone. Along dimensions of ranges cells differ, and it is that
// of the cheapest one, so that no row is shorter than 1.
func (c *Cube) Length(person []Entry) float64 {
	cost, _ := c.length2(person, c.rows(person))
	return math.Sqrt(max(0, cost) / c.cheapest)
}

// rows are a person's entries as they count.
func (c *Cube) rows(person []Entry) []float64 {
	rows := make([]float64, len(person))
	for i, e := range person {
		if rows[i] = e.Rows; !c.p.Signed {
			rows[i] = max(0, e.Rows)
		}
	}
	return rows
}

// shorten returns a person's steps by entry.
func (c *Cube) shorten(person []Entry) []int64 {
	rows, steps := c.rows(person), make([]int64, len(person))
	cost, _ := c.length2(person, rows)
	limit := float64(c.p.Rows) * float64(c.p.Rows) * c.k[c.p.all()]
	factor, total := 1.0, 0.0
	for _, x := range rows {
		total += math.Abs(x) * (1 << rowBits)
	}
	if cost > limit {
		factor = math.Sqrt(limit / cost)
	}
	if total*factor > mostSteps {
		factor = mostSteps / total
	}
	lattice := make([]float64, len(person))
	for {
		total = 0
		for i, x := range rows {
			lattice[i] = math.RoundToEven(x * factor * (1 << rowBits))
			steps[i] = int64(lattice[i])
			total += math.Abs(lattice[i])
		}
		cost, slack := c.length2(person, lattice)
		if total <= mostSteps && cost+slack <= limit*(1<<(2*rowBits)) {
			return steps
		}
		factor *= 1 - 0x1p-10
	}
}

// length2 is the cost of a vector of numbers by entry, and by how much at most it is off for the
// rounding of its terms: those of pairs of entries are no larger than K[all] each, those of tables
// together no larger than the sum of the sizes of their factors.
func (c *Cube) length2(person []Entry, y []float64) (cost, slack float64) {
	total, m := 0.0, float64(len(y))
	for _, x := range y {
		total += math.Abs(x)
	}
	if m*m > float64(c.Cells())*max(1, c.long) {
		cost = c.byTables(person, y)
	} else {
		cost = c.byPairs(person, y)
	}
	return cost, (m + 64 + c.long + float64(len(c.squares))) * 0x1p-50 * total * total * c.size
}

// byPairs is Σ y_a·y_b·K[S], in time in proportion to the square of the number of entries.
func (c *Cube) byPairs(person []Entry, y []float64) float64 {
	cost := 0.0
	for i, x := range y {
		row := 0.0
		for j, z := range y {
			if z != 0 {
				row += z * c.kernel(person[i].Values, person[j].Values)
			}
		}
		cost += x * row
	}
	return cost
}

// kernel is what a pair of cells has of the cost, K[S]; with dimensions of ranges R it is
//
//	Σ over Q ⊆ R of K_Q[S]·Π over i in Q of G_i[a_i, b_i]
//
// K_Q being K of the w_B of which Q is all that B has of R.
func (c *Cube) kernel(a, b []int) float64 {
	s := c.agree(a, b)
	if c.within == nil {
		return c.k[s]
	}
	sum := 0.0
	for q, k := range c.within {
		if k == nil {
			continue
		}
		x := k[s]
		for i := range Set(q).Dims() {
			r := c.ranges[i]
			x *= r.g[a[i]*r.n+b[i]]
		}
		sum += x
	}
	return sum
}

// byTables is Σ_S c_S·‖M_S y‖², in time in proportion to the cells of all sets, times the values of
// dimensions of ranges.
func (c *Cube) byTables(person []Entry, y []float64) float64 {
	cost := 0.0
	for _, s := range c.sets {
		table := make([]float64, c.Size(s))
		for i, x := range y {
			table[c.cell(s, person[i].Values)] += x
		}
		with, square := table, 0.0
		for i := range s.Dims() {
			if r := c.ranges[i]; r != nil {
				with = append([]float64(nil), with...)
				times(c.axis(s, i), r.g, with)
			}
		}
		for j, x := range table {
			square += x * with[j]
		}
		cost += c.squares[s] * square
	}
	return cost
}

// agree is the set of dimensions in which two cells agree.
func (c *Cube) agree(a, b []int) Set {
	s := Set(0)
	for i := range c.p.all().Dims() {
		if a[i] == b[i] {
			s |= 1 << i
		}
	}
	return s
}

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
