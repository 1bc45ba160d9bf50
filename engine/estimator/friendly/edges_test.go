package friendly

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

func TestLossAndSteps(t *testing.T) {
	for _, k := range kinds() {
		for _, rho := range []float64{1e-6, 0.01, 0.5, 1e6} {
			e := k.mean(t, Params{Params: open, Dim: 5, Delta: 1e-9}, rho)
			l := e.Loss()
			if got := l.Rho.Float(); got < rho || got > rho*(1+1e-9)+1e-11 || l.DeltaTV != 1e-9 || l.DeltaEvent != 0 {
				t.Errorf("%+v: loss %+v at rho %v", k, l, rho)
			}
			sum := 0.0
			for _, s := range e.Steps() {
				sum += s.Rho
				if s.Name == "" || s.Mechanism == estimator.Unlisted || s.Sensitivity == "" || s.Queries < 1 {
					t.Errorf("%+v: step %+v is not described", k, s)
				}
			}
			if math.Abs(sum/rho-1) > 1e-9 || sum > rho {
				t.Errorf("%+v: the steps' losses sum to %v, want %v", k, sum, rho)
			}
			// The slack of the parts: two numbers of persons, two of the core, and the other
			// method's.
			parts := e.persons.slack*2 + e.core.filter + e.core.kept + e.instead.Loss().DeltaTV
			if parts > 1e-9 || parts < 0.99e-9 {
				t.Errorf("%+v: slack of the parts sums to %v, want %v", k, parts, 1e-9)
			}
			if e.Reason() == "" || len(e.Columns()) != 1 || e.Columns()[0] != estimator.Vector || e.MinPersons() < 1 {
				t.Errorf("%+v: reason %q, columns %v, at least %d persons", k, e.Reason(), e.Columns(), e.MinPersons())
			}
		}
	}
}

// TestCoveredCountsFitTheirCover checks the count of persons under replace-one where it is private:
// it costs no more than what the filter has less when a person comes or goes.
func TestCoveredCountsFitTheirCover(t *testing.T) {
	e := kind{relation: estimator.ReplaceOne}.mean(t, Params{Params: open, Dim: 3, Delta: 1e-9}, 0.5)
	per := func(sigma float64) float64 { return 1 / (2 * sigma * sigma) }
	if got := per(e.persons.first.Sigma()) + per(e.persons.second.Sigma()); got > 0.75*e.core.filterRho {
		t.Errorf("the numbers of persons cost %v, want %v at most", got, 0.75*e.core.filterRho)
	}
}

func TestBadParametersAreNamed(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, change := range map[string]func(*Params){
		"rho":            func(p *Params) { p.Rho = 0 },
		"dimension 0":    func(p *Params) { p.Dim = 0 },
		"dimension":      func(p *Params) { p.Dim = maxDim + 1 },
		"slack 0":        func(p *Params) { p.Delta = 0 },
		"slack NaN":      func(p *Params) { p.Delta = nan },
		"slack 1":        func(p *Params) { p.Delta = 1 },
		"slack tiny":     func(p *Params) { p.Delta = privacy.LeastFailure * 0.99 },
		"spreads":        func(p *Params) { p.Sigma = []float64{1, 2} },
		"spread 0":       func(p *Params) { p.Sigma = []float64{0} },
		"spread NaN":     func(p *Params) { p.Sigma = []float64{nan} },
		"spread inf":     func(p *Params) { p.Sigma = []float64{inf} },
		"sigma_min":      func(p *Params) { p.SigmaMin = -1 },
		"sigma_max NaN":  func(p *Params) { p.SigmaMax = nan },
		"sigma bounds":   func(p *Params) { p.SigmaMin, p.SigmaMax = 2, 1 },
		"top":            func(p *Params) { p.Top = -1 },
		"sized":          func(p *Params) { p.Sized = true },
		"one bound":      func(p *Params) { p.Lower = new(int64) },
		"grid":           func(p *Params) { p.Grid.Step = 0 },
		"relation":       func(p *Params) { p.Relation = 5 },
		"number of rows": func(p *Params) { p.MaxRows = -1 },
	} {
		p := Params{Params: open, Dim: 3, Delta: 1e-9}
		p.Rho = 0.5
		change(&p)
		if _, err := NewMean(p); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	p := Params{Params: open, Dim: 3, Delta: 1e-9}
	p.Epsilon = 1
	if _, err := NewMean(p); !errors.Is(err, estimator.ErrNotPure) {
		t.Errorf("pure: got %v, want %v", err, estimator.ErrNotPure)
	}
}

// blocks are data at every edge, of dimension dim.
func blocks(r *rand.Rand, dim int) map[string]*estimator.Block {
	fill := func(n int, at func(i, j int) int64) *estimator.Block {
		rows := make([][]int64, n)
		for i := range rows {
			rows[i] = make([]int64, dim)
			for j := range rows[i] {
				rows[i][j] = at(i, j)
			}
		}
		return blockOf(rows)
	}
	same := func(int, int) int64 { return 77 }
	many := normal(r, 900, decaying(dim))
	many.Chunks[0].Rows = make([]int64, 900)
	for i := range many.Chunks[0].Rows {
		many.Chunks[0].Rows[i] = 1 + int64(i%3)*(1<<40)
	}
	empty := &estimator.Block{Dim: dim}
	return map[string]*estimator.Block{
		"nobody": empty, "no chunk of some": {Dim: dim, Chunks: []estimator.Chunk{{}}}, "one": fill(1, same), "two": fill(2, same), "equal": fill(900, same),
		"all but one": fill(900, func(i, _ int) int64 {
			if i == 5 {
				return -estimator.MaxUnits
			}
			return 77
		}),
		"hostile": fill(900, func(i, j int) int64 {
			return []int64{math.MaxInt64, math.MinInt64, 0, 1, estimator.MaxUnits, -estimator.MaxUnits}[(i+j)%6]
		}),
		"two clusters": fill(900, func(i, _ int) int64 { return int64(i%2) << 45 }),
		"normal":       normal(r, 900, decaying(dim)),
		"many rows":    many,
	}
}

func TestEdgeInputsGiveFiniteAnswers(t *testing.T) {
	for _, k := range kinds() {
		for _, dim := range []int{1, 5} {
			for _, rows := range []int64{0, 1} {
				p := Params{Params: estimator.Params{MaxRows: rows, Grid: estimator.Grid{Step: 0x1p-20, Lo: -estimator.MaxUnits, Hi: estimator.MaxUnits}}, Dim: dim, Delta: 1e-9}
				e := k.mean(t, p, 2)
				e.p.Sigma = e.p.Sigma[:min(1, len(e.p.Sigma))]
				if k.sampled {
					e.persons.most = 800
				}
				name := fmt.Sprintf("%+v %d %d", k, dim, rows)
				r, n := rand.New(stattest.Source(t, name+" data")), stattest.Noiser(t, name)
				for what, b := range blocks(r, dim) {
					a := e.Release(n, estimator.Input{Persons: b.Persons(), Vectors: b})
					few := b.Persons() < 3
					if (a.Status == estimator.TooFew) != few && (few || what == "equal" || what == "normal" || what == "all but one") || len(a.Values) != dim || len(a.StdErr) != dim {
						t.Errorf("%s, %s: %+v", name, what, a)
					}
					if a.Status == estimator.TooFew && a.Needed < e.MinPersons() {
						t.Errorf("%s, %s: %d persons needed, least %d", name, what, a.Needed, e.MinPersons())
					}
					for j, v := range a.Values {
						if math.IsNaN(v) || math.IsInf(v, 0) || what == "equal" && k.declared && a.Status == estimator.OK && math.Abs(v-77*0x1p-20) > 6*a.StdErr[j] {
							t.Errorf("%s, %s: coordinate %d is %v ± %v", name, what, j, v, a.StdErr[j])
						}
					}
				}
				if a := e.Release(n, estimator.Input{}); a.Status != estimator.TooFew {
					t.Errorf("%s: no block: %+v", name, a)
				}
			}
		}
	}
}

// TestEqualPersonsAreAnsweredExactly learns that there is no spread: noise is a small part of a
// step.
func TestEqualPersonsAreAnsweredExactly(t *testing.T) {
	rows := make([][]int64, 2000)
	for i := range rows {
		rows[i] = []int64{12345, -7, 0}
	}
	for _, relation := range []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne} {
		e := kind{relation: relation}.mean(t, Params{Params: near, Dim: 3, Delta: 1e-9}, 1)
		a := e.Release(stattest.Noiser(t, fmt.Sprint("equal", relation)), estimator.Input{Persons: int64(len(rows)), Vectors: blockOf(rows)})
		for j, want := range []float64{12345, -7, 0} {
			if a.Status != estimator.OK || math.Abs(a.Values[j]-want) > 0.05 {
				t.Errorf("%v: %+v, want %v", relation, a, rows[0])
			}
		}
	}
}

// TestAFarClusterIsLeftOut: one person in ten far away would move a plain mean by 100.
func TestAFarClusterIsLeftOut(t *testing.T) {
	r := rand.New(stattest.Source(t, "far cluster"))
	b := normal(r, 3000, decaying(20))
	for i := 0; i < 3000; i += 20 {
		for j := range 20 {
			b.Chunks[0].Dense[i*20+j] += 2000 << 20
		}
	}
	for _, k := range []kind{{}, {relation: estimator.ReplaceOne, sized: true}} {
		e := k.mean(t, Params{Params: open, Dim: 20, Delta: 1e-9}, 1)
		a := e.Release(stattest.Noiser(t, "far cluster"), estimator.Input{Persons: b.Persons(), Vectors: b})
		q := 0.0
		for _, v := range a.Values {
			q += (v - 7) * (v - 7)
		}
		if a.Status != estimator.OK || math.Sqrt(q) > 0.5 {
			t.Errorf("%+v: off by %v, status %v", k, math.Sqrt(q), a.Status)
		}
	}
}

// TestTwoFarClustersAreAnsweredOtherwise: half of the persons are friends of nobody else's half, so
// too few are kept; the answer is another method's.
func TestTwoFarClustersAreAnsweredOtherwise(t *testing.T) {
	b := blocks(rand.New(rand.NewPCG(1, 2)), 2)["two clusters"]
	e := kind{declared: true}.mean(t, Params{Params: open, Dim: 2, Delta: 1e-9}, 2)
	called := &counted{Estimator: e.instead}
	e.instead = called
	if e.Release(stattest.Noiser(t, "clusters"), estimator.Input{Persons: b.Persons(), Vectors: b}); called.times != 1 {
		t.Errorf("the other method was asked %d times, want once", called.times)
	}
	called.times = 0
	if e.Release(stattest.Noiser(t, "one cluster"), estimator.Input{Vectors: normal(rand.New(rand.NewPCG(3, 4)), 900, []float64{300, 300})}); called.times != 0 {
		t.Error("the other method was asked where all are friends")
	}
}

type counted struct {
	estimator.Estimator
	times int
}

// Release implements estimator.Estimator.
func (c *counted) Release(n noise.Noiser, in estimator.Input) estimator.Estimate {
	c.times++
	return c.Estimator.Release(n, in)
}

// TestSampleHasAboutSoMany draws coins.
func TestSampleHasAboutSoMany(t *testing.T) {
	p := persons{most: 1000}
	n, sizes := stattest.Noiser(t, "coins"), []float64{}
	b := &estimator.Block{Dim: 1, Chunks: []estimator.Chunk{{Persons: 4000, Dense: make([]int64, 4000)}}}
	for range 200 {
		sizes = append(sizes, float64(p.coins(n, b, 4000).Persons())-1000)
	}
	stattest.Accept(t, stattest.Mean("sample size", sizes, 0, math.Sqrt(4000*0.25*0.75)))
}
