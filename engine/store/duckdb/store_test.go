package duckdb

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/cockroachdb/apd/v3"

	"scrim/engine/store"
)

// testOpen opens a database in a directory of the test.
func testOpen(t testing.TB, o Options) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.duckdb")
	return testReopen(t, path, o), path
}

func testReopen(t testing.TB, path string, o Options) *Store {
	t.Helper()
	if o.Threads == 0 {
		o.Threads = 2
	}
	s, err := Open(path, o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func testSession(t testing.TB, s *Store) store.Session {
	t.Helper()
	c, err := s.Session(context.Background())
	if err != nil {
		t.Fatalf("Session: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func testSnapshot(t testing.TB, s *Store) store.Snapshot {
	t.Helper()
	c, err := s.Snapshot(context.Background())
	if err != nil {
		t.Fatalf("Snapshot: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		var e *store.Error
		if errors.As(err, &e) {
			t.Fatalf("%v (driver: %s)", err, e.Driver)
		}
		t.Fatal(err)
	}
}

// write runs statements that each change the table.
func write(t testing.TB, c store.Session, ref store.TableRef, sql ...string) {
	t.Helper()
	for _, q := range sql {
		if _, err := c.Write(context.Background(), []store.TableRef{ref}, q); err != nil {
			t.Helper()
			t.Logf("statement: %s", q)
			must(t, err)
		}
	}
}

// all reads a whole result.
func all(t testing.TB, c store.Session, sql string, args ...any) [][]any {
	t.Helper()
	r, err := c.Query(context.Background(), sql, args...)
	must(t, err)
	return read(t, r)
}

// decimal is the text of a decimal that was read.
type decimal string

// read reads a result to its end.
func read(t testing.TB, r store.Rows) (rows [][]any) {
	t.Helper()
	must(t, store.Each(r, func(row []any) error {
		for i, v := range row {
			if d, ok := v.(*apd.Decimal); ok {
				row[i] = decimal(d.Text('f'))
			}
		}
		rows = append(rows, row)
		return nil
	}))
	return rows
}

func version(t testing.TB, s *Store, ref store.TableRef) string {
	t.Helper()
	snap := testSnapshot(t, s)
	defer snap.Close()
	v, err := snap.Versions(context.Background(), ref)
	must(t, err)
	return v[0]
}

var people = store.TableRef{Schema: "shop", Name: "people"}

// testPeople makes shop.people(id INTEGER PRIMARY KEY, name VARCHAR, x DOUBLE) with three rows.
func testPeople(t testing.TB, c store.Session) {
	t.Helper()
	write(t, c, people,
		"CREATE SCHEMA shop",
		"CREATE TABLE shop.people (id INTEGER PRIMARY KEY, name VARCHAR, x DOUBLE)",
		"INSERT INTO shop.people VALUES (1, 'ann', 1.5), (2, NULL, -2), (3, 'a name longer than twelve bytes', NULL)")
}

func equal(t testing.TB, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}

func wantKind(t testing.TB, what string, err error, want store.Kind) *store.Error {
	t.Helper()
	var e *store.Error
	if !errors.As(err, &e) {
		t.Errorf("%s: got error %v, want a store error of kind %q", what, err, want)
		return &store.Error{}
	}
	if e.Kind != want {
		t.Errorf("%s: got kind %q, want %q (driver: %s)", what, e.Kind, want, e.Driver)
	}
	return e
}
