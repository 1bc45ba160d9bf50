package exec

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/count"
	"scrim/engine/store"
	"scrim/planner/plan"
)

// counting counts the scans that count persons.
type counting struct {
	store.Store
	scans *atomic.Int64
}

type countingSnapshot struct {
	store.Snapshot
	scans *atomic.Int64
}

func (c counting) Snapshot(ctx context.Context) (store.Snapshot, error) {
	s, err := c.Store.Snapshot(ctx)
	return countingSnapshot{s, c.scans}, err
}

func (c countingSnapshot) Scan(ctx context.Context, q string, args []any, types []store.ScanType, each ...func(store.Chunk) error) error {
	if strings.Contains(q, "DISTINCT") {
		c.scans.Add(1)
	}
	return c.Snapshot.Scan(ctx, q, args, types, each...)
}

// publicRelease tells the public number of persons, over a scan that has lost some of them, or has
// some twice.
func publicRelease(t *testing.T, key, scan string) (*plan.Statement, *plan.Release) {
	t.Helper()
	st, r := counts(t, 1, false)
	e, err := count.NewUnits(estimator.Params{Rho: 1, Relation: estimator.ReplaceOne, Sized: true}, false)
	if err != nil {
		t.Fatal(err)
	}
	r.Key, r.Keys, r.Groups, r.Output = key, nil, 1, r.Output[1:]
	r.Scans[0] = plan.Scan{SQL: scan, Types: []store.ScanType{store.ScanInt64}}
	r.Aggregates[0].Columns, r.Aggregates[0].Estimator = []int{0}, e
	r.Persons = "SELECT count(DISTINCT p) FROM d.visits"
	return st, r
}

// TestThePublicNumberIsThatOfTheTable: whatever the scans return, once for each version of the
// table, and of the snapshot that they read.
func TestThePublicNumberIsThatOfTheTable(t *testing.T) {
	s, l := fixture(t)
	scans := new(atomic.Int64)
	x := executor(counting{s, scans}, l)
	value := func(key, scan string) any {
		t.Helper()
		st, r := publicRelease(t, key, scan)
		rows, err := ask(t, x, st, r)
		if err != nil || len(rows) != 1 {
			t.Fatalf("%v, %v", rows, err)
		}
		return rows[0][0]
	}
	const few, twice = "SELECT count(*) FROM d.visits WHERE p > 7 GROUP BY p", "SELECT count(*) FROM d.visits, range(2) GROUP BY p, range"
	for _, c := range []struct{ key, scan string }{{"few", few}, {"twice", twice}, {"nobody", "SELECT 1 FROM d.visits WHERE p < 0"}} {
		if got := value(c.key, c.scan); got != int64(43) {
			t.Errorf("%s: %v persons of 43", c.key, got)
		}
	}
	if n := scans.Load(); n != 1 {
		t.Errorf("persons were counted %d times", n)
	}
	write(t, s, "INSERT INTO d.visits VALUES (900, 1), (900, 2), (NULL, 1)")
	if got := value("more", few); got != int64(44) || scans.Load() != 2 {
		t.Errorf("after a write: %v persons of 44, counted %d times", got, scans.Load())
	}
	x.Store = meddling{s, t}
	if got := value("meddled", few); got != int64(44) {
		t.Errorf("%v persons: not those of the snapshot", got)
	}
	x.Store = s
	st, r := publicRelease(t, "wrong", few)
	r.Persons = "SELECT p FROM d.visits WHERE p < 5"
	if _, err := ask(t, x, st, r); err == nil {
		t.Error("a count of several rows was taken")
	}
}

// TestCountsAreBounded: what is kept of tables does not grow beyond its bound.
func TestCountsAreBounded(t *testing.T) {
	var c personCounts
	for i := range 3 * mostCounts {
		c.keep(strings.Repeat("x", i), "1", int64(i))
	}
	if len(c.now) > mostCounts {
		t.Errorf("%d counts are kept", len(c.now))
	}
	if n, ok := c.find(strings.Repeat("x", 3*mostCounts-1), "1"); !ok || n != 3*mostCounts-1 {
		t.Errorf("the newest is %d, %v", n, ok)
	}
	if _, ok := c.find(strings.Repeat("x", 3*mostCounts-1), "2"); ok {
		t.Error("a count of another version was found")
	}
}
