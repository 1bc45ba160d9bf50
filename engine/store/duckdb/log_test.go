package duckdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"scrim/engine/store"
)

// abandoned is a database whose process was killed: a copy of its files, in which n people were
// acknowledged after the last checkpoint.
func abandoned(t *testing.T, n int) (path string) {
	t.Helper()
	s, from := testOpen(t, Options{})
	c := testSession(t, s)
	write(t, c, people, "CREATE SCHEMA shop", "CREATE TABLE shop.people (id BIGINT, name VARCHAR)")
	must(t, s.checkpoint(context.Background(), func() {}))
	for i := range n {
		write(t, c, people, fmt.Sprintf("INSERT INTO shop.people VALUES (%d, 'kept')", i))
	}
	path = filepath.Join(t.TempDir(), "rows.duckdb")
	for _, suffix := range []string{"", logSuffix, countSuffix} {
		b, err := os.ReadFile(from + suffix)
		must(t, err)
		must(t, os.WriteFile(path+suffix, b, 0o600))
	}
	return path
}

// TestALogThatIsNotThere: a log that is missing or was cut short anywhere is refused, by name; so
// is a count that is missing or damaged. What was refused can be opened when it is as it was, or
// when what is lost is given up.
func TestALogThatIsNotThere(t *testing.T) {
	const n = 3
	path := abandoned(t, n)
	rows := func(s *Store) any { return ask(t, s, "SELECT count(*) FROM shop.people") }
	log, err := os.ReadFile(path + logSuffix)
	must(t, err)
	count, err := os.ReadFile(path + countSuffix)
	must(t, err)
	put := func(suffix string, b []byte) {
		t.Helper()
		if b == nil {
			must(t, os.Remove(path+suffix))
			return
		}
		must(t, os.WriteFile(path+suffix, b, 0o600))
	}
	file, err := os.ReadFile(path)
	must(t, err)
	refused := func(what string) {
		t.Helper()
		s, err := Open(path, Options{Threads: 1})
		if err == nil {
			t.Errorf("%s: opened, with %v of %d rows", what, rows(s), n)
			s.Close()
		} else if !errors.Is(err, ErrLost) {
			t.Errorf("%s: got %v, want ErrLost", what, err)
		}
		put("", file)
		put(logSuffix, log)
		put(countSuffix, count)
	}
	put(logSuffix, nil)
	refused("no log")
	for cut := 0; cut < len(log); cut += max(1, len(log)/40) {
		put(logSuffix, log[:cut])
		refused(fmt.Sprintf("%d of %d bytes of the log", cut, len(log)))
	}
	put(countSuffix, nil)
	refused("no count")
	for i := range count {
		put(countSuffix, append(append(append([]byte{}, count[:i]...), count[i]^1), count[i+1:]...))
		refused(fmt.Sprintf("byte %d of the count", i))
	}

	s := testReopen(t, path, Options{})
	equal(t, "rows", rows(s), int64(n))
	must(t, s.Close())
	put("", file)
	put(logSuffix, log[:len(log)*2/3])
	put(countSuffix, count)
	must(t, Forgive(path))
	s = testReopen(t, path, Options{})
	if got := rows(s).(int64); got >= n {
		t.Errorf("got %d rows of a log that was cut short", got)
	}
	must(t, s.Close())
	must(t, testReopen(t, path, Options{}).Close())
}

// Every acknowledged change counts, whatever it is of: a database, a table, an entry, an import.
func TestEveryChangeIsCounted(t *testing.T) {
	ctx := context.Background()
	s, path := testOpen(t, Options{})
	c := testSession(t, s)
	was := s.in.acknowledged.n
	counts := func(what string, change func() error) {
		t.Helper()
		must(t, change())
		if now := s.in.acknowledged.n; now <= was {
			t.Errorf("%s: %d changes were acknowledged, %d before", what, now, was)
		} else {
			was = now
		}
	}
	counts("a database", func() error { _, err := c.Write(ctx, nil, "CREATE SCHEMA shop"); return err })
	counts("a table", func() error {
		_, err := c.Write(ctx, []store.TableRef{people}, "CREATE TABLE shop.people (id BIGINT)")
		return err
	})
	counts("an entry", func() error { return c.Meta().Put(ctx, "views", "a", []byte("b")) })
	counts("rows", func() error { return c.Append(ctx, people, []string{"id"}, [][]any{{int64(1)}}) })
	must(t, s.Close())
	_, err := ImportFile(ctx, path, testFile(t, "a.csv", "a\n1\n"), visits, ImportOptions{Mode: ImportCreate}, nil)
	must(t, err)
	s = testReopen(t, path, Options{})
	counts("an import", func() error { return nil })
}

// TestHaltedStore: after a commit that the disk failed nothing is read or changed; the store that
// is opened anew has what was acknowledged.
func TestHaltedStore(t *testing.T) {
	ctx := context.Background()
	s, path := testOpen(t, Options{})
	c, other := testSession(t, s), testSession(t, s)
	testPeople(t, c)
	must(t, other.Begin(ctx))
	write(t, other, people, "DELETE FROM shop.people")
	open := testSnapshot(t, s)
	for _, conflict := range []string{"TransactionContext Error: Failed to commit: write-write conflict on key", "Constraint Error: Duplicate key \"No space left\" violates primary key constraint."} {
		if err := s.commit(nil, func() error { return errors.New(conflict) }); err == nil || s.Halted() != nil {
			t.Fatalf("%s: got %v, halted: %v", conflict, err, s.Halted())
		}
	}
	if err := s.commit(nil, func() error {
		return errors.New(`TransactionContext Error: Failed to commit: Could not write file "rows.duckdb.wal": No space left on device`)
	}); store.KindOf(err) != store.InDoubt || store.KindOf(errors.Unwrap(err)) != store.DiskFull {
		t.Errorf("got %v", err)
	}
	if err := s.Halted(); store.KindOf(err) != store.Halted || store.KindOf(errors.Unwrap(err)) != store.DiskFull {
		t.Errorf("got %v", err)
	}
	if err := s.SetMark(ctx, Mark{1, "later"}); store.KindOf(err) != store.Halted {
		t.Errorf("a mark: got %v", err)
	}
	for what, err := range map[string]error{
		"a statement": func() error { _, err := c.Write(ctx, []store.TableRef{people}, "DELETE FROM shop.people"); return err }(),
		"a commit":    other.Commit(ctx),
		"an entry":    c.Meta().Put(ctx, "a", "b", nil),
		"a copy":      func() error { _, err := s.Hold(ctx); return err }(),
		"a query":     func() error { _, err := c.Query(ctx, "SELECT count(*) FROM shop.people"); return err }(),
		"a snapshot":  func() error { _, err := s.Snapshot(ctx); return err }(),
		"an open one": open.Scan(ctx, "SELECT count(*) FROM shop.people", nil, oneInt, func(store.Chunk) error { return nil }),
		"versions":    func() error { _, err := s.Versions(ctx, people); return err }(),
	} {
		if store.KindOf(err) != store.Halted {
			t.Errorf("%s: got %v", what, err)
		}
	}
	must(t, s.Close())
	s = testReopen(t, path, Options{})
	equal(t, "rows", ask(t, s, "SELECT count(*) FROM shop.people"), int64(3))
	if s.Halted() != nil {
		t.Error(s.Halted())
	}
	write(t, testSession(t, s), people, "DELETE FROM shop.people WHERE id = 1")
	equal(t, "rows", ask(t, s, "SELECT count(*) FROM shop.people"), int64(2))
}
