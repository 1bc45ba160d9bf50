package exec

import (
	"math"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator"
	"scrim/functions"
	"scrim/internal/remark"
	"scrim/planner/plan"
)

// TestRemarks counts, of released answers, the values that each kind of remark is about.
func TestRemarks(t *testing.T) {
	number := func(value, noise, added float64) estimator.Estimate {
		e := estimator.Estimate{Values: []float64{value}, StdErr: []float64{noise}, Error: &estimator.Error{Form: estimator.Quotient, Noise: []float64{noise}}}
		if added > 0 {
			e.Error.Cut = []estimator.Cut{{Added: added}}
		}
		return e
	}
	for _, c := range []struct {
		name      string
		estimates []estimator.Estimate
		feasible  []bool
		want      string
		says      string
	}{
		{"sure", []estimator.Estimate{number(100, 1, 0), number(-100, 1, 0)}, nil, "", ""},
		{"wide", []estimator.Estimate{number(100, 1, 0), number(-100, 26, 0)}, nil, "1 of 2 values with a wide error", "SUM(x) in 1 of 2 groups"},
		{"nothing but noise", []estimator.Estimate{number(0, 1, 0)}, nil, "1 of 1 values with a wide error", "than half of it: SUM(x). "},
		{"exact", []estimator.Estimate{number(0, 0, 0)}, nil, "", ""},
		{"error not known", []estimator.Estimate{{Values: []float64{1}, StdErr: []float64{math.NaN()}}}, nil, "", ""},
		{"too few", []estimator.Estimate{{Status: estimator.TooFew, Needed: 40, Values: []float64{0}}, number(100, 1, 0)}, nil,
			"1 of 2 values NULL for too few persons", "about 40 persons are needed"},
		{"too few rows of a group", []estimator.Estimate{{NeededRows: 9, Values: []float64{math.NaN()}, StdErr: []float64{math.NaN()}}}, nil,
			"1 of 1 values NULL for too few persons", "about 9 persons, or rows, of a group"},
		{"in a group that is not shown", []estimator.Estimate{number(0, 1, 0), number(100, 1, 0)}, []bool{false, true}, "", ""},
		{"a cut", []estimator.Estimate{number(100, 1, 11), number(100, 1, .5)}, nil, "2 of 2 values with a large cut", "SUM(x) in 2 of 2 groups"},
		{"a small cut", []estimator.Estimate{number(100, 1, 9), number(100, 1, .5)}, nil, "", ""},
	} {
		r := &plan.Release{
			Feasible: c.feasible,
			Aggregates: []plan.Aggregate{{Text: "SUM(x)", ErrorBars: []plan.ErrorBar{{Text: "SUM(x)", Value: func(v float64) float64 { return v }}},
				Present: func(e estimator.Estimate) any {
					if math.IsNaN(e.Values[0]) {
						return nil
					}
					return e.Values[0]
				}}},
			Output: []plan.Output{{Key: -1, Aggregate: 0}},
		}
		a := &answer{}
		for i, e := range c.estimates {
			a.Groups = append(a.Groups, answerGroup{Number: i, Estimates: []estimator.Estimate{e}})
		}
		list := remarks(sql.NewEmptyContext(), &plan.Statement{Releases: []*plan.Release{r}, Epsilon: 1}, map[*plan.Release]*answer{r: a}, true)
		if got := remark.Summary(list); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if c.says != "" && (len(list) != 1 || !strings.Contains(list[0].Message(), c.says)) {
			t.Errorf("%s: got %+v, want %q in it", c.name, list, c.says)
		}
	}
}

// TestOpenIntervals: what tells of an error is remarked on where it is NULL beside an answer.
func TestOpenIntervals(t *testing.T) {
	r := &plan.Release{
		Aggregates: []plan.Aggregate{{ErrorBars: []plan.ErrorBar{{Text: "SUM(x)", Value: func(v float64) float64 { return v }}},
			Present: func(e estimator.Estimate) any { return e.Values[0] }}},
		Output: []plan.Output{{Key: -1, Aggregate: 0}, {Key: -1, Aggregate: 0, ErrorBar: functions.High, Level: 0.95}},
	}
	open := estimator.Estimate{Values: []float64{1}, StdErr: []float64{.1}, Error: &estimator.Error{Form: estimator.Quotient, Under: []float64{2}, Noise: []float64{.1}}}
	sure := estimator.Estimate{Values: []float64{9}, StdErr: []float64{1}, Error: &estimator.Error{Form: estimator.Quotient, Noise: []float64{1}}}
	few := estimator.Estimate{Status: estimator.TooFew, Needed: 40}
	a := &answer{}
	for _, e := range []estimator.Estimate{open, sure, few} {
		a.Groups = append(a.Groups, answerGroup{Estimates: []estimator.Estimate{e}})
	}
	list := remarks(sql.NewEmptyContext(), &plan.Statement{Releases: []*plan.Release{r}, Epsilon: 1}, map[*plan.Release]*answer{r: a}, true)
	if len(list) != 3 || list[2].Code != remark.NoBound || list[2].Cells != 1 || !strings.Contains(list[2].Text, "DP_HIGH of SUM(x) in 1 of 3 groups") {
		t.Errorf("got %+v", list)
	}
}

// TestLongRemarks: however many aggregates a remark is about, it names a few, and cuts their names.
func TestLongRemarks(t *testing.T) {
	r := &plan.Release{}
	a := &answer{Groups: []answerGroup{{}}}
	for i := range 50 {
		r.Aggregates = append(r.Aggregates, plan.Aggregate{Text: strings.Repeat("é", 1000)})
		r.Output = append(r.Output, plan.Output{Key: -1, Aggregate: i})
		a.Groups[0].Estimates = append(a.Groups[0].Estimates, estimator.Estimate{Status: estimator.TooFew, Needed: 40})
	}
	list := remarks(sql.NewEmptyContext(), &plan.Statement{Releases: []*plan.Release{r}, Rho: 300}, map[*plan.Release]*answer{r: a}, true)
	if m := list[0].Message(); len(m) > 1500 || !strings.Contains(m, "and 46 more") || !strings.Contains(m, "SET_VAR(dp_rho=1000)") || list[0].Cells != 50 {
		t.Errorf("got %d bytes: %s", len(m), m)
	}
}
