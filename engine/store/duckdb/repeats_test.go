package duckdb

import (
	"context"
	"strings"
	"testing"

	"scrim/engine/store"
)

// again asks a query and tells whether the result was kept from before.
func again(t *testing.T, c store.Session, sql string, args ...any) (rows [][]any, kept bool) {
	t.Helper()
	r, err := c.Query(context.Background(), sql, args...)
	must(t, err)
	_, kept = r.(*repeated)
	return read(t, r), kept
}

func TestRepeatsEndWithTheState(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c, other := testSession(t, s), testSession(t, s)
	testPeople(t, c)
	const query = "SELECT count(*), max(name) FROM shop.people WHERE id >= $1"
	ask := func(c store.Session, what string, n int64, kept bool) {
		t.Helper()
		rows, was := again(t, c, query, int64(0))
		equal(t, what, rows[0][0], n)
		if was != kept {
			t.Errorf("%s: kept from before: %v, want %v", what, was, kept)
		}
	}
	ask(c, "first", 3, false)
	ask(c, "second", 3, true)
	if _, kept := again(t, c, query, int64(1)); kept {
		t.Error("another argument got the result")
	}
	if _, kept := again(t, c, query, 0.0); kept {
		t.Error("an argument of another type got the result")
	}
	ask(other, "in another session", 3, false)
	write(t, other, people, "INSERT INTO shop.people VALUES (4, 'd', 0)")
	ask(c, "after a write", 4, false)
	ask(c, "again", 4, true)
	must(t, c.Begin(ctx))
	write(t, c, people, "DELETE FROM shop.people")
	ask(c, "in a transaction", 0, false)
	ask(other, "beside a transaction", 4, false)
	ask(other, "beside a transaction, again", 4, true)
	must(t, c.Rollback(ctx))
	ask(c, "after it was undone", 4, true)
	write(t, c, people, "ALTER TABLE shop.people ADD COLUMN y INTEGER")
	ask(c, "after a change of definition", 4, false)
}

// What a caller does with a row must not reach the next one who asks.
func TestRepeatsAreNotShared(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	const query = "SELECT id, name FROM shop.people ORDER BY id"
	for range 3 {
		rows, _ := again(t, c, query)
		equal(t, "first row", rows[0], []any{int64(1), "ann"})
		rows[0][0], rows[0][1] = nil, "changed"
	}
}

func TestRepeatsAreSmall(t *testing.T) {
	s, _ := testOpen(t, Options{})
	c := testSession(t, s).(*session)
	for what, query := range map[string]string{
		"many rows":          "SELECT range FROM range(5000)",
		"a long text":        "SELECT repeat('x', 40000)",
		"a list":             "SELECT [1, 2]",
		"a changeable value": "SELECT CAST('ab' AS BLOB)",
	} {
		again(t, c, query)
		if _, kept := again(t, c, query); kept {
			t.Errorf("%s: kept", what)
		}
	}
	// A result that was not read to its end is not whole.
	r, err := c.Query(context.Background(), "SELECT range FROM range(3)")
	must(t, err)
	_, err = r.Batch()
	must(t, err)
	must(t, r.Close())
	if rows, kept := again(t, c, "SELECT range FROM range(3)"); kept || len(rows) != 3 {
		t.Errorf("%d rows, kept from before: %v", len(rows), kept)
	}
	for i := range 100 {
		again(t, c, "SELECT $1 || $2", strings.Repeat("x", 20000), int64(i))
		if c.repeats.size > maxResults {
			t.Fatalf("%d bytes", c.repeats.size)
		}
	}
}
