package cube

import (
	"errors"
	"math"
	"strings"
	"testing"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// TestBadParametersAreNamed: New refuses each, in words.
func TestBadParametersAreNamed(t *testing.T) {
	good := func() Params { return Params{Dims: dims(3, 4), Workload: Ways(2, 2), Rho: 0.1} }
	for want, change := range map[string]func(*Params){
		"rho":              func(p *Params) { p.Rho = 0 },
		"have NaN":         func(p *Params) { p.Rho = math.NaN() },
		"loss":             func(p *Params) { p.Rho = 1e-300 },
		"relation":         func(p *Params) { p.Relation = 7 },
		"dimensions":       func(p *Params) { p.Dims = nil },
		"16":               func(p *Params) { p.Dims = dims(make([]int, 17)...) },
		"values of b":      func(p *Params) { p.Dims[1].Size = 0 },
		"one marginal":     func(p *Params) { p.Workload = nil },
		"under 2":          func(p *Params) { p.Workload[0].Set = 4 },
		"(a, b)":           func(p *Params) { p.Workload = []Marginal{{3, 1}, {3, 1}} },
		"a weight of 1e-6": func(p *Params) { p.Workload[0].Weight = math.NaN() },
		"weight":           func(p *Params) { p.Workload[0].Weight = math.Inf(1) },
		"rows a person":    func(p *Params) { p.Rows = -1 },
		"a limit of":       func(p *Params) { p.Cells = MaxCells + 1 },
		"2(n−1)":           func(p *Params) { p.Dims = dims(8, 8, 8, 8, 8, 8, 8, 8); p.Workload = []Marginal{{255, 1}} },
	} {
		p := good()
		change(&p)
		if _, err := New(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
	if _, err := New(good()); err != nil {
		t.Error(err)
	}
}

// TestTooLargeSaysWhatToCoarsen: a cube of too many cells names the dimension that most of them
// depend on, and with as many values as it says the cube is within the limit, with one more not.
func TestTooLargeSaysWhatToCoarsen(t *testing.T) {
	p := Params{Dims: dims(30, 1000, 7), Workload: Ways(3, 2), Rho: 0.1, Cells: 10000}
	_, err := New(p)
	var large *TooLarge
	if !errors.As(err, &large) || large.Coarsen != "b" || large.Cells != 1+30+1000+7+30000+210+7000 {
		t.Fatalf("refused with %v", err)
	}
	if want := "cube: 38248 cells, of which at most 10000 are kept: bring b to 256 values or fewer"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	p.Dims[1].Size = large.To
	if c, err := New(p); err != nil || c.Cells() > 10000 || c.Memory() != CellBytes*c.Cells() {
		t.Errorf("with %d values: %v", large.To, err)
	}
	p.Dims[1].Size++
	if _, err := New(p); err == nil {
		t.Errorf("with %d values it is accepted", large.To+1)
	}
	p.Dims = dims(300, 300, 300)
	if _, err := New(p); err == nil || !strings.Contains(err.Error(), "and others, or ask for marginals of fewer dimensions") {
		t.Errorf("refused with %v", err)
	}
}

// TestWhatACallerIsTold: the sets that are answered, the loss, its step and its event.
func TestWhatACallerIsTold(t *testing.T) {
	c := build(t, Params{Dims: dims(3, 1, 4), Workload: []Marginal{{Of(0, 2), 1}}, Rho: 0.1})
	for s := range Set(16) {
		if got := c.Answers(s); got != (s < 8) { // b has one value, so it may be beside any
			t.Errorf("%b is answered: %v", s, got)
		}
	}
	if len(c.Release(stattest.Zero{}, c.Tables()).Marginal(Of(0, 1, 2))) != 12 {
		t.Error("a marginal with a dimension of one value has other cells")
	}
	if steps := c.Steps(); len(steps) != 1 || steps[0].Queries != 1+3+4+12 || steps[0].Rho != 0.1 || steps[0].Mechanism != estimator.DiscreteGaussian {
		t.Errorf("steps %+v", c.Steps())
	}
	if e := c.Events(); c.Loss() != (privacy.Loss{Rho: privacy.RhoOf(0.1)}) || len(e) != 1 || e[0].Rho != c.Loss().Rho {
		t.Errorf("loss %+v, events %+v", c.Loss(), e)
	}
}
