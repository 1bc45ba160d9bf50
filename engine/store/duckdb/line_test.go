package duckdb

import (
	"context"
	"errors"
	"sync"
	"testing"

	"scrim/engine/store"
)

// ask scans one number in a snapshot of its own.
func ask(t testing.TB, s *Store, sql string, args ...any) (n int64) {
	t.Helper()
	snap := testSnapshot(t, s)
	defer snap.Close()
	must(t, snap.Scan(context.Background(), sql, args, []store.ScanType{store.ScanInt64}, func(c store.Chunk) error {
		n = c.Columns[0].Ints[0]
		return nil
	}))
	return n
}

// A plan that DuckDB made from the statistics of other rows gives wrong numbers without an error:
// see plan.
func TestPlansEndWithTheState(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	const large = "SELECT count(*) FROM shop.people WHERE id > 100"
	// A sum of values whose statistics are small is added up in 64 bits.
	const high = "SELECT CAST(sum(CAST(id AS BIGINT)) >> 62 AS BIGINT) FROM shop.big"
	big := store.TableRef{Schema: "shop", Name: "big"}
	write(t, c, big, "CREATE TABLE shop.big AS SELECT range AS id FROM range(10)")
	for range 2 {
		equal(t, "none", ask(t, s, large), int64(0))
		equal(t, "small sum", ask(t, s, high), int64(0))
	}
	if len(s.idle) != 1 || len(s.idle[0].plans) != 2 {
		t.Fatalf("%d connections kept: no plan was used twice", len(s.idle))
	}
	write(t, c, people, "INSERT INTO shop.people VALUES (101, '', 0)")
	write(t, c, big, "INSERT INTO shop.big SELECT 4611686018427387904 FROM range(10)")
	equal(t, "one", ask(t, s, large), int64(1))
	equal(t, "large sum", ask(t, s, high), int64(10))
	write(t, c, people, "ALTER TABLE shop.people DROP COLUMN x", "DROP TABLE shop.people")
	write(t, c, people, "CREATE TABLE shop.people (id INTEGER)")
	equal(t, "another table", ask(t, s, large), int64(0))
}

// A commit while a snapshot is open must not let a plan of the snapshot's state be used for the
// next one, nor the other way round.
func TestPlansOfTwoStates(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	const large = "SELECT count(*) FROM shop.people WHERE id > $1"
	count := func(snap store.Snapshot) (n int64) {
		must(t, snap.Scan(context.Background(), large, []any{int64(100)}, []store.ScanType{store.ScanInt64}, func(c store.Chunk) error {
			n = c.Columns[0].Ints[0]
			return nil
		}))
		return n
	}
	old := testSnapshot(t, s)
	equal(t, "before", count(old), int64(0))
	write(t, c, people, "INSERT INTO shop.people VALUES (101, '', 0)")
	equal(t, "in the old state", count(old), int64(0))
	must(t, old.Close())
	fresh := testSnapshot(t, s)
	equal(t, "in the new state", count(fresh), int64(1))
	equal(t, "again", count(fresh), int64(1))
}

func TestLinesAreKeptUnlessBroken(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	testPeople(t, testSession(t, s))
	types := []store.ScanType{store.ScanInt64}
	broken := map[string]func(store.Snapshot) error{
		"a scan that fails": func(snap store.Snapshot) error {
			return snap.Scan(ctx, "SELECT CAST(name AS BIGINT) FROM shop.people", nil, types, func(store.Chunk) error { return nil })
		},
		"a scan given up": func(snap store.Snapshot) error {
			return snap.Scan(ctx, "SELECT range FROM range(100000)", nil, types, func(store.Chunk) error { return errors.New("enough") })
		},
	}
	for what, f := range broken {
		for _, l := range s.idle {
			l.close()
		}
		s.idle = nil
		snap := testSnapshot(t, s)
		if f(snap) == nil {
			t.Errorf("%s: no error", what)
		}
		must(t, snap.Close())
		if len(s.idle) != 0 {
			t.Errorf("%s: the connection is used again", what)
		}
		equal(t, what, ask(t, s, "SELECT count(*) FROM shop.people"), int64(3))
		if len(s.idle) != 1 {
			t.Errorf("%s: a good connection is not used again", what)
		}
	}
}

// The tables' versions must be those of the log whatever becomes of a commit.
func TestVersionsAfterAFailedCommit(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	before := version(t, s, people)
	failed := errors.New("TransactionContext Error: Failed to commit: write-write conflict")
	if err := s.commit(map[store.TableRef]int64{people: 1}, func() error { return failed }); err != failed {
		t.Fatalf("got %v", err)
	}
	equal(t, "version", version(t, s, people), before)
	s.commits.now.Store(nil) // as when the state could not be read
	equal(t, "version from the log", version(t, s, people), before)
	v, err := s.Versions(ctx, people)
	must(t, err)
	equal(t, "version from the log", v, []string{before})
	write(t, c, people, "DELETE FROM shop.people WHERE id = 1")
	after := version(t, s, people)
	if after == before || s.commits.now.Load() == nil {
		t.Errorf("version %s after a write, %s before it; the state is known: %v", after, before, s.commits.now.Load() != nil)
	}
	s.commits.now.Store(nil)
	equal(t, "version from the log", version(t, s, people), after)
}

// A snapshot opened while somebody commits does not wait; what it shows and its versions are of one
// state.
func TestSnapshotBesideACommit(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	before := version(t, s, people)
	under, end := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		_ = s.commit(nil, func() error { close(under); <-end; return nil })
	})
	<-under
	snap := testSnapshot(t, s)
	v, err := snap.Versions(context.Background(), people)
	must(t, err)
	close(end)
	group.Wait()
	equal(t, "version", v, []string{before})
	equal(t, "rows", ask(t, s, "SELECT count(*) FROM shop.people"), int64(3))
}
