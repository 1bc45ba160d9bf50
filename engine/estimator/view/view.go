// Package view releases what a view holds: counts and sums by cell of several dimensions, with all
// their roll-ups, for one loss.
//
//	lengths   of each measure: a noisy histogram of what persons' vectors cost, in rows of one cell
//	clip      the length that vectors are shortened to, by laws of lengths (package clipping)
//	cube      residuals of all marginals of the shortened vectors (package cube)
//	fit       where nothing can be under 0, the nearest tables without a cell under 0
//
// A measure is a number of rows or a sum over rows. Each has an even share of the loss. Every
// marginal is measured: those that are not asked for count next to nothing when the loss is
// divided, so that one table of all cells adds up to every roll-up, and standard errors are known
// of all sums of cells.
//
// docs/proofs/cubes.md has the argument for one person's loss.
package view

import (
	"fmt"
	"math"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/clipping"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
	"scrim/internal/lists"
)

// Shares and limits.
const (
	// lengthsShare is the part of a measure's loss that the histogram of lengths has.
	lengthsShare = 0.08
	// longest is where the last bucket of lengths begins: totals are at most 2^50 steps.
	longest = 1 << 52
	// clipBits says how finely a clip is told: a cube is built for 2^8 to 2^9 rows, each of which
	// stands for a power of two.
	clipBits = 9
	// aligned is the length of what a clip takes from a table's sums, for each length that persons
	// lose: in the worst case they all lose in the same cells.
	aligned = 1
)

// view is a release with its parameters fixed.
type view struct {
	p        Params
	measures []measure
}

// measure is one of them.
type measure struct {
	Measure
	signed  bool
	lengths firstpass.Histogram
	alone   bool // no length is looked for: each person is one row in one cell
	cube    *cube.Cube
	noise2  float64 // squared length of the noise of a table, at a clip of 1, on average
}

// New returns the release of all measures by all cells. Columns: Vector. Of each cell it answers
// Numbers values a measure: see Cell.
//
// With m measures each has ρ/m:
//
//	lengths    8 %     histogram, by octave, of what each person's vector costs in the cube
//	residuals  92 %    of the vectors that are shortened to the released clip (package cube)
//
// Where each person has one row, rows are counted as they are, with all of the loss. It refuses a
// cube of too many cells with a cube.TooLarge. Release answers TooFew where no length stands out of
// the noise.
func New(p Params) (estimator.Estimator, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	v := view{p: p}
	for _, m := range p.Measures {
		one, err := p.measure(m, p.Rho/float64(len(p.Measures)))
		if err != nil {
			return nil, err
		}
		v.measures = append(v.measures, one)
	}
	return v, nil
}

// measure builds one measure at a loss.
func (p Params) measure(m Measure, rho float64) (measure, error) {
	out := measure{Measure: m, signed: p.signed(m), alone: p.OneRow && !m.Sum}
	q := cube.Params{Dims: p.Dims, Workload: p.marginals(), Rho: rho, Relation: p.Relation, Cells: p.Cells}
	if !out.alone {
		out.lengths = firstpass.NewHistogram(firstpass.NewOctaves(1, longest), firstpass.Delta2(p.Relation, false), rho*lengthsShare)
		q.Rho, q.Rows, q.Signed = rho*(1-lengthsShare), 1<<(clipBits-1), out.signed
	}
	var err error
	if out.cube, err = cube.New(q); err != nil {
		return out, err
	}
	asked := 0.0
	for _, m := range q.Workload {
		if m.Weight == 1 {
			se := out.cube.StdErr(m.Set) / float64(max(1, q.Rows))
			out.noise2 += float64(out.cube.Size(m.Set)) * se * se
			asked++
		}
	}
	out.noise2 /= max(1, asked)
	return out, nil
}

func (view) Columns() []estimator.Kind { return []estimator.Kind{estimator.Vector} }
func (v view) Loss() privacy.Loss      { return scalar.Loss(v.p.Rho) }

// MinPersons implements estimator.Estimator: what an octave of lengths has to have to stand out.
func (v view) MinPersons() int64 {
	n := int64(0)
	for _, m := range v.measures {
		if !m.alone {
			n = max(n, int64(firstpass.BulkZ*m.lengths.Sigma)+1)
		}
	}
	return n
}

// ExpectedError implements estimator.Estimator: it is known where nothing is clipped.
func (v view) ExpectedError() (float64, bool) {
	if m := v.measures[0]; m.alone && len(v.measures) == 1 {
		return m.cube.StdErr(v.all()), true
	}
	return 0, false
}

// Steps implements estimator.Estimator.
func (v view) Steps() []estimator.Step {
	var steps []estimator.Step
	for _, m := range v.measures {
		if !m.alone {
			s := estimator.Step{Name: "lengths", Mechanism: estimator.DiscreteGaussian, Use: "histogram", Sensitivity: "l2=1", Queries: m.lengths.Buckets, Rho: m.lengths.Rho}
			if m.lengths.Delta2 == 2 {
				s.Sensitivity = "l2=sqrt(2)"
			}
			steps = append(steps, s)
		}
		own := m.cube.Steps()[0]
		if !m.alone {
			own.Sensitivity = "weighted l2 up to the clip"
		}
		steps = append(steps, own)
	}
	return steps
}

// NoiseAlone implements estimator.NoiseAlone: lengths and residuals have noise.
func (v view) NoiseAlone() bool { return true }

// Bias implements estimator.Biased.
func (v view) Bias() string {
	for _, m := range v.measures {
		if !m.alone {
			return "what the clip takes away"
		}
	}
	return ""
}

// all is the set of all dimensions.
func (v view) all() cube.Set {
	return cube.Of(lists.Make(len(v.p.Dims), func(i int) int { return i })...)
}

// Release implements estimator.Estimator.
func (v view) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	cells := v.measures[0].cube.Size(v.all())
	width := Numbers * len(v.measures)
	out := estimator.Estimate{Values: make([]float64, cells*width), StdErr: make([]float64, cells*width)}
	for at, m := range v.measures {
		p := persons{block: in.Vectors, dims: v.p.Dims, width: len(v.measures), column: at}
		t, ok := m.release(n, p, v.all())
		if !ok {
			return scalar.TooFew(cells*width, v.MinPersons())
		}
		for c := range cells {
			t.put(out, c, c*width+at*Numbers)
		}
	}
	return out
}

// released is what is released of a measure.
type released struct {
	raw, fit, stdErrs []float64
	near, wide        float64
	clip              float64
}

// release releases one measure.
func (m measure) release(n noise.Noiser, p persons, all cube.Set) (released, bool) {
	c, unit := m.cube, 1.0
	out := released{clip: math.NaN()}
	if !m.alone {
		clip, losses, ok := m.findClip(n, p)
		if !ok {
			return out, false
		}
		c, unit = m.clipped(clip)
		for _, l := range losses {
			out.near += l.Weight * (l.Near + ofRows(l.Near, l.Heavy, someLight)) / 2
			out.wide += l.Weight * ofRows(l.Wide+2*l.Spread, l.Heavy, leastLight)
		}
		out.wide, out.clip = within(out.wide-out.near), clip
		out.near = within(out.near)
	}
	t := c.Tables()
	p.each(unit, func(e []cube.Entry) { c.Tally(t, e) })
	a := c.Release(n, t)
	scale := m.scaled(unit) * (1 + out.near)
	out.raw, out.stdErrs = times(a.Marginal(all), scale), times(c.StdErrs(all), scale)
	if out.fit = out.raw; !m.signed {
		whole, _ := a.NonNegative()
		out.fit = times(whole.Marginal(all), scale)
	}
	return out, true
}

// Lengths are told of, and rows are what is lost. A person's rows are in proportion to the length
// where they are in one cell, and to its square where each is in another: who is shortened has then
// a larger part of all rows than of all lengths. The answer is taken to be half way between, and
// the interval to reach to squares.
//
// someLight and leastLight are what the others have of the rows that they would have at the clip,
// for their lengths.
const (
	someLight, leastLight = 0.8, 0.6
	// mostLonger is how many times as long as the clip somebody is taken to be.
	mostLonger = 4
)

// ofRows returns the share of rows that is lost, of what is left, where rows go by the squares of
// lengths, of which a share is lost: heavy is the part, of what is left, of those who are longer
// than the clip.
func ofRows(share, heavy, light float64) float64 {
	if !(share > 0 && heavy > 0) {
		return share
	}
	longer := min(1+share/heavy, mostLonger)
	return share * longer / (light*(1-heavy) + heavy*longer)
}

// mostMore is the largest share that is told of what a clip may have taken: more says nothing.
const mostMore = 1000

// within brings a share into what is told.
func within(share float64) float64 {
	if !(share < mostMore) {
		return mostMore
	}
	return max(0, share)
}

// clipped is the cube for vectors that are shortened to a length, and the unit of its rows.
func (m measure) clipped(clip float64) (c *cube.Cube, unit float64) {
	_, exp := math.Frexp(clip)
	unit = math.Ldexp(1, exp-clipBits)
	return m.cube.WithRows(int64(math.Ceil(clip / unit))), unit
}

// StdErrs returns the function that tells the standard error of sums of cells of a measure, each
// times its weight, of what was released with a clip, NaN or 0 for none, and enlarged by near.
func StdErrs(p Params, at int, clip, near float64) (func(weights []float64) float64, error) {
	e, err := New(p)
	if err != nil {
		return nil, err
	}
	v := e.(view)
	m := v.measures[at]
	c, unit := m.cube, 1.0
	if !m.alone {
		c, unit = m.clipped(clip)
	}
	return func(weights []float64) float64 { return m.scaled(unit) * (1 + near) * c.SumStdErr(v.all(), weights) }, nil
}

// Scaled is a number of rows, or of steps of a sum, as measure at shows it.
func Scaled(p Params, at int, x float64) float64 { return measure{Measure: p.Measures[at]}.scaled(x) }

// scaled is a number of rows, or of steps of a sum, as it is shown.
func (m measure) scaled(x float64) float64 {
	if m.Sum {
		return scalar.Scale(m.Grid, x)
	}
	return x
}

func times(x []float64, f float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v * f
	}
	return out
}

// findClip releases the histogram of lengths and chooses a clip by it: at least 1, one row or step.
func (m measure) findClip(n noise.Noiser, p persons) (clip float64, losses []clipping.Loss, ok bool) {
	counts := make([]int64, m.lengths.Buckets)
	// told a millionth shorter, so that a length of 1 is in the octave that ends there
	p.each(1, func(e []cube.Entry) { counts[m.lengths.Bucket(m.cube.Length(e)*(1-0x1p-20))]++ })
	noisy := m.lengths.ReleaseCounts(n, counts)
	lengths, ok := clipping.LengthsBy(noisy, m.lengths.Sigma, longest)
	if !ok {
		return 0, nil, false
	}
	clip, ok = lengths.Radius(m.noise2, aligned)
	clip = max(1, clip)
	return clip, lengths.Losses(clip), ok
}

// ParamsOf returns the parameters of an estimator that New made.
func ParamsOf(e estimator.Estimator) (Params, bool) {
	v, ok := e.(view)
	return v.p, ok
}

// Measure is what is told of each cell.
type Measure struct {
	Sum          bool           // of k(x) over rows; else the number of rows
	Grid         estimator.Grid // of x
	Lower, Upper *int64         // declared bounds of a row's x, in steps; both or neither
}

// Params are the public facts of a release. Its input is a sparse block of cells times
// len(Measures) entries: entry c·len(Measures) + m of a person is measure m in cell c, cells in
// row-major order of the dimensions, the last one fastest; what is 0 may be left out.
type Params struct {
	Rho      float64
	Relation estimator.Relation
	Dims     []cube.Dimension // in their order, where they are for ranges
	// Sets are the marginals that are asked for; those of up to Ways dimensions where it is nil.
	Sets     []cube.Set
	Ways     int
	Measures []Measure
	OneRow   bool  // a person has one row at most
	Cells    int64 // the most cells of all residuals together; 0: cube.MaxCells
}

// aside is the weight of marginals that are not asked for, against 1: they are measured with a few
// hundredths of the loss, so that all cells together are one table.
const aside = 1e-4

// marginals is the workload of the cubes.
func (p Params) marginals() []cube.Marginal {
	asked := map[cube.Set]bool{}
	for _, s := range p.Sets {
		asked[s] = true
	}
	all := cube.Ways(len(p.Dims), len(p.Dims))
	for i, m := range all {
		if !asked[m.Set] && (p.Sets != nil || m.Set.Len() > p.Ways) {
			all[i].Weight = aside
		}
	}
	return all
}

// check names the first parameter that is bad.
func (p Params) check() error {
	if len(p.Measures) == 0 {
		return fmt.Errorf("view: want a measure")
	}
	for _, m := range p.Measures {
		if err := scalar.Check(p.scalar(m), m.Sum); err != nil {
			return err
		}
	}
	return nil
}

func (p Params) scalar(m Measure) estimator.Params {
	out := estimator.Params{Rho: p.Rho, Relation: p.Relation}
	if m.Sum {
		out.Grid, out.Lower, out.Upper = m.Grid, m.Lower, m.Upper
	}
	return out
}

// Signed reports whether measure at may be under 0.
func (p Params) Signed(at int) bool { return p.signed(p.Measures[at]) }

// signed reports whether a measure may be under 0.
func (p Params) signed(m Measure) bool {
	if !m.Sum {
		return false
	}
	lo, _ := scalar.Range(p.scalar(m))
	return lo < 0
}

// persons are those of a block, with one measure of each cell.
type persons struct {
	block         *estimator.Block
	dims          []cube.Dimension
	width, column int
}

// each calls visit with what each person has in cells, in multiples of unit, a power of two. Those
// who have nothing are left out. The entries are good until visit returns. What is beyond ±MaxUnits
// counts as that.
func (p persons) each(unit float64, visit func([]cube.Entry)) {
	var entries []cube.Entry // of which those used are the person's
	used := 0
	add := func(cell int, x int64) {
		if x == 0 {
			return
		}
		if used++; used > len(entries) {
			entries = append(entries, cube.Entry{Values: make([]int, len(p.dims))})
		}
		e := &entries[used-1]
		e.Rows = float64(min(max(x, -estimator.MaxUnits), estimator.MaxUnits)) / unit
		for i := len(p.dims) - 1; i >= 0; i-- {
			e.Values[i] = cell % p.dims[i].Size
			cell /= p.dims[i].Size
		}
	}
	for c := range p.block.Chunks {
		chunk := &p.block.Chunks[c]
		for i := range chunk.Persons {
			used = 0
			block.Person{Chunk: chunk, I: i}.Each(func(at int, x int64) {
				if at%p.width == p.column {
					add(at/p.width, x)
				}
			})
			if used > 0 {
				visit(entries[:used])
			}
		}
	}
}

// Numbers is how many values an estimate has of each cell and measure.
const Numbers = 5

// Cell is what is released of one measure in one cell.
type Cell struct {
	// Fit adds up to all roll-ups, and is not under 0 where the measure cannot be; Raw is without
	// bias from that, with noise of the standard deviation StdErr.
	Fit, Raw, StdErr float64
	// Near is the share, of what is left, that the clip is expected to have taken, which Raw and
	// Fit have been enlarged by; Wide is how much more it may be. Clip is the length that vectors
	// were shortened to, in rows, or in steps of the grid of a sum; NaN where none was.
	Near, Wide, Clip float64
}

// put writes cell c of a measure at a place of an estimate.
func (r released) put(e estimator.Estimate, c, at int) {
	copy(e.Values[at:], []float64{r.fit[c], r.raw[c], r.near, r.wide, r.clip})
	for i := range 2 {
		e.StdErr[at+i] = r.stdErrs[c]
	}
}

// CellOf reads measure m of an estimate of one cell.
func CellOf(e estimator.Estimate, m int) Cell {
	x := e.Values[m*Numbers:]
	return Cell{Fit: x[0], Raw: x[1], StdErr: e.StdErr[m*Numbers], Near: x[2], Wide: x[3], Clip: x[4]}
}
