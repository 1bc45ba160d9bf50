package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/partition"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
	"scrim/internal/refuse"
	"scrim/internal/spill"
	"scrim/planner/plan"
	"scrim/test/stattest"
)

var visits = store.TableRef{Schema: "d", Name: "visits"}

// meddling writes to the table after every scan: a statement that did not hold one snapshot would
// see it.
type meddling struct {
	store.Store
	t *testing.T
}

type meddlingSnapshot struct {
	store.Snapshot
	t *testing.T
	s store.Store
}

func (m meddling) Snapshot(ctx context.Context) (store.Snapshot, error) {
	s, err := m.Store.Snapshot(ctx)
	return meddlingSnapshot{s, m.t, m.Store}, err
}

func (m meddlingSnapshot) Scan(ctx context.Context, q string, args []any, types []store.ScanType, each ...func(store.Chunk) error) error {
	err := m.Snapshot.Scan(ctx, q, args, types, each...)
	write(m.t, m.s, "INSERT INTO d.visits SELECT 1000 + range, 1 FROM range(500)")
	return err
}

func write(t *testing.T, s store.Store, q string) {
	t.Helper()
	ctx := context.Background()
	c, err := s.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(ctx, []store.TableRef{visits}, q); err != nil {
		t.Fatalf("%.200s: %s", q, told(err))
	}
}

// fixture is a store with 40 persons in group 0 and 3 in group 1, and a ledger with a budget.
func fixture(t *testing.T) (store.Store, *accounting.Ledger) {
	t.Helper()
	ctx, dir := context.Background(), t.TempDir()
	s, err := duckdb.Open(filepath.Join(dir, "data.duckdb"), duckdb.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c, err := s.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, q := range []string{"CREATE SCHEMA d", "CREATE TABLE d.visits (p BIGINT, g BIGINT)"} {
		if _, err := c.Write(ctx, nil, q); err != nil {
			t.Fatal(err)
		}
	}
	write(t, s, "INSERT INTO d.visits SELECT range, CASE WHEN range < 40 THEN 0 ELSE 1 END FROM range(43)")
	l, err := accounting.Open(filepath.Join(dir, "ledger.db"), accounting.Options{DirectoryID: "d", Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	b := budget.Budget{Account: "visits", Principal: budget.All, Epsilon: 1000, Delta: 1e-6, Window: budget.Never}
	if err := l.SetBudget(ctx, b); err != nil {
		t.Fatal(err)
	}
	return s, l
}

// counts is a release of COUNT(*) by g, over scans passes of the same query.
func counts(t *testing.T, passes int, private bool) (*plan.Statement, *plan.Release) {
	t.Helper()
	r := &plan.Release{Key: fmt.Sprint(passes, private), Tables: []string{"visits"}, Reads: []store.TableRef{visits},
		Defined: []plan.Definition{{Ref: visits, Text: "as planned"}}}
	r.Keys = []plan.Key{{Name: "g", Type: types.Int64, Domain: []any{int64(0), int64(1), int64(2)}, Decode: func(v any) (any, error) { return v, nil }}}
	r.Groups = 3
	if private {
		s, err := partition.New(partition.Params{Rho: 1, Delta: 1e-9, MaxGroups: 1})
		if err != nil {
			t.Fatal(err)
		}
		r.Selection, r.Groups, r.Keys[0].Domain = s, 0, nil
		r.Loss = s.Loss()
	}
	r.Output = []plan.Output{{Key: 0, Aggregate: -1}}
	for range passes {
		e, err := count.NewUnits(estimator.Params{Rho: 1}, false)
		if err != nil {
			t.Fatal(err)
		}
		r.Scans = append(r.Scans, plan.Scan{
			SQL:   "SELECT g, count(*) FROM d.visits GROUP BY g, p",
			Types: []store.ScanType{store.ScanInt64, store.ScanInt64},
		})
		r.Output = append(r.Output, plan.Output{Key: -1, Aggregate: len(r.Aggregates)})
		r.Aggregates = append(r.Aggregates, plan.Aggregate{
			Text: "COUNT", Scan: len(r.Scans) - 1, Columns: []int{1}, Estimator: e,
			Present: func(e estimator.Estimate) any { return int64(e.Values[0]) },
		})
		r.Loss = r.Loss.Add(e.Loss())
	}
	return &plan.Statement{Text: "SELECT …", Releases: []*plan.Release{r},
		Tables: []plan.Charge{{Account: "visits", Table: "d.visits", Loss: r.Loss}}}, r
}

func executor(s store.Store, l *accounting.Ledger) *Executor {
	return &Executor{
		Store: s, Account: l,
		Noise:     func() noise.Noiser { return stattest.Zero{} },
		Principal: func(*sql.Context) string { return "ann@%" },
		Owner:     func(*sql.Context) string { return "ann@%" },
		Memory:    1 << 20,
		Spill:     spill.NewPool(spill.Disk{Dir: os.TempDir()}, 1<<20),
		Unchanged: func(_ *sql.Context, d plan.Definition) error {
			if d.Text != "as planned" {
				return plan.Changed(d.Ref)
			}
			return nil
		},
		Lost: func(error) {},
	}
}

func ask(t *testing.T, x *Executor, st *plan.Statement, r *plan.Release) ([]sql.Row, error) {
	t.Helper()
	ctx := sql.NewEmptyContext()
	e, err := x.Begin(ctx, st)
	if err != nil {
		t.Fatal(err)
	}
	return e.Answer(ctx, r)
}

func charges(t *testing.T, l *accounting.Ledger) int {
	t.Helper()
	entries, err := l.Entries(context.Background(), accounting.Filter{Principal: "ann@%", Kinds: []accounting.EntryKind{accounting.ChargeEntry}})
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestScansOfOneStatementReadOneSnapshot(t *testing.T) {
	s, l := fixture(t)
	st, r := counts(t, 3, false)
	rows, err := ask(t, executor(meddling{s, t}, l), st, r)
	if err != nil {
		t.Fatal(err)
	}
	want := "[[0 40 40 40] [1 3 3 3] [2 0 0 0]]"
	if got := fmt.Sprint(rows); got != want {
		t.Errorf("got %s, want %s: a write between two passes was seen", got, want)
	}
}

func TestReplaysAreFreeUntilTheDataChange(t *testing.T) {
	s, l := fixture(t)
	x := executor(s, l)
	st, r := counts(t, 1, false)
	first, err := ask(t, x, st, r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := ask(t, x, st, r)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("got %v, %v, want the stored %v", again, err, first)
	}
	if n := charges(t, l); n != 1 {
		t.Errorf("got %d charges after a replay, want 1", n)
	}
	x.Principal = func(*sql.Context) string { return "bob@%" }
	if _, err := ask(t, x, st, r); err != nil {
		t.Fatal(err)
	}
	x.Principal = func(*sql.Context) string { return "ann@%" }
	write(t, s, "INSERT INTO d.visits VALUES (99, 2)")
	rows, err := ask(t, x, st, r)
	if err != nil {
		t.Fatal(err)
	}
	if n := charges(t, l); n != 2 {
		t.Errorf("got %d charges after a write, want 2", n)
	}
	if got, want := fmt.Sprint(rows), "[[0 40] [1 3] [2 1]]"; got != want {
		t.Errorf("got %s after a write, want %s", got, want)
	}
}

func TestPrivateKeysAreSelectedAndSorted(t *testing.T) {
	s, l := fixture(t)
	st, r := counts(t, 1, true)
	rows, err := ask(t, executor(s, l), st, r)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(rows), "[[0 40]]"; got != want {
		t.Errorf("got %s, want %s: three persons are under the threshold %d", got, want, r.Selection.Threshold())
	}
}

func TestOneExecutionAnswersTwiceTheSame(t *testing.T) {
	s, l := fixture(t)
	x := executor(s, l)
	x.Noise = noise.Secure
	st, r := counts(t, 1, false)
	ctx := sql.NewEmptyContext()
	e, err := x.Begin(ctx, st)
	if err != nil {
		t.Fatal(err)
	}
	a, err := e.Answer(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := e.Answer(ctx, r)
	if err != nil || fmt.Sprint(a) != fmt.Sprint(b) || charges(t, l) != 1 {
		t.Errorf("got %v then %v (%v), %d charges; want one answer and one charge", a, b, err, charges(t, l))
	}
}

// TestFailuresAfterTheChargeAreOne checks that what goes wrong after the charge is one fixed
// refusal, is charged, and is recorded.
func TestFailuresAfterTheChargeAreOne(t *testing.T) {
	s, l := fixture(t)
	for name, breakIt := range map[string]func(*plan.Release, *Executor){
		"store": func(r *plan.Release, _ *Executor) { r.Scans[0].SQL = "SELECT 1, error('secret row')" },
		"group": func(r *plan.Release, _ *Executor) { r.Scans[0].SQL = "SELECT g + 7, 1 FROM d.visits" },
		"estimator": func(r *plan.Release, _ *Executor) {
			r.Aggregates[0].Estimator = panicking{r.Aggregates[0].Estimator}
		},
		"noise": func(_ *plan.Release, x *Executor) { x.Noise = func() noise.Noiser { panic("no source") } },
	} {
		t.Run(name, func(t *testing.T) {
			x := executor(s, l)
			st, r := counts(t, 1, false)
			r.Key += name
			breakIt(r, x)
			before := charges(t, l)
			_, err := ask(t, x, st, r)
			ref, ok := refuse.As(err)
			if !ok || ref.Code != refuse.Failed {
				t.Fatalf("got %v, want the fixed refusal", err)
			}
			if text := ref.Error(); text != failed(errors.New("x")).(*failure).public.Error() {
				t.Errorf("got text %q: it depends on the failure", text)
			}
			entries, err := l.Entries(context.Background(), accounting.Filter{Principal: "ann@%"})
			if err != nil || len(entries) != before+1 {
				t.Fatalf("got %d entries, %v, want %d", len(entries), err, before+1)
			}
		})
	}
}

type panicking struct{ estimator.Estimator }

func (panicking) Release(noise.Noiser, estimator.Input) estimator.Estimate { panic("broken") }

// TestRefusedChargesReadNothing checks the order: without a reservation no scan runs.
func TestRefusedChargesReadNothing(t *testing.T) {
	s, l := fixture(t)
	if err := l.RemoveBudget(context.Background(), "visits", false, budget.All, "root"); err != nil {
		t.Fatal(err)
	}
	st, r := counts(t, 1, false)
	_, err := ask(t, executor(unreadable{s, t}, l), st, r)
	if !errors.Is(err, accounting.ErrNoBudget) {
		t.Errorf("got %v, want ErrNoBudget", err)
	}
}

// TestFailuresBeforeTheChargeSaySo: without a snapshot nothing is charged, and the client is told.
func TestFailuresBeforeTheChargeSaySo(t *testing.T) {
	s, l := fixture(t)
	st, r := counts(t, 1, false)
	_, err := ask(t, executor(closed{s}, l), st, r)
	ref, ok := refuse.As(err)
	if !ok || ref.Code != refuse.Failed || !strings.Contains(ref.Cause, "nothing was charged") || charges(t, l) != 0 {
		t.Errorf("got %v and %d charges, want a refusal that says that nothing was charged", err, charges(t, l))
	}
}

// closed is a store that has been closed.
type closed struct{ store.Store }

func (closed) Versions(context.Context, ...store.TableRef) ([]string, error) {
	return nil, store.ErrClosed
}

func (closed) Snapshot(context.Context) (store.Snapshot, error) { return nil, store.ErrClosed }

// unreadable fails the test when anything is scanned.
type unreadable struct {
	store.Store
	t *testing.T
}

type unreadableSnapshot struct {
	store.Snapshot
	t *testing.T
}

func (u unreadable) Snapshot(ctx context.Context) (store.Snapshot, error) {
	s, err := u.Store.Snapshot(ctx)
	return unreadableSnapshot{s, u.t}, err
}

func (u unreadable) Once(ctx context.Context) (store.Snapshot, error) {
	s, err := u.Store.Once(ctx)
	return unreadableSnapshot{s, u.t}, err
}

func (u unreadableSnapshot) Scan(context.Context, string, []any, []store.ScanType, ...func(store.Chunk) error) error {
	u.t.Error("rows were read before a charge")
	return errors.New("unreadable")
}

// changing is a store that is written to after each look at versions.
type changing struct {
	store.Store
	t *testing.T
}

func (c changing) Versions(ctx context.Context, refs ...store.TableRef) ([]string, error) {
	of, err := c.Store.Versions(ctx, refs...)
	write(c.t, c.Store, "INSERT INTO d.visits SELECT 1000 + range, 1 FROM range(500)")
	return of, err
}

// TestStoredAnswersAreOfOneMoment: of a statement whose releases are all stored, a write beside it
// makes none anew.
func TestStoredAnswersAreOfOneMoment(t *testing.T) {
	s, l := fixture(t)
	st, one := counts(t, 1, false)
	more, two := counts(t, 2, false)
	st.Releases, st.Tables[0].Loss = append(st.Releases, two), one.Loss.Add(more.Tables[0].Loss)
	if _, err := ask(t, executor(s, l), st, one); err != nil {
		t.Fatal(err)
	}
	ctx := sql.NewEmptyContext()
	e, err := executor(changing{s, t}, l).Begin(ctx, st)
	if err != nil {
		t.Fatal(err)
	}
	for r, want := range map[*plan.Release]string{one: "[[0 40] [1 3] [2 0]]", two: "[[0 40 40] [1 3 3] [2 0 0]]"} {
		if rows, err := e.Answer(ctx, r); err != nil || fmt.Sprint(rows) != want {
			t.Errorf("got %v, %v, want %s", rows, err, want)
		}
	}
	if n := charges(t, l); n != 1 {
		t.Errorf("%d charges, want 1", n)
	}
}
