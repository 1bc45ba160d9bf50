package duckdb

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
)

// What a scan without a transaction of its own shows must be fixed when started is called: Once
// notes the versions until then.
func TestScanIsFixedWhenItStarts(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	l, err := s.in.connectPooled()
	must(t, err)
	defer l.close()
	for what, q := range map[string]struct {
		sql  string
		args []any
	}{
		"no argument":                    {"SELECT count(*) FROM shop.people", nil},
		"an argument":                    {"SELECT count(*) FROM shop.people WHERE id >= $1", []any{int64(0)}},
		"an argument of the type wanted": {"SELECT count(*) FROM shop.people WHERE coalesce(name, '') >= $1", []any{""}},
	} {
		stmt, err := l.prepare(q.sql)
		must(t, err)
		for range 3 { // planned just now, and before
			before := ask(t, s, "SELECT count(*) FROM shop.people")
			started := func() {
				write(t, c, people, "INSERT INTO shop.people SELECT max(id) + 1, 'x', 0 FROM shop.people")
			}
			r := newReader([]store.ScanType{store.ScanInt64})
			must(t, l.stream(ctx, stmt, q.args, started, r.check, func(chunk mapping.DataChunk) error {
				equal(t, what, r.read(chunk, 0).Columns[0].Ints[0], before)
				return nil
			}))
		}
		mapping.DestroyPrepare(&stmt)
	}
}

// Versions and rows of Once are of one state while others write.
func TestOnceMatchesItsVersions(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	write(t, c, people, "CREATE SCHEMA shop", "CREATE TABLE shop.people (id INTEGER)")
	var group sync.WaitGroup
	stop := make(chan struct{})
	group.Go(func() {
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
	var scans sync.WaitGroup
	for range 2 {
		scans.Go(func() {
			for range 200 {
				snap, err := s.Once(ctx)
				must(t, err)
				var n int64
				must(t, snap.Scan(ctx, "SELECT count(*) FROM shop.people", nil, []store.ScanType{store.ScanInt64}, func(c store.Chunk) error {
					n = c.Columns[0].Ints[0]
					return nil
				}))
				v, err := snap.Versions(ctx, people)
				must(t, err)
				if want := n + 2; entries(v[0]) != want {
					t.Errorf("version %s with %d rows", v[0], n)
				}
				must(t, snap.Close())
			}
		})
	}
	scans.Wait()
	close(stop)
	group.Wait()
}

func TestOnceIsOnce(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	types, nothing := []store.ScanType{store.ScanInt64}, func(store.Chunk) error { return nil }
	snap, err := s.Once(ctx)
	must(t, err)
	must(t, snap.Scan(ctx, "SELECT 1::BIGINT", nil, types, nothing))
	wantKind(t, "a second scan", snap.Scan(ctx, "SELECT 1::BIGINT", nil, types, nothing), store.Internal)
	must(t, snap.Close())

	snap, err = s.Once(ctx)
	must(t, err)
	before, err := snap.Versions(ctx, people)
	must(t, err)
	write(t, c, people, "INSERT INTO shop.people VALUES (9, '', 0)")
	n, _ := total(t, snap)
	equal(t, "rows as of the versions", n, int64(3))
	after, err := snap.Versions(ctx, people)
	must(t, err)
	equal(t, "versions", after, before)
	must(t, snap.Close())

	// Nobody waits for a commit, nor the commit for a scan.
	under, end := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() { _ = s.commit(nil, func() error { close(under); <-end; return nil }) })
	<-under
	equal(t, "rows beside a commit", func() int64 {
		snap, err := s.Once(ctx)
		must(t, err)
		defer snap.Close()
		n, _ := total(t, snap)
		return n
	}(), int64(4))
	close(end)
	group.Wait()
	snap, err = s.Once(ctx)
	must(t, err)
	must(t, snap.Scan(ctx, "SELECT 1::BIGINT", nil, types, func(store.Chunk) error {
		write(t, c, people, "DELETE FROM shop.people")
		return nil
	}))
	must(t, snap.Close())
	wantKind(t, "a scan that does not parse", func() error {
		snap, err := s.Once(ctx)
		must(t, err)
		defer snap.Close()
		return snap.Scan(ctx, "SELECT FROM WHERE", nil, types, nothing)
	}(), store.Syntax)
	write(t, c, people, "INSERT INTO shop.people VALUES (1, '', 0)") // the lock was given back
}

// entries is how many changes a version counts.
func entries(version string) int64 {
	count, _, _ := strings.Cut(version, "-")
	n, _ := strconv.ParseInt(count, 10, 64)
	return n
}

// Where a failed commit has left the state unknown, versions are read in the transaction of the
// rows, not after it.
func TestOnceInAnUnknownState(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	want, err := s.Versions(ctx, people)
	must(t, err)
	known := s.commits.now.Swap(nil)
	snap, err := s.Once(ctx)
	must(t, err)
	n, _ := total(t, snap)
	equal(t, "rows", n, int64(3))
	s.commits.now.Store(known)
	write(t, c, people, "INSERT INTO shop.people VALUES (9, '', 0)")
	got, err := snap.Versions(ctx, people)
	must(t, err)
	equal(t, "versions", got, want)
	must(t, snap.Close())
}
