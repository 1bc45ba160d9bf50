package exec

import (
	"fmt"
	"math"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/partition"
	"scrim/engine/store"
	"scrim/planner/plan"
)

// plain is an estimator without noise: the number of persons, of rows, and the sum of each
// coordinate. Its answer is repeated to any length.
type plain struct{ length int }

func (plain) Columns() []estimator.Kind      { return []estimator.Kind{estimator.Vector} }
func (plain) Loss() privacy.Loss             { return privacy.Loss{Rho: 1} }
func (plain) MinPersons() int64              { return 0 }
func (plain) ExpectedError() (float64, bool) { return 0, false }
func (plain) Steps() []estimator.Step        { return nil }
func (p plain) Release(_ noise.Noiser, in estimator.Input) estimator.Estimate {
	b, rows := in.Vectors, int64(0)
	sums := make([]float64, b.Dim)
	for _, c := range b.Chunks {
		for i := range c.Persons {
			n := int64(1)
			if c.Rows != nil {
				n = c.Rows[i]
			}
			rows += n
			for j, k := range c.Dense[i*b.Dim : (i+1)*b.Dim] {
				sums[j] += float64(k)
			}
		}
	}
	e := estimator.Estimate{Values: append([]float64{float64(b.Persons()), float64(rows)}, sums...)}
	for len(e.Values) < p.length {
		e.Values = append(e.Values, 1/float64(len(e.Values)), math.Inf(-1))
	}
	e.StdErr = make([]float64, len(e.Values))
	return e
}

// addVectors adds to a release a scan of rows and two aggregates of it: person p of d.visits has 1
// + p % 3 rows (p, -1) in its group, and person 40 only absent ones.
func addVectors(r *plan.Release, s *plan.Statement, length int) {
	r.Scans = append(r.Scans, plan.Scan{
		SQL: `SELECT g, 'p' || p, TRY_CAST(CASE WHEN p = 40 THEN NULL ELSE [p, -1] END AS DOUBLE[2]), p FROM
			(SELECT g, p, unnest(range(1 + p % 3)) FROM d.visits) q`,
		Types: []store.ScanType{store.ScanInt64, store.ScanText, store.ScanVector, store.ScanInt64}, Rows: true,
	})
	for range 2 {
		r.Output = append(r.Output, plan.Output{Key: -1, Aggregate: len(r.Aggregates)})
		r.Aggregates = append(r.Aggregates, plan.Aggregate{
			Text: "PLAIN", Scan: len(r.Scans) - 1, Columns: []int{2}, Estimator: plain{length},
			Vector:  &plan.Vector{Dim: 2, Grid: estimator.Grid{Step: 0.5, Lo: -limit, Hi: limit}},
			Present: func(e estimator.Estimate) any { return fmt.Sprint(e.Values) },
		})
		r.Loss = r.Loss.Add(plain{}.Loss())
	}
	r.Key += fmt.Sprint("vectors", length)
	s.Tables[0].Loss = r.Loss
}

func TestScalarsAndVectorsInOneRelease(t *testing.T) {
	s, l := fixture(t)
	st, r := counts(t, 1, false)
	addVectors(r, st, 0)
	rows, err := ask(t, executor(s, l), st, r)
	if err != nil {
		t.Fatal(err)
	}
	sum, visits := 0, 0
	for p := range 40 {
		sum, visits = sum+2*p*(1+p%3), visits+1+p%3
	}
	first := fmt.Sprint([]float64{40, float64(visits), float64(sum), float64(-2 * visits)})
	second := fmt.Sprint([]float64{2, 4, 2 * (41*3 + 42), -2 * 4})
	want := fmt.Sprint([]sql.Row{{0, 40, first, first}, {1, 3, second, second}, {2, 0, "[0 0 0 0]", "[0 0 0 0]"}})
	if got := fmt.Sprint(rows); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestSelectionCountsPersons: where the first scan is one of rows, a key is selected by its
// persons.
func TestSelectionCountsPersons(t *testing.T) {
	s, l := fixture(t)
	st, r := counts(t, 1, true)
	addVectors(r, st, 0)
	r.Scans, r.Aggregates = r.Scans[1:], r.Aggregates[1:]
	for i := range r.Aggregates {
		r.Aggregates[i].Scan = 0
	}
	r.Output = []plan.Output{{Key: 0, Aggregate: -1}, {Key: -1, Aggregate: 0}}
	keep := r.Selection.Threshold()
	write(t, s, fmt.Sprintf("INSERT INTO d.visits SELECT 2 + 3 * (range %% %d), 7 FROM range(100000)", keep-1))
	write(t, s, fmt.Sprintf("INSERT INTO d.visits SELECT 2 + 3 * range, 8 FROM range(%d)", keep))
	rows, err := ask(t, executor(s, l), st, r)
	if err != nil {
		t.Fatal(err)
	}
	var keys []any
	for _, row := range rows {
		keys = append(keys, row[0])
	}
	if got := fmt.Sprint(keys); got != "[0 8]" {
		t.Errorf("got keys %s, want those of at least %d persons: [0 8]", got, keep)
	}
}

// TestSelectionWeighsPersonsByTheirKeys: a first scan that does not tell how many they are, where
// they may be several, ends the query; one that does weighs each person by its own.
func TestSelectionWeighsPersonsByTheirKeys(t *testing.T) {
	s, l := fixture(t)
	sel, err := partition.New(partition.Params{Rho: 1, Delta: 1e-9, MaxGroups: 4})
	if err != nil {
		t.Fatal(err)
	}
	keep := sel.Threshold()
	// Key 7 has persons of one key, one fewer than are needed; key 8 as many as are needed; the
	// four keys from 20 on share persons, too few for half a weight each and enough for a whole
	// one.
	write(t, s, fmt.Sprintf("INSERT INTO d.visits SELECT 1000 + range, 7 FROM range(%d)", keep-1))
	write(t, s, fmt.Sprintf("INSERT INTO d.visits SELECT 2000 + range, 8 FROM range(%d)", keep))
	write(t, s, fmt.Sprintf("INSERT INTO d.visits SELECT 3000 + range // 4, 20 + range %% 4 FROM range(%d)", 4*(2*keep-2)))
	write(t, s, fmt.Sprintf("INSERT INTO d.visits SELECT 4000 + range // 4, 30 + range %% 4 FROM range(%d)", 4*2*keep))
	st, r := counts(t, 1, true)
	r.Selection, r.PerUnit, r.Key = sel, 4, "weighed"
	r.Loss = sel.Loss().Add(r.Aggregates[0].Estimator.Loss())
	st.Tables[0].Loss = r.Loss
	if _, err := ask(t, executor(s, l), st, r); err == nil {
		t.Error("persons of unknown weight were counted")
	}
	r.Key = "weighed with keys held"
	r.Scans[0].SQL = "SELECT g, count(*), count(*) OVER (PARTITION BY p) FROM d.visits GROUP BY g, p"
	r.Scans[0].Held = true
	rows, err := ask(t, executor(s, l), st, r)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint([]sql.Row{{0, 40}, {8, keep}, {30, 2 * keep}, {31, 2 * keep}, {32, 2 * keep}, {33, 2 * keep}})
	if got := fmt.Sprint(rows); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLongAnswersAreReplayed: an answer of many numbers is kept and comes back as it was.
func TestLongAnswersAreReplayed(t *testing.T) {
	s, l := fixture(t)
	x := executor(s, l)
	x.Lost = func(err error) { t.Errorf("not kept: %v", err) }
	st, r := counts(t, 1, false)
	addVectors(r, st, 200_000)
	r.Keys[0].Type = types.Int64
	first, err := ask(t, x, st, r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ask(t, x, st, r)
	if err != nil || len(again) != 3 || fmt.Sprint(again) != fmt.Sprint(first) || charges(t, l) != 1 {
		t.Errorf("got another answer, or %v, or %d charges", err, charges(t, l))
	}
}

// TestAnswersTakeRoom: an answer too long for the memory fails as everything does after the charge.
func TestAnswersTakeRoom(t *testing.T) {
	s, l := fixture(t)
	st, r := counts(t, 1, false)
	addVectors(r, st, 0)
	x := executor(s, l)
	x.Memory = 20_000
	for i := range r.Aggregates[1:] {
		v := *r.Aggregates[1+i].Vector
		r.Aggregates[1+i].Vector = &v
	}
	if _, err := ask(t, x, st, r); err != nil {
		t.Fatalf("%v: the test's memory is too small", err)
	}
	r.Key += "longer"
	r.Scans[1].SQL = "SELECT g, 'p' || p, CAST(range(200) AS DOUBLE[200]), p FROM d.visits WHERE p = 1"
	for i := range r.Aggregates[1:] {
		r.Aggregates[1+i].Vector.Dim = 200
	}
	if _, err := ask(t, x, st, r); err == nil || charges(t, l) != 2 {
		t.Errorf("got %v and %d charges", err, charges(t, l))
	}
}
