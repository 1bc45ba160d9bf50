package accuracy

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"scrim/engine/estimator"
)

// TestTablesHaveEveryCell: a line for each cell with its figures, and one for each figure of a
// source.
func TestTablesHaveEveryCell(t *testing.T) {
	r := run(t, small(), Options{Seed: 1})
	tables := r.Tables()
	lines := tables["small"]
	if len(tables) != 1 || len(lines) != 1+2*2*2*3+2 {
		t.Fatalf("%d tables, %d lines", len(tables), len(lines))
	}
	at := func(line []string, name string) string { return line[slices.Index(lines[0], name)] }
	o := r.outcome(r.Experiment.Panels[0].Points[0], estimator.ReplaceOne, "non-private")
	s, _, _ := o.Summary(L2)
	first := lines[1]
	for name, want := range map[string]float64{"mean": s.Mean, "median": s.Median, "trimmed_mean": s.Trimmed, "standard_error": s.StdErr, "x": 16, "rho": 1, "trials": 8, "refused": 0} {
		if x, err := strconv.ParseFloat(at(first, name), 64); err != nil || math.Abs(x-want) > 1e-5*math.Abs(want) {
			t.Errorf("%s: %q, want %v", name, at(first, name), want)
		}
	}
	if at(first, "source") != "measured" || at(first, "relation") != "replace-one" || at(first, "metric") != "l2" || at(first, "data") != "gaussian-a:n=2000,d=16" || at(first, "quoted") != "" {
		t.Errorf("got %q", first)
	}
	quoted := 0
	for _, line := range lines[1:] {
		if len(line) != len(lines[0]) {
			t.Errorf("%d columns: %q", len(line), line)
		}
		if at(line, "source") == "published" {
			quoted++
			if at(line, "method") != "elsewhere" || at(line, "relation") != "" || at(line, "mean") != "" || !strings.HasPrefix(at(line, "quoted"), "0.") {
				t.Errorf("got %q", line)
			}
		}
	}
	if quoted != 2 {
		t.Errorf("%d figures of the source", quoted)
	}
}

func TestTablesSayWhatHasNoError(t *testing.T) {
	e := Experiment{Name: "x", Trials: 2, Epsilon: true, Relations: replaceOne, Panels: []Panel{
		{Name: "a", Points: []Point{{Label: "nowhere", Data: "transactions:file=nowhere", Rho: 1}}, Methods: []string{"clipped"}},
		{Name: "b", XLabel: "ε", Points: overRho("gaussian-a:n=10,d=64", 0.001), Methods: []string{"shifted"}},
	}}
	lines := run(t, e, Options{}).Tables()["x"]
	for i, want := range []string{
		"panel,title,metric,relation,x_label,x,setting,data,epsilon,method,source,mean,median,trimmed_mean,standard_error,quoted,trials,refused,problem",
		"a,,l2,replace-one,,,nowhere,transactions:file=nowhere,1,clipped,measured,,,,,,0,0,no data file",
		"b,,l2,replace-one,ε,0.001,,gaussian-a:n=10;d=64,0.001,shifted,measured,,,,,,2,2,",
	} {
		cells := slices.Clone(lines[i])
		for j := range cells {
			cells[j] = strings.ReplaceAll(cells[j], ",", ";")
		}
		if got := strings.Join(cells, ","); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestSheetsAreTables(t *testing.T) {
	r := made(map[string]float64{"non-private": 1, "auto": 1.2, "plan": 2, "shifted": 3})
	at := r.Experiment.Panels[0].Points[0]
	r.Experiment.Name = "x"
	r.Experiment.Goals = []Goal{{"p", at, estimator.ReplaceOne, "plan", 1, 1.15, 0}}
	r.Experiment.Versus = []Versus{{"1 ×", "p", at, "plan", []string{"non-private"}, 1, ""}}
	tables := r.Tables()
	for name, want := range map[string]string{
		"x-goals":  "setting,rho,relation,method,ours,standard_error,non_private,figure,ratio,at_most,verdict",
		"x-auto":   "setting,rho,relation,auto,best_single_method,its_error,ratio,at_most,verdict",
		"x-versus": "setting,rho,relation,to_reach,method,median,against,its_median,ratio,standard_error,at_most,verdict",
	} {
		if len(tables[name]) != 2 || strings.Join(tables[name][0], ",") != want {
			t.Errorf("%s: %q", name, tables[name])
		}
	}
	if v := tables["x-goals"][1]; v[len(v)-1] != "missed" {
		t.Errorf("got %q", v)
	}
	if len(tables["x-overall"]) != 4 || len(tables) != 5 {
		t.Errorf("%d tables: %q", len(tables), tables["x-overall"])
	}
}

// TestUnion: sheets of one kind have the columns of all.
func TestUnion(t *testing.T) {
	got := union([]sheet{
		{about: [][2]string{{"panel", "a"}}, head: []string{"n", "ε", ""}, rows: [][]string{{"1", "2", "met"}, {"3", "–", "**missed**"}}},
		{about: [][2]string{{"panel", "b"}}, head: []string{"R/√d", "ε", ""}, rows: [][]string{{"5", "6", "met"}}},
	})
	want := [][]string{{"panel", "n", "epsilon", "verdict", "r_sqrt_d"}, {"a", "1", "2", "met", ""}, {"a", "3", "", "missed", ""}, {"b", "", "6", "met", "5"}}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %q", got)
	}
}
