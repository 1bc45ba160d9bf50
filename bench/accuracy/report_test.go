package accuracy

import (
	"math"
	"strings"
	"testing"

	"scrim/engine/estimator"
)

func TestSummarise(t *testing.T) {
	x := []float64{100, 1, 2, 3, 4, 5, 6, 7, 8, math.NaN(), 0}
	s := Summarise(x)
	if s.Mean != 13.6 || s.Median != 4.5 || s.Trimmed != 4.5 || math.Abs(s.StdErr-9.6347) > 1e-3 {
		t.Errorf("got %+v", s)
	}
	if one := Summarise([]float64{3}); one.Mean != 3 || one.Median != 3 || one.Trimmed != 3 || !math.IsNaN(one.StdErr) {
		t.Errorf("of one: %+v", one)
	}
	if none := Summarise([]float64{math.NaN()}); !math.IsNaN(none.Mean) || !math.IsNaN(none.Median) {
		t.Errorf("of none: %+v", none)
	}
}

func TestDistances(t *testing.T) {
	e := distances([]float64{3, 4}, []float64{0, 8}, []float64{3, 3})
	if e[L2] != 5 || e[HalfL1] != 3.5 || e[L2Sample] != 1 || e[HalfL1Sample] != 0.5 {
		t.Errorf("got %v", e)
	}
	if r := distances([]float64{3}, []float64{4}, nil); r[Relative] != 0.25 || !math.IsNaN(r[L2Sample]) {
		t.Errorf("got %v", r)
	}
	if e := distances([]float64{3, 4}, nil, []float64{3, 3}); e[Bias] != 0.5 || !math.IsNaN(e[L2]) {
		t.Errorf("got %v", e)
	}
	if e := distances([]float64{3, 4}, nil, []float64{3, 3}).of(Totals); e[Groups] != 1 || !math.IsNaN(e[L2Sample]) || !math.IsNaN(e[Bias]) {
		t.Errorf("of totals: %v", e)
	}
	if none := distances(nil, []float64{1}, []float64{1}); !math.IsNaN(none[L2]) || !math.IsNaN(none[HalfL1Sample]) {
		t.Errorf("a refusal has the errors %v", none)
	}
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0.26345: "0.263", 12.345: "12.3", 123.45: "123", 1234: "1.23e+03", 0.000123: "1.23e-04", 0: "0", 0.05: "0.0500", math.NaN(): "–"} {
		if got := digits(x); got != want && !math.IsNaN(x) {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}

// made is a report with the given mean errors by method at one point, in two equal trials.
func made(errs map[string]float64, refused ...string) Report {
	p := Panel{Name: "p", Title: "p", XLabel: "ρ", Points: overRho("data", 1)}
	r := Report{Experiment: Experiment{Relations: replaceOne, Panels: []Panel{p}}, Results: Results{}}
	for _, m := range []string{"non-private", "auto", "plan", "shifted"} {
		r.Experiment.Panels[0].Methods = append(r.Experiment.Panels[0].Methods, m)
		c := Cell{"data", 1, estimator.ReplaceOne, m}
		o := &Outcome{Cell: c}
		for i := range 2 {
			tr := Trial{Trial: i, Errors: Errors{errs[m]}}
			for _, x := range refused {
				if x == m && i == 1 {
					tr = Trial{Trial: i, Refused: true, Errors: distances(nil, []float64{0}, nil)}
				}
			}
			o.Trials = append(o.Trials, tr)
		}
		r.Results[c] = o
	}
	return r
}

func TestGoalsAreJudged(t *testing.T) {
	r := made(map[string]float64{"plan": 1.14, "shifted": 1.16})
	at := r.Experiment.Panels[0].Points[0]
	for _, m := range []string{"plan", "shifted", "absent"} {
		r.Experiment.Goals = append(r.Experiment.Goals, Goal{"p", at, estimator.ReplaceOne, m, 1, 1.15, 0})
	}
	var b strings.Builder
	r.goals().markdown(&b)
	if !strings.Contains(b.String(), "1 of 2 met") || strings.Count(b.String(), "missed") != 1 || !strings.Contains(b.String(), "not run") {
		t.Errorf("got\n%s", b.String())
	}
	r = made(map[string]float64{"plan": 1}, "plan")
	r.Experiment.Goals = []Goal{{"p", at, estimator.ReplaceOne, "plan", 1, 1.15, 0}}
	b.Reset()
	r.goals().markdown(&b)
	if !strings.Contains(b.String(), "1 of 2 refused") {
		t.Errorf("got\n%s", b.String())
	}
}

func TestAutoIsCompared(t *testing.T) {
	all := made(map[string]float64{"non-private": 0.1, "auto": 1.2, "plan": 1, "shifted": 2}).compare()
	if len(all) != 1 || all[0].best != "plan" || all[0].ratio() != 1.2 || all[0].limit != 1.10 {
		t.Errorf("got %+v", all)
	}
	// A method that refuses once is not one that can be afforded there; without PLAN the limit is
	// wider.
	all = made(map[string]float64{"auto": 2.2, "plan": 1, "shifted": 2}, "plan").compare()
	if len(all) != 1 || all[0].best != "shifted" || all[0].limit != 1.15 || len(all[0].singles) != 1 {
		t.Errorf("got %+v", all)
	}
	var b strings.Builder
	overall(all).markdown(&b)
	if !strings.Contains(b.String(), "| shifted | 1 of 1 | 1.000 | 1.100 | **missed** |") || !strings.Contains(b.String(), "| auto | 1 of 1 | 1.100 |") {
		t.Errorf("got\n%s", b.String())
	}
}

func TestWith(t *testing.T) {
	e, err := Find("plan-fig3")
	if err != nil {
		t.Fatal(err)
	}
	w := e.With([]string{"auto"}, []float64{0.3})
	if n := len(w.cells()); n != 7+5+7 {
		t.Errorf("%d cells", n)
	}
	if n := len(e.cells()); n != 7*3*6+5*3*6+7*3*5 {
		t.Errorf("the experiment itself has %d cells", n)
	}
	if _, err := Find("plan-fig33"); err == nil {
		t.Error("no error")
	}
}
