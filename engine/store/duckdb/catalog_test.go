package duckdb

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"scrim/engine/store"
)

func TestCatalogue(t *testing.T) {
	ctx := context.Background()
	s, path := testOpen(t, Options{})
	c := testSession(t, s)
	schemas, err := s.Schemas(ctx)
	must(t, err)
	equal(t, "schemas of an empty file", len(schemas), 0)
	testPeople(t, c)
	items := store.TableRef{Schema: "shop", Name: "items"}
	must(t, c.Begin(ctx))
	write(t, c, items,
		"CREATE SCHEMA attic",
		`CREATE TABLE shop.items (a INTEGER NOT NULL, b DECIMAL(10,2) DEFAULT 1.50, "c d" VARCHAR, v DOUBLE[3], UNIQUE (a, b), PRIMARY KEY ("c d"))`,
		"CREATE UNIQUE INDEX ix ON shop.items (b)",
		`CREATE UNIQUE INDEX ix2 ON shop.items ("c d", a)`,
		"CREATE UNIQUE INDEX ix3 ON shop.items (abs(a))",
		"CREATE INDEX ix4 ON shop.items (a)",
		"COMMENT ON TABLE shop.items IS 'things'",
		"COMMENT ON COLUMN shop.items.b IS 'price'",
		"CREATE VIEW shop.cheap AS SELECT a, b FROM shop.items WHERE b < 1")
	must(t, c.Meta().Put(ctx, store.BucketColumns, store.TableKey(items), []byte(`{"a": "int", "c d": "varchar(20)"}`)))
	if _, ok, _ := s.Table(ctx, items); ok {
		t.Error("an uncommitted table is listed")
	}
	must(t, c.Commit(ctx))
	want := store.Table{
		Ref: items, Comment: "things",
		Columns: []store.Column{
			{Name: "a", Type: "INTEGER", MySQL: "int"},
			{Name: "b", Type: "DECIMAL(10,2)", Nullable: true, Default: "1.50", Comment: "price"},
			{Name: "c d", Type: "VARCHAR", MySQL: "varchar(20)"},
			{Name: "v", Type: "DOUBLE[3]", Nullable: true},
		},
		Keys: []store.Key{{Primary: true, Columns: []string{"c d"}}, {Columns: []string{"a", "b"}}, {Columns: []string{"b"}}, {Columns: []string{"c d", "a"}}},
	}
	check := func(s *Store) {
		t.Helper()
		got, ok, err := s.Table(ctx, items)
		must(t, err)
		equal(t, "found", ok, true)
		equal(t, "table", got, want)
		schemas, err := s.Schemas(ctx)
		must(t, err)
		equal(t, "schemas", schemas, []string{"attic", "shop"})
		tables, err := s.Tables(ctx, "shop")
		must(t, err)
		var names []string
		for _, x := range tables {
			names = append(names, x.Ref.Name)
			equal(t, "view "+x.Ref.Name, x.View, x.Ref.Name == "cheap")
		}
		equal(t, "tables", names, []string{"cheap", "items", "people"})
		hiddenTables, err := s.Tables(ctx, hidden)
		must(t, err)
		equal(t, "hidden tables", len(hiddenTables), 0)
		_, ok, err = s.Table(ctx, store.TableRef{Schema: hidden, Name: "version"})
		must(t, err)
		equal(t, "hidden table", ok, false)
	}
	check(s)
	check(s) // from the cache
	must(t, s.Close())
	s = testReopen(t, path, Options{})
	check(s)

	c = testSession(t, s)
	if l, _ := s.cache.get(); l == nil {
		t.Error("nothing is cached")
	}
	write(t, c, people, "INSERT INTO shop.people VALUES (4, '', 0)")
	if l, _ := s.cache.get(); l == nil {
		t.Error("an INSERT dropped the cache")
	}
	write(t, c, people, "ALTER TABLE shop.people RENAME COLUMN x TO y")
	got, _, err := s.Table(ctx, people)
	must(t, err)
	equal(t, "renamed column", got.Columns[2].Name, "y")
	must(t, c.Begin(ctx))
	write(t, c, people, "DROP TABLE shop.people")
	must(t, c.Rollback(ctx))
	if _, ok, _ := s.Table(ctx, people); !ok {
		t.Error("a rolled back DROP is listed")
	}
}

func TestIndexColumns(t *testing.T) {
	tests := []struct {
		in   []any
		want []string
	}{
		{[]any{"A", `"c d"`, `"e'f, ""g"""`}, []string{"A", "c d", `e'f, "g"`}},
		{[]any{"((a + 1))"}, nil}, {[]any{"a", "lower(b)"}, nil}, {[]any{`"a" || "b"`}, nil}, {nil, nil},
	}
	for _, tt := range tests {
		got, ok := indexColumns(tt.in)
		if ok != (tt.want != nil) || ok {
			equal(t, "columns", got, tt.want)
		}
	}
}

func TestListingReadBeforeAChangeIsNotKept(t *testing.T) {
	var c catalogCache
	_, generation := c.get()
	c.change()()
	c.put(&listing{}, generation)
	if l, _ := c.get(); l != nil {
		t.Error("a stale listing was kept")
	}
}

func TestMeta(t *testing.T) {
	ctx := context.Background()
	s, path := testOpen(t, Options{})
	c, other := testSession(t, s), testSession(t, s)
	get := func(c store.Session, key string) any {
		t.Helper()
		v, ok, err := c.Meta().Get(ctx, "views", key)
		must(t, err)
		if !ok {
			return nil
		}
		return string(v)
	}
	m := c.Meta()
	must(t, m.Put(ctx, "views", "a", []byte("1")))
	must(t, m.Put(ctx, "views", "a", []byte("2\x00\xff")))
	must(t, m.Put(ctx, "views", "empty", nil))
	must(t, m.Put(ctx, "other", "a", []byte("x")))
	equal(t, "a", get(other, "a"), "2\x00\xff")
	equal(t, "empty", get(other, "empty"), "")
	equal(t, "missing", get(other, "b"), nil)

	// Every order of changes in one transaction.
	must(t, c.Begin(ctx))
	must(t, m.Delete(ctx, "views", "a"))
	equal(t, "deleted", get(c, "a"), nil)
	equal(t, "others see it", get(other, "a"), "2\x00\xff")
	must(t, m.Put(ctx, "views", "a", []byte("3")))
	must(t, m.Put(ctx, "views", "b", []byte("4")))
	must(t, m.Delete(ctx, "views", "b"))
	must(t, m.Put(ctx, "views", "b", []byte("5")))
	must(t, m.Delete(ctx, "views", "never there"))
	must(t, c.Commit(ctx))
	list, err := other.Meta().List(ctx, "views")
	must(t, err)
	equal(t, "list", list, []store.MetaEntry{{Key: "a", Value: []byte("3")}, {Key: "b", Value: []byte("5")}, {Key: "empty", Value: []byte{}}})

	// Two transactions make the same new key: one of them is told.
	must(t, c.Begin(ctx))
	must(t, other.Begin(ctx))
	must(t, m.Put(ctx, "views", "new", []byte("c")))
	err = other.Meta().Put(ctx, "views", "new", []byte("other"))
	must(t, c.Commit(ctx))
	if err == nil {
		err = other.Commit(ctx)
	}
	if k := store.KindOf(err); k != store.DuplicateKey && k != store.Conflict {
		t.Errorf("same new key: got %v", err)
	}
	must(t, other.Rollback(ctx))
	equal(t, "new", get(other, "new"), "c")

	wantKind(t, "the store's own bucket", m.Put(ctx, bucketSelf, keyDirectory, nil), store.Refused)
	must(t, m.Delete(ctx, "views", "a"))
	must(t, s.Close())
	s = testReopen(t, path, Options{})
	c = testSession(t, s)
	equal(t, "a after reopening", get(c, "a"), nil)
	equal(t, "b after reopening", get(c, "b"), "5")
	must(t, c.Meta().Put(ctx, "views", "a", []byte("6")))
	equal(t, "a again", get(c, "a"), "6")
}

func TestDirectoryID(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.duckdb")
	testReopen(t, path, Options{}).Close()
	testReopen(t, path, Options{DirectoryID: "one"}).Close()
	testReopen(t, path, Options{DirectoryID: "one"}).Close()
	s, err := Open(path, Options{DirectoryID: "two"})
	if !errors.Is(err, store.ErrForeign) {
		t.Errorf("got %v, want ErrForeign", err)
		s.Close()
	}
	testReopen(t, path, Options{}).Close()
}

// While a commit changes definitions they are read anew each time: the commit shows before it has
// returned.
func TestDefinitionsWhileTheyChange(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	testPeople(t, c)
	count := func() int {
		list, err := s.Tables(ctx, "shop")
		must(t, err)
		return len(list)
	}
	before := count()
	w, err := s.in.connect(ctx)
	must(t, err)
	defer w.close()
	_, err = w.exec(ctx, "BEGIN TRANSACTION")
	must(t, err)
	_, err = w.exec(ctx, "CREATE TABLE shop.more (id INTEGER)")
	must(t, err)
	done := s.cache.change()
	equal(t, "tables before the commit", count(), before)
	_, err = w.exec(ctx, "COMMIT")
	must(t, err)
	equal(t, "tables when the commit shows", count(), before+1)
	done()
	equal(t, "tables", count(), before+1)
}
