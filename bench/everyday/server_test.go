package everyday

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"

	"scrim/bench/internal/served"
	"scrim/engine/estimator"
)

// falseAlarm is the probability with which a cell is called wild of whose runs one in a hundred is:
// four of five runs have to be. Noise cannot be seeded over the wire.
const falseAlarm = 1e-7

// asked is a server with the tables of a few statements.
type asked struct {
	server     *served.Server
	options    Options
	statements []Statement
}

func asking(t *testing.T, only string, epsilons ...float64) asked {
	t.Helper()
	o := Options{Only: only, Runs: 5, Epsilons: epsilons, Relations: []estimator.Relation{estimator.AddRemove, estimator.ReplaceOne}, Sessions: 2}
	statements, err := selected(o.Only, o.Data)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := start(t.Context(), t.TempDir(), o.Data, needed(statements), o.Relations)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := srv.Stop(); err != nil {
			t.Error(err)
		}
	})
	return asked{srv, o, statements}
}

// report asks; change may break the answers.
func (a asked) report(t *testing.T, change func(Statement, *reply)) Report {
	t.Helper()
	r := &running{Options: a.options, server: a.server, ask: func(ctx context.Context, s served.Session, st Statement, epsilon float64) (reply, error) {
		got, err := ask(ctx, s, st, epsilon)
		if err == nil {
			change(st, &got)
		}
		return got, err
	}}
	jobs, err := r.run(t.Context(), a.statements)
	if err != nil {
		t.Fatal(err)
	}
	report := Report{Options: a.options}
	for _, j := range jobs {
		report.Cells = append(report.Cells, j.cells...)
	}
	return report
}

// TestNoAnswerIsWildOrSilent asks a server questions of every kind over tables with several rows a
// person. At ε = 0.1 some have too few persons, and must say so.
func TestNoAnswerIsWildOrSilent(t *testing.T) {
	r := asking(t, short, 0.1, 1).report(t, func(Statement, *reply) {})
	for _, fault := range r.Faults(falseAlarm) {
		t.Error(fault)
	}
	values, intervals := 0, 0
	for _, c := range r.Cells {
		values, intervals = values+c.Values, intervals+c.Intervals
	}
	if len(r.Cells) < 40 || intervals < values/2 {
		t.Errorf("%d cells with %d values, of which %d have intervals", len(r.Cells), values, intervals)
	}
}

// short are the statements of the test.
const short = `^(n200_poisson/(count|groups|sum)|n500_geometric/(count|all)|n1000_pareto/groups|n1279_regulars/(count|all)|n5000_poisson/groups|visits/(days|all)|adult/education)$`

// TestBrokenAnswersAreFound: answers that count one row of each person, with intervals of the noise
// alone, are wild, and NULLs without their warnings are silent.
func TestBrokenAnswersAreFound(t *testing.T) {
	server := asking(t, "^n5000_poisson/count$", 1)
	for name, broken := range map[string]struct {
		want   string
		change func(Statement, *reply)
	}{
		"one row a person": {"are wild", func(st Statement, r *reply) {
			for _, row := range r.rows {
				value := *row[len(st.Keys)]
				x, _ := strconv.ParseFloat(value, 64)
				for i := len(st.Keys); i < len(row); i++ {
					if i != len(st.Keys)+1 && row[i] != nil { // all but the standard error
						y, _ := strconv.ParseFloat(*row[i], 64)
						moved := strconv.FormatFloat(y-x*0.7, 'f', -1, 64)
						row[i] = &moved
					}
				}
			}
		}},
		"no warnings": {"without a warning", func(st Statement, r *reply) {
			r.warnings = nil
			for _, row := range r.rows {
				row[len(st.Keys)] = nil
			}
		}},
		"nothing": {"without a warning", func(_ Statement, r *reply) { *r = reply{} }},
	} {
		t.Run(name, func(t *testing.T) {
			r := server.report(t, broken.change)
			faults := r.Faults(falseAlarm)
			if len(faults) != len(r.Cells) || slices.ContainsFunc(faults, func(f string) bool { return !strings.Contains(f, broken.want) }) {
				t.Errorf("%q, want each of %d cells to have answers that %s", faults, len(r.Cells), broken.want)
			}
		})
	}
}
