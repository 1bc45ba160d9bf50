package cube

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strings"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/internal/lists"
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

// Dimension is a column with public values.
type Dimension struct {
	Name string // for messages
	Size int    // number of values, at least 1
	// Ranges says that the values have an order, and that sums over intervals of them are wanted:
	// the noise along the dimension is such that these have little. See strategy.
	Ranges bool `json:",omitempty"`
}

// Marginal is a table that is wanted.
type Marginal struct {
	Set    Set
	Weight float64 // 1e-6 to 1e6: how much the variance of one of its cells counts
}

// Limits on what is public. A cube of more is refused by New.
const (
	MaxDimensions = 16
	// MaxCells is the number of cells of all residuals together beyond which a cube is refused,
	// where Params.Cells does not say less. A release holds about CellBytes for each.
	MaxCells = 1 << 26
	// CellBytes is the memory for a cell while a cube is made non-negative, which takes more than
	// its release: residuals as released and as corrected, tables, two arrays of prices, and
	// copies.
	CellBytes = 72
	maxRows   = 1 << 30
	minWeight = 1e-6
	maxWeight = 1e6
)

// Params are the public facts under which a cube is built.
type Params struct {
	Dims     []Dimension
	Workload []Marginal // no set twice
	Rho      float64    // zCDP of one release of the whole cube
	Relation estimator.Relation
	// Rows is 0 where every person has one row at most. Else a person may have any number of rows
	// in any cells: vectors longer than that of this number of rows in one cell are shortened to
	// it, lengths being what a vector costs. See Tally.
	Rows int64
	// Signed says that a person's entries may be under 0, as in sums of numbers that may be. It is
	// for persons of several rows alone.
	Signed bool
	Cells  int64 // the most cells of all residuals together; 0: MaxCells
}

// check names the first parameter that is bad.
func (p Params) check() error {
	if err := scalar.CheckPure(estimator.Params{Rho: p.Rho, Relation: p.Relation}, false); err != nil {
		return err
	}
	switch {
	case len(p.Dims) == 0 || len(p.Dims) > MaxDimensions:
		return fmt.Errorf("cube: want 1 to %d dimensions, have %d", MaxDimensions, len(p.Dims))
	case len(p.Workload) == 0:
		return fmt.Errorf("cube: want one marginal or more, have none")
	case p.Rows < 0 || p.Rows > maxRows:
		return fmt.Errorf("cube: want 0 to %d rows a person, have %d", maxRows, p.Rows)
	case p.Signed && p.Rows == 0:
		return fmt.Errorf("cube: want a number of rows where entries may be under 0")
	case p.Cells < 0 || p.Cells > MaxCells:
		return fmt.Errorf("cube: want a limit of 0 to %d cells, have %d", MaxCells, p.Cells)
	}
	for _, d := range p.Dims {
		if d.Size < 1 || d.Size > MaxCells {
			return fmt.Errorf("cube: want 1 to %d values of %s, have %d", MaxCells, d.Name, d.Size)
		}
		if d.Ranges && d.Size > MaxRanges {
			return fmt.Errorf("cube: want 1 to %d values of %s for ranges, have %d", MaxRanges, d.Name, d.Size)
		}
	}
	return p.checkWorkload()
}

func (p Params) checkWorkload() error {
	seen := map[Set]bool{}
	for _, m := range p.Workload {
		switch {
		case m.Set>>len(p.Dims) != 0:
			return fmt.Errorf("cube: want dimensions under %d, have the set %b", len(p.Dims), m.Set)
		case seen[m.Set]:
			return fmt.Errorf("cube: the marginal by (%s) is asked for twice", m.Set.names(p.Dims))
		case !(m.Weight >= minWeight && m.Weight <= maxWeight):
			return fmt.Errorf("cube: want a weight of 1e-6 to 1e6 of the marginal by (%s), have %v", m.Set.names(p.Dims), m.Weight)
		}
		seen[m.Set] = true
	}
	return nil
}

// Set is a set of dimensions: bit i stands for dimension i. Tables of a set are in row-major order
// of its dimensions, the last one fastest.
type Set uint32

// Of returns the set of the dimensions given.
func Of(dims ...int) Set {
	s := Set(0)
	for _, i := range dims {
		s |= 1 << i
	}
	return s
}

// Has reports whether dimension i is in the set.
func (s Set) Has(i int) bool { return s>>i&1 == 1 }

// Within reports whether all dimensions of s are in t.
func (s Set) Within(t Set) bool { return s&^t == 0 }

// Len is the number of dimensions in the set.
func (s Set) Len() int { return bits.OnesCount32(uint32(s)) }

// Dims yields the dimensions of the set in rising order.
func (s Set) Dims() iter.Seq[int] {
	return func(yield func(int) bool) {
		for left := s; left != 0; left &= left - 1 {
			if !yield(bits.TrailingZeros32(uint32(left))) {
				return
			}
		}
	}
}

// Subsets yields all subsets of s, itself first and the empty one last.
func (s Set) Subsets() iter.Seq[Set] {
	return func(yield func(Set) bool) {
		for t := s; yield(t) && t != 0; t = (t - 1) & s {
		}
	}
}

// names lists the dimensions' names, for messages.
func (s Set) names(dims []Dimension) string {
	var names []string
	for i := range s.Dims() {
		names = append(names, dims[i].Name)
	}
	return strings.Join(names, ", ")
}

// Ways returns the marginals of one up to ways of d dimensions, each of weight 1; none where d is
// more than New takes.
func Ways(d, ways int) []Marginal {
	var out []Marginal
	if d > MaxDimensions {
		return nil
	}
	for s := range Of(upTo(d)...).Subsets() {
		if n := s.Len(); n > 0 && n <= ways {
			out = append(out, Marginal{s, 1})
		}
	}
	slices.SortFunc(out, func(a, b Marginal) int { return order(a.Set, b.Set) })
	return out
}

// order puts sets of fewer dimensions first.
func order(a, b Set) int { return cmp.Or(cmp.Compare(a.Len(), b.Len()), cmp.Compare(a, b)) }

func upTo(d int) []int {
	return lists.Make(d, func(i int) int { return i })
}

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
