package duckdb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"scrim/engine/store"
)

// total scans count and sum of shop.people.
func total(t testing.TB, snap store.Snapshot) (n int64, sum float64) {
	t.Helper()
	must(t, snap.Scan(context.Background(), "SELECT count(*), coalesce(sum(x), 0) FROM shop.people", nil,
		[]store.ScanType{store.ScanInt64, store.ScanFloat64}, func(c store.Chunk) error {
			n, sum = c.Columns[0].Ints[0], c.Columns[1].Floats[0]
			return nil
		}))
	return n, sum
}

func TestSnapshotIsOneCommittedState(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	v0 := version(t, s, people)

	untouched := testSnapshot(t, s) // opened before, first read after the writes
	snap := testSnapshot(t, s)
	n0, sum0 := total(t, snap)
	write(t, c, people, "INSERT INTO shop.people VALUES (4, 'd', 100)", "UPDATE shop.people SET x = 7 WHERE id = 1", "DELETE FROM shop.people WHERE id = 2")
	must(t, c.Begin(ctx))
	write(t, c, people, "DELETE FROM shop.people")
	for _, sn := range []store.Snapshot{snap, untouched} {
		n, sum := total(t, sn)
		equal(t, "state", []any{n, sum}, []any{n0, sum0})
		v, err := sn.Versions(ctx, people)
		must(t, err)
		equal(t, "version", v, []string{v0})
	}
	fresh := testSnapshot(t, s)
	n, sum := total(t, fresh)
	equal(t, "fresh state", []any{n, sum}, []any{int64(3), 107.0})
	must(t, c.Rollback(ctx))

	// A definition changed and dropped meanwhile is there as it was.
	write(t, c, people, "ALTER TABLE shop.people ADD COLUMN y INTEGER", "DROP TABLE shop.people")
	n, sum = total(t, fresh)
	equal(t, "after the drop", []any{n, sum}, []any{int64(3), 107.0})
	if _, ok, _ := s.Table(ctx, people); ok {
		t.Error("the dropped table is listed")
	}
}

func TestScanVectors(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	ref := store.TableRef{Schema: "shop", Name: "wide"}
	const rows = 300_000
	write(t, c, ref, "CREATE SCHEMA shop", fmt.Sprintf(`CREATE TABLE shop.wide AS SELECT i,
		CASE WHEN i %% 3 = 0 THEN NULL ELSE i * 0.5::DOUBLE END AS f,
		CASE WHEN i %% 5 = 0 THEN NULL WHEN i %% 2 = 0 THEN 'short' || i ELSE 'a text longer than twelve ü ' || i END AS t
		FROM range(%d) r(i)`, rows))
	snap := testSnapshot(t, s)
	seen := make([]bool, rows)
	var kept []string
	var keptWant []string
	chunks := 0
	must(t, snap.Scan(context.Background(), "SELECT i, f, t FROM shop.wide WHERE i >= $1 OR $1 = 0", []any{int64(0)},
		[]store.ScanType{store.ScanInt64, store.ScanFloat64, store.ScanText}, func(c store.Chunk) error {
			chunks++
			ids, f, tx := c.Columns[0], c.Columns[1], c.Columns[2]
			if ids.Null != nil || ids.Floats != nil || ids.Texts != nil || f.Ints != nil || len(ids.Ints) != c.Len || len(f.Floats) != c.Len || len(tx.Texts) != c.Len {
				t.Fatal("vector of the wrong kind or length")
			}
			for i, id := range ids.Ints {
				if seen[id] {
					t.Fatalf("row %d twice", id)
				}
				seen[id] = true
				if f.Null[i] != (id%3 == 0) || !f.Null[i] && f.Floats[i] != float64(id)*0.5 {
					t.Fatalf("float of row %d: %v %v", id, f.Null[i], f.Floats[i])
				}
				want := ""
				switch {
				case id%5 == 0:
				case id%2 == 0:
					want = fmt.Sprint("short", id)
				default:
					want = fmt.Sprint("a text longer than twelve ü ", id)
				}
				if tx.Null[i] != (id%5 == 0) || tx.Texts[i] != want {
					t.Fatalf("text of row %d: %v %q", id, tx.Null[i], tx.Texts[i])
				}
				if id%1000 == 1 {
					kept, keptWant = append(kept, tx.Texts[i]), append(keptWant, want)
				}
			}
			return nil
		}))
	if chunks < 2 || slices.Contains(seen, false) {
		t.Errorf("%d chunks; all rows seen: %v", chunks, !slices.Contains(seen, false))
	}
	equal(t, "texts kept after their chunk", kept, keptWant)
}

func TestScanEdges(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	snap := testSnapshot(t, s)
	ints := []store.ScanType{store.ScanInt64}
	nothing := func(store.Chunk) error { return nil }

	calls := 0
	must(t, snap.Scan(ctx, "SELECT range FROM range(0)", nil, ints, func(c store.Chunk) error { calls += c.Len; return nil }))
	equal(t, "rows of an empty result", calls, 0)
	must(t, snap.Scan(ctx, "SELECT 'nan'::DOUBLE, '-inf'::DOUBLE", nil, []store.ScanType{store.ScanFloat64, store.ScanFloat64}, func(c store.Chunk) error {
		if !math.IsNaN(c.Columns[0].Floats[0]) || !math.IsInf(c.Columns[1].Floats[0], -1) {
			t.Errorf("got %v", c.Columns)
		}
		return nil
	}))
	wantKind(t, "integer for bigint", snap.Scan(ctx, "SELECT 1::INTEGER", nil, ints, nothing), store.Internal)
	wantKind(t, "double for bigint", snap.Scan(ctx, "SELECT 1::DOUBLE", nil, ints, nothing), store.Internal)
	wantKind(t, "two columns", snap.ScanInOrder(ctx, "SELECT 1::BIGINT, 2::BIGINT", nil, ints, nothing), store.Internal)
	wantKind(t, "unknown scan type", snap.Scan(ctx, "SELECT 1::BIGINT", nil, []store.ScanType{9}, nothing), store.Internal)
	wantKind(t, "two statements", snap.Scan(ctx, "SELECT 1::BIGINT; SELECT 2::BIGINT", nil, ints, nothing), store.Refused)
	wantKind(t, "missing argument", snap.Scan(ctx, "SELECT $2::BIGINT", []any{int64(1)}, ints, nothing), store.Internal)

	stop := errors.New("enough")
	calls = 0
	err := snap.Scan(ctx, "SELECT range FROM range(100000)", nil, ints, func(store.Chunk) error { calls++; return stop })
	if err != stop || calls != 1 {
		t.Errorf("got %v after %d calls", err, calls)
	}
	cancelled, cancel := context.WithCancel(ctx)
	err = snap.Scan(cancelled, "SELECT range FROM range(100000)", nil, ints, func(store.Chunk) error { cancel(); return nil })
	wantKind(t, "cancelled between chunks", err, store.Interrupted)
	must(t, testSnapshot(t, s).Scan(ctx, "SELECT 1::BIGINT", nil, ints, nothing))
}

// TestScansDeliverEveryRowOnce: a scan in any order and one in order have the same rows, also of
// filters, windows and joins that DuckDB might compute twice or not at all, with arguments and
// NULLs, in a transaction and without.
func TestScansDeliverEveryRowOnce(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{Threads: 2})
	c := testSession(t, s)
	testPeople(t, c)
	for _, sql := range []string{
		"SELECT i, CASE WHEN i % 3 > 0 THEN i END FROM range(300000) r(i) WHERE i >= $1",
		"SELECT i % 1000 AS g, count(*) FROM range(300000) r(i) WHERE i >= $1 GROUP BY g",
		"SELECT i, row_number() OVER (PARTITION BY i % 7 ORDER BY hash(i)) FROM range(100000) r(i) WHERE i >= $1",
		"SELECT a.i, b.i FROM range(100000) a(i) LEFT JOIN range(500) b(i) ON a.i = b.i * 3 WHERE a.i >= $1",
		"SELECT 1::BIGINT, NULL::BIGINT FROM range(5000) r(i) WHERE i >= $1", "SELECT $1::BIGINT, 7::BIGINT", "SELECT i, i FROM range(10) r(i) WHERE i > $1 + 100",
	} {
		types := []store.ScanType{store.ScanInt64, store.ScanInt64}
		var seen [2]map[string]int
		for k, scan := range []func(store.Snapshot) func(context.Context, string, []any, []store.ScanType, func(store.Chunk) error) error{
			func(s store.Snapshot) func(context.Context, string, []any, []store.ScanType, func(store.Chunk) error) error {
				return func(ctx context.Context, sql string, args []any, types []store.ScanType, each func(store.Chunk) error) error {
					var one sync.Mutex
					var inside [3]atomic.Int32
					var takers []func(store.Chunk) error
					for k := range inside {
						takers = append(takers, func(ch store.Chunk) error {
							if inside[k].Add(1) > 1 {
								t.Error("two threads are in one taker")
							}
							defer inside[k].Add(-1)
							one.Lock()
							defer one.Unlock()
							return each(ch)
						})
					}
					return s.Scan(ctx, sql, args, types, takers...)
				}
			},
			func(s store.Snapshot) func(context.Context, string, []any, []store.ScanType, func(store.Chunk) error) error {
				return s.ScanInOrder
			},
		} {
			seen[k] = map[string]int{}
			must(t, scan(testSnapshot(t, s))(ctx, sql, []any{int64(5)}, types, func(ch store.Chunk) error {
				for i := range ch.Len {
					row := ""
					for _, v := range ch.Columns {
						if v.Null != nil && v.Null[i] {
							row += "NULL "
						} else {
							row += fmt.Sprint(v.Ints[i], " ")
						}
					}
					seen[k][row]++
				}
				return nil
			}))
		}
		if fmt.Sprint(seen[0]) != fmt.Sprint(seen[1]) {
			t.Errorf("%s: %d different rows, in order %d", sql, len(seen[0]), len(seen[1]))
		}
	}
}

func TestVersions(t *testing.T) {
	ctx := context.Background()
	s, path := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	other := store.TableRef{Schema: "shop", Name: "other"}
	seen := map[string]bool{version(t, s, people): true}
	o0 := version(t, s, other)
	step := func(what string, sql string) {
		t.Helper()
		write(t, c, people, sql)
		v := version(t, s, people)
		if seen[v] {
			t.Errorf("%s: version %s was there before", what, v)
		}
		seen[v] = true
	}
	step("insert", "INSERT INTO shop.people VALUES (8, '', 0)")
	step("undone by hand", "DELETE FROM shop.people WHERE id = 8")
	step("no row changed", "DELETE FROM shop.people WHERE id = 8")
	step("alter", "ALTER TABLE shop.people ADD COLUMN y INTEGER")
	step("drop", "DROP TABLE shop.people")
	step("create again", "CREATE TABLE shop.people (id INTEGER)")
	equal(t, "another table", version(t, s, other), o0)

	snap := testSnapshot(t, s)
	both, err := snap.Versions(ctx, other, people, other)
	must(t, err)
	equal(t, "order", both, []string{o0, version(t, s, people), o0})
	none, err := snap.Versions(ctx)
	must(t, err)
	equal(t, "none", len(none), 0)

	last := version(t, s, people)
	must(t, s.Close())
	s = testReopen(t, path, Options{})
	equal(t, "after reopening", version(t, s, people), last)
}

func TestFoldingKeepsVersions(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c, slow := testSession(t, s), testSession(t, s)
	testPeople(t, c)
	must(t, slow.Begin(ctx)) // writes before the fold, commits after it
	write(t, slow, people, "UPDATE shop.people SET x = 1 WHERE id = 1")
	for range 20 {
		write(t, c, people, "UPDATE shop.people SET x = x + 1 WHERE id = 2")
	}
	v := version(t, s, people)
	must(t, s.use(func(k *conn) error { return k.fold(ctx) }))
	equal(t, "log entries", all(t, c, "SELECT count(*) FROM __scrim.version"), [][]any{{int64(1)}})
	equal(t, "version", version(t, s, people), v)
	must(t, slow.Commit(ctx))
	after := version(t, s, people)
	if after == v {
		t.Error("a write that spans the fold left the version")
	}
	must(t, s.use(func(k *conn) error { return k.fold(ctx) }))
	equal(t, "version", version(t, s, people), after)

	s.entries.Store(foldAfter - 1)
	write(t, c, people, "UPDATE shop.people SET x = 1 WHERE id = 2")
	equal(t, "entries after the automatic fold", s.entries.Load(), int64(0))
	equal(t, "log entries", all(t, c, "SELECT count(*) FROM __scrim.version"), [][]any{{int64(1)}})
}
