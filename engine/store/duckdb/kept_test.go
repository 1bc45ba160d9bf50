package duckdb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"scrim/engine/store"
	"scrim/test/testenv"
)

// rowsOf scans integers.
func rowsOf(t testing.TB, snap store.Snapshot, columns int, sql string, args ...any) (out [][]int64) {
	t.Helper()
	types := make([]store.ScanType, columns)
	must(t, snap.Scan(context.Background(), sql, args, types, func(c store.Chunk) error {
		for i := range c.Len {
			row := make([]int64, columns)
			for j := range row {
				row[j] = c.Columns[j].Ints[i]
			}
			out = append(out, row)
		}
		return nil
	}))
	return out
}

// leftovers counts the temporary tables that the connections which are kept for snapshots have.
func leftovers(t testing.TB, s *Store) int64 {
	t.Helper()
	s.mu.Lock()
	idle := len(s.idle)
	s.mu.Unlock()
	var n int64
	for range idle {
		snap := testSnapshot(t, s)
		defer snap.Close()
		n += rowsOf(t, snap, 1, "SELECT count(*) FROM duckdb_tables() WHERE temporary")[0][0]
	}
	return n
}

func TestMaterialiseAndKeep(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	snap := testSnapshot(t, s)
	kept, err := snap.Materialise(ctx, "SELECT id, name, x FROM shop.people WHERE id >= $1 -- all", []any{int64(1)}, []string{"id", `a "name"`, "x"})
	must(t, err)
	values, err := snap.Keep(ctx, []string{"i", "f", "t"}, []store.ScanType{store.ScanInt64, store.ScanFloat64, store.ScanText},
		[][]any{{int64(1), 0.5, "one"}, {int64(2), nil, "a text longer than twelve bytes ü"}, {nil, 2.5, nil}})
	must(t, err)
	var got []string
	must(t, snap.Scan(ctx, `SELECT CAST(k.id AS BIGINT), k."a ""name""", v.f, v.t FROM `+kept+" AS k LEFT JOIN "+values+" AS v ON v.i = k.id ORDER BY 1", nil,
		[]store.ScanType{store.ScanInt64, store.ScanText, store.ScanFloat64, store.ScanText}, func(ch store.Chunk) error {
			for i := range ch.Len {
				c := ch.Columns
				got = append(got, fmt.Sprintf("%d|%s|%t|%s", c[0].Ints[i], c[1].Texts[i], c[2].Null != nil && c[2].Null[i], c[3].Texts[i]))
			}
			return nil
		}))
	equal(t, "rows", got, []string{"1|ann|false|one", "2||true|a text longer than twelve bytes ü", "3|a name longer than twelve bytes|true|"})
	equal(t, "rows with NULL", rowsOf(t, snap, 2, "SELECT count(*) - count(i), CAST(sum(f) * 10 AS BIGINT) FROM "+values), [][]int64{{1, 30}})

	// Nobody else sees them, or could.
	other := testSnapshot(t, s)
	wantKind(t, "another snapshot", other.Scan(ctx, "SELECT count(*) FROM "+kept, nil, oneInt, func(store.Chunk) error { return nil }), store.NotFound)
	if _, err := c.Query(ctx, "SELECT * FROM "+kept); store.KindOf(err) != store.NotFound {
		t.Errorf("a session: got %v", err)
	}
	tables, err := s.Tables(ctx, "shop")
	must(t, err)
	equal(t, "tables listed", len(tables), 1)
	schemas, err := s.Schemas(ctx)
	must(t, err)
	equal(t, "schemas listed", schemas, []string{"shop"})

	must(t, snap.Close())
	must(t, snap.Close())
	must(t, other.Close())
	equal(t, "tables left", leftovers(t, s), int64(0))
}

// Many values, at the speed of a chunk at a time.
func TestKeepMany(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	const n = 100_001
	rows := make([][]any, n)
	var sum int64
	for i := range rows {
		rows[i] = []any{int64(i), fmt.Sprint("key number ", i)}
		sum += int64(len(rows[i][1].(string)))
	}
	snap := testSnapshot(t, s)
	start := testenv.Processor(t)
	table, err := snap.Keep(ctx, []string{"i", "k"}, []store.ScanType{store.ScanInt64, store.ScanText}, rows)
	must(t, err)
	if took := testenv.Processor(t) - start; took > 2*time.Second {
		t.Errorf("took %v of a processor", took)
	}
	equal(t, "count, last, lengths", rowsOf(t, snap, 3, "SELECT count(*), max(i), CAST(sum(length(k)) AS BIGINT) FROM "+table), [][]int64{{n, n - 1, sum}})
	empty, err := snap.Keep(ctx, []string{"i"}, oneInt, nil)
	must(t, err)
	equal(t, "no values", rowsOf(t, snap, 1, "SELECT count(*) FROM "+empty), [][]int64{{0}})
}

// What is kept is of the state of the snapshot's other scans, whoever commits meanwhile.
func TestMaterialiseIsOfTheSnapshotsState(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	snap := testSnapshot(t, s)
	n, _ := total(t, snap)
	for i := range 3 {
		write(t, c, people, fmt.Sprintf("INSERT INTO shop.people VALUES (%d, 'new', 1)", 10+i))
		table, err := snap.Materialise(ctx, "SELECT id FROM shop.people", nil, []string{"id"})
		must(t, err)
		equal(t, "rows", rowsOf(t, snap, 1, "SELECT count(*) FROM "+table), [][]int64{{n}})
	}
	// The same texts with tables of the same names, on the same connection, in another state.
	must(t, snap.Close())
	again := testSnapshot(t, s)
	table, err := again.Materialise(ctx, "SELECT id FROM shop.people", nil, []string{"id"})
	must(t, err)
	equal(t, "rows of the next snapshot", rowsOf(t, again, 1, "SELECT count(*) FROM "+table), [][]int64{{n + 3}})
}

// The transaction lets nothing be written but temporary tables.
func TestSnapshotsTransactionIsReadOnly(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	testPeople(t, testSession(t, s))
	snap := testSnapshot(t, s).(*snapshot)
	for _, sql := range []string{"INSERT INTO shop.people VALUES (9, '', 0)", "CREATE TABLE shop.more (i INTEGER)", "DROP TABLE shop.people"} {
		if _, err := snap.pooled.exec(ctx, sql); err == nil {
			t.Errorf("%s was run", sql)
		}
	}
}

func TestMaterialiseRefuses(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	testPeople(t, testSession(t, s))
	one := []string{"a"}
	once, err := s.Once(ctx)
	must(t, err)
	_, err = once.Materialise(ctx, "SELECT 1", nil, one)
	wantKind(t, "a snapshot of one scan", err, store.Internal)
	_, err = once.Keep(ctx, one, oneInt, nil)
	wantKind(t, "a snapshot of one scan", err, store.Internal)
	must(t, once.Close())

	tests := map[string]struct {
		sql     string
		columns []string
		want    store.Kind
	}{
		"two statements":     {"SELECT 1; DROP TABLE shop.people", one, store.Refused},
		"no SELECT":          {"DELETE FROM shop.people RETURNING id", one, store.Refused},
		"too few names":      {"SELECT 1, 2", one, store.Internal},
		"too many names":     {"SELECT 1", []string{"a", "b"}, store.Internal},
		"an unknown table":   {"SELECT 1 FROM shop.none", one, store.NotFound},
		"a bad value":        {"SELECT CAST('topsecret' AS INTEGER) + id FROM shop.people", one, store.BadValue},
		"a value on its way": {"SELECT CAST(CASE WHEN i = 900000 THEN 'topsecret' ELSE '1' END AS BIGINT) FROM range(1000000) r(i)", one, store.BadValue},
	}
	for name, tt := range tests {
		snap := testSnapshot(t, s)
		if _, err := snap.Materialise(ctx, "SELECT id FROM shop.people", nil, one); err != nil {
			t.Fatal(err)
		}
		_, err := snap.Materialise(ctx, tt.sql, nil, tt.columns)
		wantKind(t, name, err, tt.want)
		must(t, snap.Close())
	}
	snap := testSnapshot(t, s)
	_, err = snap.Keep(ctx, one, []store.ScanType{store.ScanVector}, nil)
	wantKind(t, "arrays", err, store.Internal)
	_, err = snap.Keep(ctx, one, oneInt, [][]any{{int64(1), int64(2)}})
	wantKind(t, "a row that is too long", err, store.Internal)
	must(t, snap.Close())
	snap = testSnapshot(t, s)
	_, err = snap.Keep(ctx, one, oneInt, [][]any{{1.5}})
	wantKind(t, "a value of another type", err, store.Internal)
	must(t, snap.Close())
	if _, err := snap.Keep(ctx, one, oneInt, nil); !errors.Is(err, store.ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
	if _, err := snap.Materialise(ctx, "SELECT 1", nil, one); !errors.Is(err, store.ErrClosed) {
		t.Errorf("closed: got %v", err)
	}
	equal(t, "tables left", leftovers(t, s), int64(0))
}

func TestMaterialiseInterrupted(t *testing.T) {
	s, _ := testOpen(t, Options{})
	for range 3 {
		snap := testSnapshot(t, s)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		start := time.Now()
		_, err := snap.Materialise(ctx, "SELECT i FROM range(100000000000) r(i)", nil, []string{"i"})
		cancel()
		wantKind(t, "interrupted", err, store.Interrupted)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("took %v to stop", took)
		}
		must(t, snap.Close())
	}
	equal(t, "tables left", leftovers(t, s), int64(0))
}

// More than the memory limit takes, from several snapshots at once, each with its own.
func TestMaterialiseSpills(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{MemoryLimit: "120MB"})
	const n, snapshots = 4_000_000, 3 // 64 MB each
	var group sync.WaitGroup
	for k := range snapshots {
		group.Go(func() {
			snap, err := s.Snapshot(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			defer snap.Close()
			table, err := snap.Materialise(ctx, fmt.Sprintf("SELECT i, hash(i + %d) FROM range(%d) r(i)", k, n), nil, []string{"i", "h"})
			if err != nil {
				t.Errorf("snapshot %d: %v (%s)", k, err, detailOf(err))
				return
			}
			var rows int64
			err = snap.Scan(ctx, fmt.Sprintf("SELECT count(*) FROM %s WHERE h = hash(i + %d)", table, k), nil, oneInt, func(c store.Chunk) error {
				rows = c.Columns[0].Ints[0]
				return nil
			})
			if err != nil || rows != n {
				t.Errorf("snapshot %d: %d rows of its own, %v (%s)", k, rows, err, detailOf(err))
			}
		})
	}
	group.Wait()
	equal(t, "tables left", leftovers(t, s), int64(0))
}
