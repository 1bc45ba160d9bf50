package cube

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// Cube is a release with all its public parameters fixed. It is immutable and safe for concurrent
// use.
type Cube struct {
	p     Params
	sets  []Set // whose residuals are measured, smaller ones first; the first is the empty one
	place []int // of a set among sets, -1 of others
	tops  []Set // those that are in no other one: every other table follows from theirs
	w     precision
	k     []float64 // agreement of w
	// squares of w, and the sum of their sizes
	squares  []float64
	size     float64
	ranges   []*strategy // by dimension, nil of those that are not measured for ranges
	long     float64     // the values of these together
	cheapest float64     // what one row in the cell costs where that is the least
	within   [][]float64 // see kernel; by the sets of these dimensions, nil where there are none
	noise    []*big.Int  // variance of a cell of a residual times Π n_i, in units of Unit
	// variance of the noise before it is centred, in persons or rows: the residual's covariance is
	// that times ⊗ C_i, G_i⁺ along dimensions of ranges
	variance []float64
}

// New returns the cube of least weighted variance under p. It refuses what is too large with a
// TooLarge.
func New(p Params) (*Cube, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	p.Dims, p.Workload = slices.Clone(p.Dims), slices.Clone(p.Workload)
	sets := p.closure()
	slices.SortFunc(sets, order)
	if err := p.checkSize(sets); err != nil {
		return nil, err
	}
	c := &Cube{p: p, sets: sets, place: make([]int, 1<<len(p.Dims)), w: p.allocation(sets)}
	c.k = p.agreement(c.w)
	c.squares, c.size = p.squares(c.w)
	for s := range c.place {
		c.place[s] = -1
	}
	for i, b := range sets {
		c.place[b] = i
	}
	c.setRanges()
	c.setNoise()
	for _, b := range sets {
		if c.over(b) == b {
			c.tops = append(c.tops, b)
		}
	}
	return c, nil
}

// setRanges prepares what dimensions of ranges need.
func (c *Cube) setRanges() {
	ranged := Set(0)
	c.cheapest = c.k[c.p.all()]
	for i, d := range c.p.Dims {
		s := d.strategy()
		if c.ranges = append(c.ranges, s); s != nil {
			ranged |= 1 << i
			c.long += float64(s.n)
		}
	}
	if ranged == 0 {
		return
	}
	c.cheapest = 0
	for _, b := range c.sets {
		c.cheapest += (1 - 0x1p-40) * c.w[b] * c.p.each(b, (Dimension).least) // less than rounding makes of it
	}
	c.within = make([][]float64, ranged+1)
	for q := range ranged.Subsets() {
		c.within[q] = c.p.kernelOf(c.w, ranged, q)
	}
}

// setNoise computes the variances for the cube's number of rows.
func (c *Cube) setNoise() {
	c.noise, c.variance = nil, nil
	for i, b := range c.sets {
		c.noise = append(c.noise, c.sigma2(b))
		v, _ := new(big.Float).SetInt(c.noise[i]).Float64()
		scale := c.p.each(b, func(d Dimension) float64 { return float64(d.scale()) }) * float64(c.Unit())
		c.variance = append(c.variance, v/scale/scale)
	}
}

// WithRows is the cube for vectors that are shortened to that of another number of rows in one
// cell, 1 to 2^30, where c is for persons of several rows: a released number may choose it.
func (c *Cube) WithRows(rows int64) *Cube {
	if c.p.Rows == 0 || rows < 1 || rows > maxRows {
		panic("cube: a number of rows that is none")
	}
	out := *c
	out.p.Rows = rows
	out.setNoise()
	return &out
}

// over is the set of the smallest table with one dimension more than b; b itself where there is
// none. All subsets of a set that is measured are measured, so then b is in no other one.
func (c *Cube) over(b Set) Set {
	found := b
	for i := range c.p.Dims {
		if a := b | 1<<i; a != b && c.place[a] >= 0 && (found == b || c.Size(a) < c.Size(found)) {
			found = a
		}
	}
	return found
}

// sigma2 is the variance of the integer noise on a residual times Π n_i, by rows R = max(1, Rows):
//
//	⌈Unit²·R²·Π n_i²/(2·w_B)⌉
//
// exact but for the rounding up.
func (c *Cube) sigma2(b Set) *big.Int {
	scale := big.NewInt(c.Unit() * max(1, c.p.Rows))
	for i := range b.Dims() {
		scale.Mul(scale, big.NewInt(c.p.Dims[i].scale()))
	}
	return scalar.Sigma2(scale.Mul(scale, scale), 1, c.w[b])
}

// Unit is the number of lattice steps of a person in Tables; of a row where persons have several.
func (c *Cube) Unit() int64 {
	if c.p.Rows > 0 {
		return 1 << rowBits
	}
	return 1
}

// Tops are the sets whose tables Release reads, in the order of Tables.
func (c *Cube) Tops() []Set { return slices.Clone(c.tops) }

// Size is the number of cells of a set's table.
func (c *Cube) Size(s Set) int {
	return int(c.p.product(s, func(n float64) float64 { return n }))
}

// Cells is the number of cells of all residuals together: of the draws of one release.
func (c *Cube) Cells() int64 {
	n := 0
	for _, s := range c.sets {
		n += c.Size(s)
	}
	return int64(n)
}

// Memory is about what one release takes, in bytes.
func (c *Cube) Memory() int64 { return CellBytes * c.Cells() }

// Loss is what one release costs one person.
func (c *Cube) Loss() privacy.Loss { return scalar.Loss(c.p.Rho) }

// Events is the loss for the account: all noise is discrete Gaussian.
func (c *Cube) Events() []privacy.Event {
	return []privacy.Event{{Kind: privacy.DiscreteGaussian, Rho: privacy.RhoOf(c.p.Rho), Count: 1}}
}

// Steps describes the noisy step, for EXPLAIN.
func (c *Cube) Steps() []estimator.Step {
	s := estimator.Step{
		Name: "cube", Mechanism: estimator.DiscreteGaussian, Use: fmt.Sprintf("residuals of %d tables", len(c.sets)),
		Sensitivity: "weighted l2 of one row", Queries: int(c.Cells()), Rho: c.p.Rho,
	}
	if c.within != nil {
		s.Use += ", along " + (Set(len(c.within)) - 1).names(c.p.Dims) + " for ranges"
	}
	if c.p.Rows > 0 {
		s.Sensitivity = fmt.Sprintf("weighted l2 of %d rows in one cell", c.p.Rows)
	}
	return []estimator.Step{s}
}

// Answers reports whether the marginal of s follows from what is measured.
func (c *Cube) Answers(s Set) bool { return s>>len(c.p.Dims) == 0 && c.place[c.p.varied(s)] >= 0 }

// StdErr is the standard deviation of the noise of each cell of a marginal that c answers:
//
//	√(Σ over B ⊆ A of σ_B²·Π over B of (1−1/n_i)·Π over A without B of 1/n_i²)
//
// Along dimensions of ranges cells differ, and it is the root of the mean variance: see StdErrs.
func (c *Cube) StdErr(s Set) float64 {
	c.mustAnswer(s)
	v, own := 0.0, c.p.varied(s)
	for b := range own.Subsets() {
		v += c.variance[c.place[b]] * c.p.each(b, (Dimension).cell) * c.p.product(own&^b, func(n float64) float64 { return 1 / (n * n) })
	}
	return math.Sqrt(v)
}

// FilterStdErr is the standard deviation of the noise of Answer.Filter, with the same arguments:
//
//	√(Σ over B ⊆ A of σ_B²·Π over B of (Σf² − (Σf)²/n_i)·Π over A without B of (Σf/n_i)²)
//
// where f are the weights of dimension i; fᵀG⁺f along dimensions of ranges.
func (c *Cube) FilterStdErr(s Set, weights [][]float64) float64 {
	c.mustWeigh(s, weights)
	own := c.p.varied(s)
	outside := 1.0 // of dimensions of one value
	spread, mean := make([]float64, len(c.p.Dims)), make([]float64, len(c.p.Dims))
	at := 0
	for i := range s.Dims() {
		n := float64(c.p.Dims[i].Size)
		sum := 0.0
		for _, f := range weights[at] {
			sum += f
		}
		spread[i], mean[i] = c.p.Dims[i].squared(weights[at]), sum/n*sum/n
		if !own.Has(i) {
			outside *= mean[i]
		}
		at++
	}
	v := 0.0
	for b := range own.Subsets() {
		x := outside * c.variance[c.place[b]]
		for i := range own.Dims() {
			if b.Has(i) {
				x *= spread[i]
			} else {
				x *= mean[i]
			}
		}
		v += x
	}
	return math.Sqrt(v)
}

// mustAnswer panics on a marginal that is not answered: callers ask Answers first.
func (c *Cube) mustAnswer(s Set) {
	if !c.Answers(s) {
		panic("cube: a marginal that was not asked for")
	}
}

// mustWeigh panics on weights that do not fit the dimensions of s.
func (c *Cube) mustWeigh(s Set, weights [][]float64) {
	c.mustAnswer(s)
	at := 0
	for i := range s.Dims() {
		if at >= len(weights) || len(weights[at]) != c.p.Dims[i].Size {
			panic("cube: weights do not fit the dimensions")
		}
		at++
	}
	if at != len(weights) {
		panic("cube: weights do not fit the dimensions")
	}
}
