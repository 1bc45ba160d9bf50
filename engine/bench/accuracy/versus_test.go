package accuracy

import (
	"encoding/json"
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
		{Versus{"", "p", at, "plan", []string{"non-private"}, 2}, "met", "non-private", false},
		{Versus{"", "p", at, "plan", []string{"non-private"}, 1.9}, "missed", "non-private", true},
		{Versus{"", "p", at, "plan", []string{"shifted", "auto"}, 0.67}, "met", "auto", false},
		{Versus{"", "p", at, "plan", []string{"shifted", "auto"}, 0.5}, "missed", "auto", true},
		{Versus{"", "p", at, "none", []string{"shifted"}, 0.5}, "not run", "", false},
		{Versus{"", "p", at, "plan", []string{"none"}, 0.5}, "nothing to compare", "", false},
	} {
		if j := r.judge(c.v, estimator.ReplaceOne); !strings.Contains(j.verdict, c.verdict) || j.against != c.against || j.missed != c.missed {
			t.Errorf("%+v: got %+v", c.v, j)
		}
	}
	refusing := made(map[string]float64{"non-private": 1, "plan": 2, "shifted": 1}, "plan")
	if j := refusing.judge(Versus{"", "p", at, "plan", []string{"non-private"}, 9}, estimator.ReplaceOne); !j.missed || !strings.Contains(j.verdict, "1 of 2 refused") {
		t.Errorf("a method that refuses: %+v", j)
	}
	all := refusing.Results[Cell{"data", 1, estimator.ReplaceOne, "plan"}]
	all.Trials[0].Refused = true
	if j := refusing.judge(Versus{"", "p", at, "shifted", []string{"plan"}, 0.1}, estimator.ReplaceOne); j.missed || !strings.Contains(j.verdict, "the others refuse") {
		t.Errorf("others that refuse: %+v", j)
	}
}

func TestComparisonsAreWritten(t *testing.T) {
	r := made(map[string]float64{"non-private": 1, "plan": 2})
	at := r.Experiment.Panels[0].Points[0]
	r.Experiment.Versus = []Versus{{"2 ×", "p", at, "plan", []string{"non-private"}, 2}, {"1 ×", "p", at, "plan", []string{"non-private"}, 1}}
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
