package duckdb

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"scrim/engine/store"
)

// TestCommitsTakeTheMarkAlong: the mark is in the file if and only if a change of that moment is,
// and writers beside each other do not get in each other's way.
func TestCommitsTakeTheMarkAlong(t *testing.T) {
	s, path := testOpen(t, Options{})
	ctx := context.Background()
	marked := func(s *Store, want string) {
		t.Helper()
		m, ok, err := s.Mark(ctx)
		must(t, err)
		if m.Text != want || ok != (want != "") {
			t.Errorf("got the mark %+v, %v, want %q", m, ok, want)
		}
	}
	var mu sync.Mutex
	now := Mark{}
	next := func() (text string) {
		mu.Lock()
		defer mu.Unlock()
		now = Mark{now.Order + 1, fmt.Sprintf("at %d", now.Order+1)}
		return now.Text
	}
	ref := store.TableRef{Schema: "s", Name: "t"}
	a, b := testSession(t, s), testSession(t, s)
	write(t, a, ref, "CREATE SCHEMA s", "CREATE TABLE s.t (n INT)")
	marked(s, "")
	s.Follow(func() Mark { mu.Lock(); defer mu.Unlock(); return now })
	first := next()
	write(t, a, ref, "INSERT INTO s.t VALUES (1)")
	marked(s, first)

	must(t, a.Begin(ctx))
	must(t, b.Begin(ctx))
	write(t, a, ref, "INSERT INTO s.t VALUES (2)")
	write(t, b, ref, "INSERT INTO s.t VALUES (3)")
	next()
	must(t, a.Commit(ctx))
	later := next()
	must(t, b.Commit(ctx))
	marked(s, later)

	next()
	must(t, a.Begin(ctx))
	write(t, a, ref, "INSERT INTO s.t VALUES (4)")
	must(t, a.Rollback(ctx))
	all(t, a, "SELECT * FROM s.t")
	marked(s, later)

	ends := next()
	write(t, a, ref, "INSERT INTO s.t VALUES (5)")
	must(t, s.Close())
	s = testReopen(t, path, Options{})
	marked(s, ends)
	if rows, err := s.keeper.collect(ctx, "SELECT * FROM "+hidden+".mark"); err != nil || len(rows) != 1 {
		t.Errorf("%d marks are left after opening, want 1 (%v)", len(rows), err)
	}
	must(t, s.SetMark(ctx, Mark{1, "accepted"}))
	marked(s, "accepted")
}
