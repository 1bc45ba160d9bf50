package accuracy

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"scrim/engine/estimator"
)

// grid are settings over which the four terms can be told apart.
func grid() []facts {
	var out []facts
	for _, n := range []float64{200, 1000, 5000, 25000} {
		for _, m := range []float64{1, 16, 256} {
			for _, k := range []float64{2, 4} {
				for _, d := range []float64{1, 32} {
					out = append(out, facts{persons: n, rows: m, dim: d, moment: k, epsilon: 0.5, spread: 2})
				}
			}
		}
	}
	return out
}

// TestFitFindsTheConstants makes errors of known constants, with a tenth of noise, and fits them.
func TestFitFindsTheConstants(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	for _, want := range []Terms{{1, 5, 2, 1}, {1, 20, 1e-6, 1e-6}, {2, 1e-6, 10, 1e-6}} {
		var all []measured
		for _, f := range grid() {
			if x := want.alpha(f); !math.IsNaN(x) {
				all = append(all, measured{facts: f, alpha: x * math.Exp(0.1*g.NormFloat64())})
			}
		}
		got := fit(all)
		for i := range got {
			if got[i] < 0 || want[i] > 0.5 && i < 3 && math.Abs(math.Log(got[i]/want[i])) > 0.25 || want[i] < 1e-3 && got[i] > 0.5 {
				t.Errorf("term %d of %v: got %v", i, want, got)
			}
		}
		if off := deviationOf(all, got) / float64(len(all)); off > 0.015 {
			t.Errorf("%v: off by %v on average, want 0.01", want, off)
		}
	}
}

func TestAlphaSolvesTheSampleSize(t *testing.T) {
	terms := Terms{1, 5, 2, 10}
	for _, f := range grid() {
		x := terms.alpha(f)
		if enough := 10*f.dim/f.epsilon < f.persons; enough == math.IsNaN(x) || enough && math.Abs(terms.persons(f, x)/f.persons-1) > 1e-6 {
			t.Errorf("%+v: alpha %v for %v persons", f, x, terms.persons(f, x))
		}
	}
}

func TestFactsOf(t *testing.T) {
	f, ok := factsOf(Point{Data: "persons:n=100,m=9,d=3,law=pareto,k=3", Rho: 0.125})
	if !ok || f != (facts{100, 9, 3, 3, 0.5, 1}) {
		t.Errorf("got %+v, %v", f, ok)
	}
	if _, ok := factsOf(Point{Data: "gaussian"}); ok {
		t.Error("a set of one row a person has facts")
	}
}

// TestFitsAreReported runs a small experiment from data to tables and curves.
func TestFitsAreReported(t *testing.T) {
	e := Experiment{Name: "x", Trials: 3, Relations: replaceOne, Panels: []Panel{{Name: "x", Title: "x", XLabel: "n", LogX: true, LogY: true,
		Points: over("persons:n=%v,m=4,d=2", []float64{200, 400, 800, 1600, 3200}, 0.5), Methods: []string{"non-private"}, Fitted: []string{"non-private"}}}}
	r := run(t, e, Options{Trials: 40})
	var b strings.Builder
	if err := r.Markdown(&b); err != nil || !strings.Contains(b.String(), "Four terms fitted to `non-private`") || !strings.Contains(b.String(), "| 3200 | 4 | 2 | 4 | 0.5 | gaussian |") {
		t.Errorf("%v:\n%s", err, b.String())
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil || !strings.Contains(text.String(), "non-private, replace-one, ε = √(2ρ): n = ") {
		t.Errorf("%v:\n%s", err, text.String())
	}
	// What is not private has the error of sampling alone, √(d/(nm)), and so the first constant is
	// about 1.
	terms := fit(r.measurements(estimator.ReplaceOne, "non-private"))
	if f, _ := factsOf(e.Panels[0].Points[4]); math.Abs(terms.alpha(f)/math.Sqrt(2./(3200*4))-1) > 0.3 {
		t.Errorf("constants %v give %v", terms, terms.alpha(f))
	}
	if curves := r.Figures()["x"].Curves; len(curves) != 2 || len(curves[1].Points) != 5 || !strings.Contains(curves[1].Name, "four terms") {
		t.Errorf("curves %+v", curves)
	}
}
