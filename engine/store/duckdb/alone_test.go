package duckdb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scrim/engine/store"
)

// testMany makes shop.people(u, g, x) of one row a person, and shop.one of as many rows of one
// person.
func testMany(t testing.TB, s *Store, rows int) {
	t.Helper()
	c := testSession(t, s)
	write(t, c, people, "CREATE SCHEMA shop",
		fmt.Sprintf("CREATE TABLE shop.people AS SELECT i AS u, i %% 20 AS g, CAST(hash(i) %% 1000 AS BIGINT) AS x FROM range(%d) r(i)", rows),
		fmt.Sprintf("CREATE TABLE shop.one AS SELECT CAST(7 AS BIGINT) AS u, i %% 20 AS g, CAST(hash(i) %% 1000000007 AS BIGINT) AS x FROM range(%d) r(i)", rows))
}

// alone opens a snapshot that is alone.
func alone(s *Store, ctx context.Context) (store.Snapshot, error) {
	snap, err := s.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if err := snap.Alone(ctx); err != nil {
		snap.Close()
		return nil, err
	}
	return snap, nil
}

// While a snapshot is alone, others wait, and go on when it is closed.
func TestAlone(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	beside := testSnapshot(t, s)
	snap, err := alone(s, ctx)
	must(t, err)
	n, _ := total(t, snap)
	equal(t, "rows", n, int64(3))
	_, err = snap.Materialise(ctx, "SELECT id FROM shop.people", nil, []string{"id"})
	must(t, err)

	nothing := func(store.Chunk) error { return nil }
	waiting := map[string]func() error{
		"a scan":  func() error { return beside.Scan(ctx, "SELECT id::BIGINT FROM shop.people", nil, oneInt, nothing) },
		"a query": func() error { _, err := testSession(t, s).Query(ctx, "SELECT id FROM shop.people"); return err },
		"a write": func() error { _, err := c.Write(ctx, []store.TableRef{people}, "DELETE FROM shop.people"); return err },
		"bytes": func() error {
			return s.ScanBytes(ctx, "SELECT id::BIGINT FROM shop.people", nil, func(store.BytesChunk) error { return nil })
		},
		"one scan": func() error {
			o, _ := s.Once(ctx)
			defer o.Close()
			return o.Scan(ctx, "SELECT 1::BIGINT", nil, oneInt, nothing)
		},
		"another alone": func() error {
			a, err := alone(s, ctx)
			if err == nil {
				err = a.Close()
			}
			return err
		},
	}
	ended := map[string]<-chan struct{}{}
	for name, f := range waiting {
		ended[name] = started(func() {
			if err := f(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for name, e := range ended {
		if !stays(e) {
			t.Errorf("%s did not wait", name)
		}
	}
	short, cancel := context.WithTimeout(ctx, 5*time.Millisecond)
	defer cancel()
	_, err = alone(s, short)
	wantKind(t, "another that cannot wait", err, store.Interrupted)
	_, err = testSession(t, s).Query(short, "SELECT 2")
	wantKind(t, "a query that cannot wait", err, store.Interrupted)
	n, _ = total(t, snap)
	equal(t, "rows", n, int64(3))
	must(t, s.Alive(ctx))
	_, ok, err := s.Table(ctx, people)
	must(t, err)
	equal(t, "a table's definition is found", ok, true)
	must(t, snap.Close())
	must(t, snap.Close())
	for _, e := range ended {
		<-e
	}
}

// The store can be closed while somebody is alone and others wait.
func TestCloseWhileAlone(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	snap, err := alone(s, ctx)
	must(t, err)
	query := started(func() {
		if _, err := c.Query(ctx, "SELECT count(*) FROM shop.people"); !errors.Is(err, store.ErrClosed) {
			t.Errorf("the query that waited: got %v", err)
		}
	})
	if !stays(query) {
		t.Error("a query did not wait")
	}
	must(t, s.Close())
	<-query
	if err := snap.Scan(ctx, "SELECT 1::BIGINT", nil, oneInt, func(store.Chunk) error { return nil }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if _, err := alone(s, ctx); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := s.Alive(ctx); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// scanForms are the ways in which generated scans bring rows together.
var scanForms = map[string]string{
	"persons":       "SELECT CAST(sum(n + x) AS BIGINT) FROM (SELECT g, u, count(*) AS n, sum(x) AS x FROM shop.people GROUP BY g, u)",
	"text persons":  "SELECT count(*) FROM (SELECT g, count(*) FROM (SELECT g, 'person number ' || u || ' of all of them' AS u FROM shop.people) GROUP BY g, u)",
	"text keys":     "SELECT count(*) FROM (SELECT g, count(*) FROM (SELECT u, 'a key as long as a line of text ' || u AS g FROM shop.people) GROUP BY g, u)",
	"values":        "SELECT CAST(sum(n) AS BIGINT) FROM (SELECT g, u, count(DISTINCT x) AS n FROM shop.one GROUP BY g, u)",
	"groups":        "SELECT count(*) FROM (SELECT g, x FROM shop.people QUALIFY row_number() OVER (PARTITION BY u ORDER BY hash(u, 5, g), g) <= 2)",
	"rows of one":   "SELECT count(*) FROM (SELECT g, x FROM shop.one QUALIFY row_number() OVER (PARTITION BY u ORDER BY hash(u, 5, x), x) <= 2)",
	"groups of one": "SELECT count(*) FROM (SELECT g, x FROM shop.one QUALIFY dense_rank() OVER (PARTITION BY u ORDER BY hash(u, 5, g), g) <= 2)",
	"median": `SELECT CAST(sum(m) AS BIGINT) FROM (SELECT g, max(CASE WHEN j = (n + 1) // 2 THEN x END) AS m FROM (SELECT g, u, x,
		row_number() OVER (PARTITION BY g, u ORDER BY x NULLS LAST) AS j, count(x) OVER (PARTITION BY g, u) AS n FROM shop.one) GROUP BY g, u)`,
	"join": "SELECT CAST(sum(n) AS BIGINT) FROM (SELECT p.g, p.u, count(*) AS n FROM shop.people p JOIN shop.people q ON p.u = q.u GROUP BY p.g, p.u)",
}

// Alone every form ends well in little memory, whoever owns the rows.
func TestAloneInLittleMemory(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{MemoryLimit: "256MB"})
	testMany(t, s, 2_000_000)
	for name, sql := range scanForms {
		snap, err := alone(s, ctx)
		must(t, err)
		start := time.Now()
		err = snap.Scan(ctx, sql, nil, oneInt, func(store.Chunk) error { return nil })
		t.Logf("%s: %v", name, time.Since(start))
		if err != nil {
			t.Errorf("%s: %v (%s)", name, err, detailOf(err))
		}
		must(t, snap.Close())
	}
}

// Many at once, and a query that takes all memory that it gets: what is crowded out ends well
// alone.
func TestCrowd(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{MemoryLimit: "200MB"})
	testMany(t, s, 1_200_000)
	stop := make(chan struct{})
	hog := started(func() {
		c := testSession(t, s)
		for {
			select {
			case <-stop:
				return
			default: // it may fail: it is nobody's who was promised anything
				_, _ = c.Query(ctx, "SELECT count(*) FROM (SELECT u, list(x), max(g) FROM shop.people GROUP BY u)")
			}
		}
	})
	var again atomic.Int64
	var group sync.WaitGroup
	for i := range 16 {
		name := []string{"persons", "text keys", "groups", "groups of one"}[i%4]
		group.Go(func() {
			snap, err := s.Snapshot(ctx)
			must(t, err)
			defer snap.Close()
			count := func() error {
				return snap.Scan(ctx, scanForms[name], nil, oneInt, func(store.Chunk) error { return nil })
			}
			if err = count(); store.Crowded(err) {
				again.Add(1)
				if err = snap.Alone(ctx); err == nil {
					err = count()
				}
			}
			if err != nil {
				t.Errorf("%s: %v (%s)", name, err, detailOf(err))
			}
		})
	}
	group.Wait()
	close(stop)
	<-hog
	t.Logf("%d of 16 ran again", again.Load())
}

// greedyScan is out of memory in 64 MB.
const greedyScan = "SELECT len(list('some text ' || i)) FROM range(3000000) r(i)"

// A snapshot that was out of memory shows alone what it showed before, whatever was written since,
// and has the versions of that: with and without a transaction of its own, where its state was
// known when it began, and where a commit was under way or the state not known.
func TestAloneShowsTheSameState(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{MemoryLimit: "64MB"})
	c := testSession(t, s)
	testPeople(t, c)
	grow := func() {
		write(t, c, people, "INSERT INTO shop.people SELECT max(id) + 1, 'x', 0 FROM shop.people")
	}
	nothing := func(store.Chunk) error { return nil }
	beside := func(open func(context.Context) (store.Snapshot, error), first func(store.Snapshot)) func() store.Snapshot {
		return func() store.Snapshot { // it begins while a commit is under way
			under, end := make(chan struct{}), make(chan struct{})
			done := started(func() { _ = s.commit(nil, func() error { close(under); <-end; return nil }) })
			<-under
			snap, err := open(ctx)
			must(t, err)
			first(snap)
			close(end)
			<-done
			return snap
		}
	}
	fails := func(snap store.Snapshot) {
		wantKind(t, "a greedy scan", snap.Scan(ctx, greedyScan, nil, oneInt, nothing), store.OutOfMemory)
	}
	plain := func(open func(context.Context) (store.Snapshot, error), first func(store.Snapshot)) func() store.Snapshot {
		return func() store.Snapshot {
			snap, err := open(ctx)
			must(t, err)
			first(snap)
			return snap
		}
	}
	for name, begin := range map[string]func() store.Snapshot{
		"a snapshot": plain(s.Snapshot, func(snap store.Snapshot) { total(t, snap); fails(snap) }),
		"one scan":   plain(s.Once, fails),
		"one scan in a transaction": plain(s.Once, func(snap store.Snapshot) {
			_, err := snap.Versions(ctx, people)
			must(t, err)
			fails(snap)
		}),
		"a snapshot beside a commit": beside(s.Snapshot, fails),
		"one scan beside a commit":   beside(s.Once, fails),
		"a snapshot of an unknown state": func() store.Snapshot {
			known := s.commits.now.Swap(nil)
			defer s.commits.now.Store(known)
			return plain(s.Snapshot, fails)()
		},
		"a snapshot with tables": plain(s.Snapshot, func(snap store.Snapshot) {
			_, err := snap.Materialise(ctx, "SELECT id FROM shop.people", nil, []string{"id"})
			must(t, err)
			_, err = snap.Materialise(ctx, greedyScan, nil, []string{"n"})
			wantKind(t, "a greedy table", err, store.OutOfMemory)
		}),
	} {
		for what, change := range map[string]func(){
			"nothing": func() {},
			"rows":    func() { grow(); grow() },
			"columns": func() {
				write(t, c, people, "ALTER TABLE shop.people ADD COLUMN more INTEGER")
				write(t, c, people, "ALTER TABLE shop.people DROP COLUMN more")
			},
			"the table": func() {
				write(t, c, people, "DROP TABLE shop.people", "CREATE TABLE shop.people (id INTEGER, name VARCHAR, x DOUBLE)",
					"INSERT INTO shop.people VALUES (1, 'a', 0), (2, 'b', 0)")
			},
		} {
			rows := ask(t, s, "SELECT count(*) FROM shop.people")
			want, err := s.Versions(ctx, people)
			must(t, err)
			snap := begin()
			change()
			must(t, snap.Alone(ctx))
			got, err := snap.Versions(ctx, people)
			must(t, err)
			equal(t, name+", "+what+": versions", got, want)
			for range 2 {
				n, _ := total(t, snap)
				equal(t, name+", "+what+": rows", n, rows)
			}
			table, err := snap.Materialise(ctx, "SELECT id FROM shop.people", nil, []string{"id"})
			must(t, err)
			equal(t, name+", "+what+": a table's rows", rowsOf(t, snap, 1, "SELECT count(*) FROM "+table), [][]int64{{rows}})
			wantKind(t, "alone twice", snap.Alone(ctx), store.Internal)
			must(t, snap.Close())
			must(t, snap.Close())
		}
	}
	s.mu.Lock()
	for left := range s.open {
		if _, is := left.(*snapshot); is {
			t.Error("a spare was left open")
		}
	}
	s.mu.Unlock()
	equal(t, "snapshots that wait for spares", len(s.commits.showing), 0)
}

// Snapshots that begin while others commit show one state, first and alone.
func TestAloneBesideWriters(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	write(t, c, people, "CREATE SCHEMA shop", "CREATE TABLE shop.people (id INTEGER)")
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	writers.Go(func() {
		w := testSession(t, s)
		for {
			select {
			case <-stop:
				return
			default:
				write(t, w, people, "INSERT INTO shop.people VALUES (1)")
			}
		}
	})
	for range 2 {
		readers.Go(func() {
			for i := range 100 {
				open := s.Snapshot
				if i%2 > 0 {
					open = s.Once
				}
				snap, err := open(ctx)
				must(t, err)
				n := rowsOf(t, snap, 1, "SELECT count(*) FROM shop.people")
				must(t, snap.Alone(ctx))
				equal(t, "rows alone", rowsOf(t, snap, 1, "SELECT count(*) FROM shop.people"), n)
				v, err := snap.Versions(ctx, people)
				must(t, err)
				equal(t, "changes by the version", entries(v[0]), n[0][0]+2)
				must(t, snap.Close())
			}
		})
	}
	readers.Wait()
	close(stop)
	writers.Wait()
}

// What memory ran out for is told in sizes only.
func TestDetailOfOutOfMemory(t *testing.T) {
	s, _ := testOpen(t, Options{MemoryLimit: "64MB"})
	err := testSnapshot(t, s).Scan(context.Background(), "SELECT len(list('topsecret ' || i)) FROM range(3000000) r(i)", nil, oneInt,
		func(store.Chunk) error { return nil })
	e := wantKind(t, "out of memory", err, store.OutOfMemory)
	var wanted, used, of float64
	var a, b, c string
	if n, err := fmt.Sscanf(e.Detail, "out of memory: wanted %f %s %f %s of %f %s in use", &wanted, &a, &used, &b, &of, &c); n != 6 {
		t.Errorf("detail %q: %v", e.Detail, err)
	}
	if !store.Crowded(err) {
		t.Error("not crowded")
	}
}

// DuckDB is never planned for exactly two threads.
func TestPlannedThreads(t *testing.T) {
	for threads, want := range map[int]int64{1: 1, 2: 3, 3: 3, 4: 4} {
		s, _ := testOpen(t, Options{Threads: threads})
		equal(t, fmt.Sprint(threads, " threads"), rowsOf(t, testSnapshot(t, s), 1, "SELECT current_setting('threads')"), [][]int64{{want}})
		equal(t, "helpers", s.in.helpers.size, threads-1)
	}
}
