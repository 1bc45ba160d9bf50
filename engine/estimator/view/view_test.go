package view

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/cube"
	"scrim/test/stattest"
)

// dims are 3 × 2 × 4 cells.
var dims = []cube.Dimension{{Name: "a", Size: 3}, {Name: "b", Size: 2}, {Name: "c", Size: 4}}

// rangeDims are these, measured for ranges along the first and the last one.
var rangeDims = []cube.Dimension{{Name: "a", Size: 3, Ranges: true}, {Name: "b", Size: 2}, {Name: "c", Size: 4, Ranges: true}}

const cells = 24

// twoMeasures are rows, and sums of numbers from lo to 1000.
func twoMeasures(lo int64) []Measure {
	return []Measure{{}, {Sum: true, Grid: estimator.Grid{Step: 1, Decimal: true, Lo: lo, Hi: 1000}}}
}

// row is one row of a person.
type row struct {
	cell int
	x    int64
}

// blockOf is the input of two measures.
func blockOf(persons [][]row) *estimator.Block {
	b := &estimator.Block{Dim: 2 * cells, Sparse: true, Chunks: []estimator.Chunk{{Persons: len(persons), Starts: []int{0}}}}
	c := &b.Chunks[0]
	for _, rows := range persons {
		n, x := [cells]int64{}, [cells]int64{}
		for _, r := range rows {
			n[r.cell]++
			x[r.cell] += r.x
		}
		for i := range cells {
			if n[i] > 0 {
				c.Index = append(c.Index, int32(2*i), int32(2*i+1))
				c.Values = append(c.Values, n[i], x[i])
			}
		}
		c.Starts = append(c.Starts, len(c.Index))
	}
	return b
}

// crowd are persons of one to five rows.
func crowd(r *rand.Rand, n int, lo int64) [][]row {
	out := make([][]row, n)
	for i := range out {
		for range 1 + r.IntN(5) {
			out[i] = append(out[i], row{min(r.IntN(cells), r.IntN(cells)), lo + r.Int64N(500-lo)})
		}
	}
	return out
}

func build(t *testing.T, p Params) estimator.Estimator {
	t.Helper()
	e, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestOnePersonLosesNoMoreThanRho adds up what one person more, less or exchanged costs in all
// draws together, given the same noisy answers: persons with one row, with very many, with all
// cells, with nothing but rows of 0, and with opposite numbers. A view that runs under the other
// relation is found out.
func TestOnePersonLosesNoMoreThanRho(t *testing.T) {
	const rho = 0.4
	for _, d := range [][]cube.Dimension{dims, rangeDims} {
		onePersonLosesNoMoreThan(t, rho, d)
	}
}

func onePersonLosesNoMoreThan(t *testing.T, rho float64, dims []cube.Dimension) {
	for _, lo := range []int64{0, -1000} {
		all, many := []row{}, []row{}
		for i := range cells {
			all = append(all, row{i, 1000}, row{i, lo})
		}
		for range 1 << 16 {
			many = append(many, row{7, 1000})
		}
		persons := [][]row{nil, {{0, 0}}, {{0, 1000}}, {{23, lo}}, all, many, {{3, 1000}, {3, -1000}, {20, 999}}}
		others := crowd(rand.New(stattest.Source(t, "crowd")), 300, lo)
		worst := func(under, of estimator.Relation) float64 {
			e := build(t, Params{Rho: rho, Relation: under, Dims: dims, Ways: 2, Measures: twoMeasures(lo)})
			run := func(person []row, r *stattest.Recorder) *stattest.Recorder {
				e.Release(r, estimator.Input{Vectors: blockOf(append(others[:len(others):len(others)], person))})
				return r
			}
			most := new(big.Rat)
			n := stattest.Noiser(t, "answers")
			noisy := &stattest.Recorder{Answer: func(_ int, v, s2 *big.Int) *big.Int { return n.Gaussian(v, s2) }}
			base := run(nil, noisy)
			var seen []*stattest.Recorder
			for _, p := range persons {
				with := run(p, base.Replay(t))
				if l := stattest.Loss(t, with, base); l.Cmp(most) > 0 {
					most = l
				}
				for _, other := range seen {
					if l := stattest.Loss(t, with, other); of == estimator.ReplaceOne && l.Cmp(most) > 0 {
						most = l
					}
				}
				seen = append(seen, with)
			}
			f, _ := most.Float64()
			return f
		}
		for _, r := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
			if got := worst(r, r); got > rho || got < 0.3*rho {
				t.Errorf("%v, numbers from %d: one person loses %v, of rho %v", r, lo, got, rho)
			}
		}
		if got := worst(estimator.AddRemove, estimator.ReplaceOne); got <= rho {
			t.Errorf("an exchange under add-remove, numbers from %d: a loss of %v, of rho %v, is not found out", lo, got, rho)
		}
	}
}

// TestCellsHoldAtFourLevels counts how often intervals by the standard error hold the exact number,
// of counts and of sums in cells of 3,000 persons, over 60 releases. What the clip takes is
// allowed for by Wide. False alarms: one in a million.
func TestCellsHoldAtFourLevels(t *testing.T) {
	for _, d := range [][]cube.Dimension{dims, rangeDims} {
		cellsHold(t, d)
	}
}

func cellsHold(t *testing.T, dims []cube.Dimension) {
	const n, runs = 3000, 60
	r := rand.New(stattest.Source(t, "cells"))
	persons := crowd(r, n, 0)
	exact := [2][cells]float64{}
	for _, rows := range persons {
		for _, x := range rows {
			exact[0][x.cell]++
			exact[1][x.cell] += float64(x.x)
		}
	}
	in := estimator.Input{Vectors: blockOf(persons)}
	e := build(t, Params{Rho: 0.1, Dims: dims, Ways: 3, Measures: twoMeasures(0)})
	noiser := stattest.Noiser(t, "noise")
	held, tries := map[float64]int{}, 0
	levels := map[float64]float64{0.5: 0.674, 0.9: 1.645, 0.95: 1.96, 0.99: 2.576}
	for range runs {
		est := e.Release(noiser, in)
		cell := r.IntN(cells) // cells of one release share a clip
		for m := range 2 {
			c := CellOf(est.Part(cell*2*Numbers, (cell+1)*2*Numbers), m)
			tries++
			for level, z := range levels {
				if d := exact[m][cell] - c.Raw; d <= z*c.StdErr+c.Wide*math.Abs(c.Raw) && -d <= z*c.StdErr+c.Near*math.Abs(c.Raw) {
					held[level]++
				}
			}
		}
	}
	for m := range 2 { // of a cell by itself, the error is that of the cell
		c := CellOf(e.Release(noiser, in).Part(0, 2*Numbers), m)
		of, err := StdErrs(Params{Rho: 0.1, Dims: dims, Ways: 3, Measures: twoMeasures(0)}, m, c.Clip, c.Near)
		one, all := make([]float64, cells), make([]float64, cells)
		for i := range all {
			all[i] = 1
		}
		if one[0] = 1; err != nil || math.Abs(of(one)/c.StdErr-1) > 1e-9 || of(all) >= math.Sqrt(cells)*c.StdErr {
			t.Errorf("measure %d: %v, a cell has %v, of its own %v, all together %v", m, err, of(one), c.StdErr, of(all))
		}
	}
	for level := range levels {
		least := level*float64(tries) - 4.9*math.Sqrt(level*(1-level)*float64(tries)) - 1
		t.Logf("level %v: %d of %d", level, held[level], tries)
		if float64(held[level]) < least {
			t.Errorf("intervals at %v hold %d of %d", level, held[level], tries)
		}
	}
}

// TestFitAddsUp: no cell is under 0, and the cells add up to the total of the raw numbers.
func TestFitAddsUp(t *testing.T) {
	persons := crowd(rand.New(stattest.Source(t, "fit")), 400, 0)
	e := build(t, Params{Rho: 0.05, Dims: dims, Ways: 1, Measures: twoMeasures(0)})
	est := e.Release(stattest.Noiser(t, "noise"), estimator.Input{Vectors: blockOf(persons)})
	for m := range 2 {
		fit, raw, under := 0.0, 0.0, 0
		for c := range cells {
			x := CellOf(est.Part(c*2*Numbers, (c+1)*2*Numbers), m)
			fit, raw = fit+x.Fit, raw+x.Raw
			if x.Fit < 0 {
				t.Errorf("measure %d is %v in cell %d", m, x.Fit, c)
			}
			if x.Raw < 0 {
				under++
			}
		}
		if math.Abs(fit-raw) > 1e-6*math.Abs(raw) || under == 0 {
			t.Errorf("measure %d: cells add up to %v, of %v; %d were under 0", m, fit, raw, under)
		}
	}
}

// TestTooFewPersons: without persons nothing is told of cells.
func TestTooFewPersons(t *testing.T) {
	e := build(t, Params{Rho: 0.05, Dims: dims, Ways: 2, Measures: twoMeasures(0)})
	if est := e.Release(stattest.Noiser(t, "nobody"), estimator.Input{Vectors: blockOf(nil)}); est.Status != estimator.TooFew || len(est.Values) != 2*cells*Numbers {
		t.Errorf("nobody is answered with status %v and %d values", est.Status, len(est.Values))
	}
}

// TestPersonsOfOneRowAreCountedAsTheyAre: there is no clip, and all of the loss is the cube's.
func TestPersonsOfOneRowAreCountedAsTheyAre(t *testing.T) {
	p := Params{Rho: 0.05, Dims: dims, Ways: 3, Measures: []Measure{{}}, OneRow: true}
	e := build(t, p)
	if s := e.Steps(); len(s) != 1 || s[0].Rho != p.Rho {
		t.Errorf("steps %+v", s)
	}
	many := build(t, Params{Rho: 0.05, Dims: dims, Ways: 3, Measures: []Measure{{}}})
	if one, _ := e.ExpectedError(); !(one > 0) {
		t.Errorf("an expected error of %v", one)
	}
	if _, ok := many.ExpectedError(); ok {
		t.Error("an error is expected before the clip is known")
	}
}
