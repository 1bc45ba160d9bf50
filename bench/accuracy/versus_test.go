package accuracy

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"scrim/engine/estimator"
)

// TestComparisonsAreJudged checks wins, losses and refusals on both sides.
func TestComparisonsAreJudged(t *testing.T) {
	r := made(map[string]float64{"non-private": 1, "auto": 3, "plan": 2, "shifted": 8})
	at := r.Experiment.Panels[0].Points[0]
	for _, c := range []struct {
		v       Versus
		verdict string
		against string
		missed  bool
	}{
		{Versus{"", "p", at, "plan", []string{"non-private"}, 2, ""}, "met", "non-private", false},
		{Versus{"", "p", at, "plan", []string{"non-private"}, 1.9, ""}, "missed", "non-private", true},
		{Versus{"", "p", at, "plan", []string{"shifted", "auto"}, 0.67, ""}, "met", "auto", false},
		{Versus{"", "p", at, "plan", []string{"shifted", "auto"}, 0.5, ""}, "missed", "auto", true},
		{Versus{"", "p", at, "none", []string{"shifted"}, 0.5, ""}, "not run", "", false},
		{Versus{"", "p", at, "plan", []string{"none"}, 0.5, ""}, "nothing to compare", "", false},
	} {
		if j := r.judge(c.v, estimator.ReplaceOne); !strings.Contains(j.verdict, c.verdict) || j.against != c.against || j.missed != c.missed {
			t.Errorf("%+v: got %+v", c.v, j)
		}
	}
	out := r.judge(Versus{"", "p", at, "plan", []string{"shifted"}, 0.1, "non-private"}, estimator.ReplaceOne)
	if out.missed || out.ran || !out.beyond || !strings.Contains(out.verdict, "out of reach: non-private has 0.125") {
		t.Errorf("less than the floor: %+v", out)
	}
	within := r.judge(Versus{"", "p", at, "plan", []string{"shifted"}, 0.2, "non-private"}, estimator.ReplaceOne)
	if !within.missed || within.beyond || within.verdict != "**missed**" {
		t.Errorf("more than the floor: %+v", within)
	}
	refusing := made(map[string]float64{"non-private": 1, "plan": 2, "shifted": 1}, "plan")
	if j := refusing.judge(Versus{"", "p", at, "plan", []string{"non-private"}, 9, ""}, estimator.ReplaceOne); !j.missed || !strings.Contains(j.verdict, "1 of 2 refused") {
		t.Errorf("a method that refuses: %+v", j)
	}
	all := refusing.Results[Cell{"data", 1, estimator.ReplaceOne, "plan"}]
	all.Trials[0].Refused = true
	if j := refusing.judge(Versus{"", "p", at, "shifted", []string{"plan"}, 0.1, ""}, estimator.ReplaceOne); j.missed || !strings.Contains(j.verdict, "the others refuse") {
		t.Errorf("others that refuse: %+v", j)
	}
}

func TestComparisonsAreWritten(t *testing.T) {
	r := made(map[string]float64{"non-private": 1, "plan": 2})
	at := r.Experiment.Panels[0].Points[0]
	r.Experiment.Versus = []Versus{{"2 ×", "p", at, "plan", []string{"non-private"}, 2, ""}, {"1 ×", "p", at, "plan", []string{"non-private"}, 1, ""}}
	var b strings.Builder
	if err := r.Markdown(&b); err != nil || !strings.Contains(b.String(), "1 of 2 met") || !strings.Contains(b.String(), "| 1 ×") || strings.Count(b.String(), "**missed**") != 1 {
		t.Errorf("%v:\n%s", err, b.String())
	}
	b.Reset()
	if err := r.Text(&b); err != nil || strings.Count(b.String(), "**missed**") != 1 || !strings.Contains(b.String(), "to reach") {
		t.Errorf("%v:\n%s", err, b.String())
	}
	text, err := json.Marshal(r.JSON())
	if err != nil || strings.Count(string(text), `"met":true`) != 1 || strings.Count(string(text), `"met":false`) != 1 {
		t.Errorf("%v: %s", err, text)
	}
}

// TestMediansScatterAsTheirStandardErrors: over many samples the median's standard error is about
// the scatter of medians, 1.25/√n for normal numbers; and a ratio that is over by less than two of
// them is called a matter of chance.
func TestMediansScatterAsTheirStandardErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const trials, samples = 50, 2000
	sum, squares := 0.0, 0.0
	for range samples {
		x := make([]float64, trials)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		s := Summarise(x)
		sum, squares = sum+s.MedianErr/samples, squares+s.Median*s.Median/samples
	}
	if scatter := math.Sqrt(squares); sum < 0.9*scatter || sum > 1.3*scatter {
		t.Errorf("standard error %v, scatter %v", sum, scatter)
	}
	near := made(map[string]float64{"plan": 1.01, "shifted": 1})
	for i, at := 0, near.Experiment.Panels[0].Points[0]; i < 2; i++ {
		cell := near.Results[Cell{"data", 1, estimator.ReplaceOne, "plan"}]
		cell.Trials[i].Errors[L2] += []float64{-0.02, 0.02}[i]
		want := []string{"met", "**missed** within 2 s.e."}[i]
		if j := near.judge(Versus{"", "p", at, "plan", []string{"shifted"}, 1, ""}, estimator.ReplaceOne); j.verdict != want {
			t.Errorf("%+v, want %s", j, want)
		}
	}
}
