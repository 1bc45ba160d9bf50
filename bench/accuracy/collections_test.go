package accuracy

import (
	"math"
	"strings"
	"testing"

	"scrim/engine/estimator"
)

// atOne runs methods on a set at ε = 1 and returns the report.
func atOne(t *testing.T, data string, m Metric, trials int, methods ...string) Report {
	t.Helper()
	e := Experiment{Name: "c", Relations: replaceOne, Epsilon: true, Costly: true, Trials: trials,
		Panels: []Panel{{Name: "c", Title: "c", XLabel: "ε", Metric: m, Within: 0.5, Points: overRho(data, 1), Methods: methods}}}
	return run(t, e, Options{Seed: 3})
}

// TestCollectionsHaveTheirForecastError: the root mean square error of every protocol is within a
// third of its closed form, intervals hold, and a closed form of twice the size would be missed.
func TestCollectionsHaveTheirForecastError(t *testing.T) {
	const trials = 24
	for _, c := range []struct {
		data    string
		metric  Metric
		methods []string
	}{
		{"anywhere:n=20000,span=100", L2, []string{"ldp-kv2", "ldp-kv1", "ldp-uv2", "ldp-uv2:mode=laplace", "ldp-uv1"}},
		{"unit:n=4000", L2Sample, []string{"ldp-bit", "ldp-hier:levels=3", "ldp-haar", "shuf-hier:levels=3"}},
		{"unit:n=1000,d=2", L2Sample, []string{"shuf-vec"}},
		{"unit:n=150", L2Sample, []string{"shuf-sum"}},
	} {
		r := atOne(t, c.data, c.metric, trials, c.methods...)
		p := r.Experiment.Panels[0]
		for _, m := range c.methods {
			f, ok := r.forecast(p, p.Points[0], m)
			if !ok || f.refused > 0 || math.Abs(f.rms/f.closed-1) > 0.45 || f.stated < 0.6*f.closed || f.stated > 1.5*f.closed {
				t.Errorf("%s: %+v, %s", m, f, r.outcome(p.Points[0], estimator.ReplaceOne, m).Problem)
			}
			if f.covered < 0.8 {
				t.Errorf("%s: %.0f %% of the intervals hold", m, 100*f.covered)
			}
			if f.closed *= 2.5; strings.Count(strings.Join(f.row(), " "), "missed") != 1 {
				t.Errorf("%s: an error of %v is not missed by %v", m, f.closed, f.rms)
			}
		}
	}
}

// TestNoiseAtOnceIsThatOfDevices: trees and vectors have the same error either way, within a third.
func TestNoiseAtOnceIsThatOfDevices(t *testing.T) {
	for data, m := range map[string]string{"unit:n=400": "shuf-vec", "unit:n=6000": "shuf-hier:levels=2"} {
		more := m + ":devices=1"
		if strings.Contains(m, ":") {
			more = m + ",devices=1"
		}
		r := atOne(t, data, L2Sample, 40, m, more)
		p := r.Experiment.Panels[0]
		a, _ := r.forecast(p, p.Points[0], m)
		b, _ := r.forecast(p, p.Points[0], more)
		if q := a.rms / b.rms; !(q > 0.67 && q < 1.5) || a.closed != b.closed {
			t.Errorf("%s: errors of %v at once and %v by devices, closed forms %v and %v", m, a.rms, b.rms, a.closed, b.closed)
		}
	}
}

// TestRotatedCollections: local, by its Gaussian option and shuffled, in the order that they have
// to be.
func TestRotatedCollections(t *testing.T) {
	r := atOne(t, "gaussian:n=40000,d=2,mu=5,r=20", L2, 6, shuffled, sphere, gaussOption, knownVar, usersFloor, budgetFloor)
	p := r.Experiment.Panels[0]
	last := 0.0
	for _, m := range []string{shuffled, sphere, gaussOption, usersFloor, budgetFloor} {
		s, _, refused := r.outcome(p.Points[0], estimator.ReplaceOne, m).Summary(L2)
		if refused > 0 || !(s.Mean > last) {
			t.Errorf("%s: %+v, %d refused, after %v", m, s, refused, last)
		}
		last = s.Mean
	}
	if f, ok := r.forecast(p, p.Points[0], sphere); !ok || math.Abs(f.rms/f.closed-1) > 0.6 {
		t.Errorf("%+v", f)
	}
}

// TestGaboardi: KnownVar's noise is as its formula has it, and the published constants refuse what
// they have to.
func TestGaboardi(t *testing.T) {
	r := atOne(t, "gaussian:n=80000,d=8,mu=5,r=20", L2, 60, usersFloor, "known-var:published=1", unknownVar)
	p := r.Experiment.Panels[0]
	s, _, _ := r.outcome(p.Points[0], estimator.ReplaceOne, usersFloor).Summary(L2)
	width := 2 + math.Sqrt(2*math.Log(8*80000/0.1))
	// the mean of a χ of 8 degrees over √8
	want := 8 * width * math.Sqrt(8*math.Log(2/1e-9)/80000) * 0.969
	if math.Abs(s.Mean/want-1) > 0.15 {
		t.Errorf("error %v, want %v", s.Mean, want)
	}
	if o := r.outcome(p.Points[0], estimator.ReplaceOne, "known-var:published=1"); !strings.Contains(o.Problem, "too few persons") {
		t.Errorf("the published constants gave %+v", o)
	}
	if s, _, _ := r.outcome(p.Points[0], estimator.ReplaceOne, unknownVar).Summary(L2); !(s.Mean > want && s.Mean < 20*want) {
		t.Errorf("UnkVar's error is %v", s.Mean)
	}
	if e, delta := composed(1, 1e-9, 8); math.Abs(e-0.0528) > 1e-3 || delta != 1e-9/16 {
		t.Errorf("a coordinate has (%v, %v)", e, delta)
	}
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		s    Shape
		x    []float64
		want bool
	}{
		{Shape{Run: Grows}, []float64{1, 2, 3}, true}, {Shape{Run: Grows}, []float64{1, 3, 2}, false},
		{Shape{Run: Falls}, []float64{3, 2, 1}, true}, {Shape{Run: Falls}, []float64{1, 1}, false},
		{Shape{Run: Flat, Within: 0.15}, []float64{1, 1.14, 1.02}, true}, {Shape{Run: Flat, Within: 0.15}, []float64{1, 1.16}, false},
	} {
		if got := c.s.met(c.x); got != c.want {
			t.Errorf("%+v of %v: %v", c.s, c.x, got)
		}
	}
	r := made(map[string]float64{"plan": 1})
	r.Experiment.Shapes = []Shape{{Panel: "p", Method: "plan", Run: Flat, Within: 0.1}}
	r.Experiment.Panels[0].Points = overRho("data", 1, 1)
	var b strings.Builder
	r.shapes().markdown(&b)
	if !strings.Contains(b.String(), "1 of 1 met") {
		t.Errorf("got\n%s", b.String())
	}
}
