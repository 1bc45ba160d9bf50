package engine

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/backup"
	"scrim/engine/ops/datadir/rollback"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
)

// lose drops a table behind the back of the server and its policies, as a store that has lost its
// log has none.
func lose(t *testing.T, open func() (*duckdb.Store, error), table store.TableRef) {
	t.Helper()
	ctx := context.Background()
	st, err := open()
	if err != nil {
		t.Fatal(err)
	}
	s, err := st.Session(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Write(ctx, []store.TableRef{table}, "DROP TABLE "+table.String()); err != nil {
		t.Fatal(err)
	}
}

// TestPoliciesWithoutTables: what was dropped, renamed, detached or rolled back stops nothing; a
// table that is gone though nobody dropped it stops the start and every backup, by name, until the
// operator restores it or gives it up. Its name stays protected then.
func TestPoliciesWithoutTables(t *testing.T) {
	backups := t.TempDir()
	with := func(c *Config) { c.BackupDir = backups }
	i := spender(t, with)
	root := i.root()
	root.exec("CREATE TABLE s.gone (p INT)", "CALL dp_protect('s.gone', 'p', 'person')", "DROP TABLE s.gone",
		"CREATE TABLE s.plain (n INT)", "CALL dp_public('s.plain')", "DROP TABLE s.plain",
		"CREATE TABLE s.old (p INT)", "CALL dp_protect('s.old', 'p', 'person')", "USE s", "RENAME TABLE old TO new",
		"CREATE DATABASE d", "CREATE TABLE d.t (p INT)", "CALL dp_protect('d.t', 'p', 'person')", "DROP DATABASE d",
		"INSERT INTO s.t WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 200) SELECT i, 1.5 FROM n",
		"CALL dp_set_domain('s.t', 'x', '[1.5, 2.5]')",
		"CALL dp_create_view('s.view', 'SELECT x, COUNT(*) AS n FROM s.t GROUP BY x', '{\"rho\": 1}')", "CALL dp_drop_view('s.view')",
		"CALL dp_create_view('s.kept', 'SELECT x, COUNT(*) AS n FROM s.t GROUP BY x', '{\"rho\": 1}')",
		"CREATE TABLE s.public (n INT)", "CALL dp_public('s.public')",
		"CREATE TABLE s.again (p INT)", "CALL dp_protect('s.again', 'p', 'person')", "DROP TABLE s.again", "CREATE TABLE s.again (p INT)",
		"CALL dp_backup('one')")
	if _, err := root.try("CALL dp_drop_view('s.t')"); err == nil {
		t.Error("a table was dropped as a view")
	}
	i.end()
	i = start(t, i.cfg.DataDir, with)
	want := []string{"s.again", "s.kept", "s.new", "s.public", "s.t"}
	if there, _ := i.catalog.Snapshot().Declared(); !slices.Equal(there, want) {
		t.Errorf("got the tables %v, want %v", there, want)
	}
	lose(t, func() (*duckdb.Store, error) { return i.store, nil }, store.TableRef{Schema: "s", Name: "new"})
	if _, err := i.root().try("CALL dp_backup('two')"); err == nil || !strings.Contains(err.Error(), "s.new") || !strings.Contains(err.Error(), "scrim restore") {
		t.Errorf("a backup without a table: %v", err)
	}
	i.end()
	own := func() (*duckdb.Store, error) { return i.place.OpenStore(i.dir.ID) }
	for _, name := range []string{"public", "kept"} {
		var st *duckdb.Store
		lose(t, func() (_ *duckdb.Store, err error) { st, err = own(); return st, err }, store.TableRef{Schema: "s", Name: name})
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error, names string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "nobody has dropped: "+names+".") || !strings.Contains(err.Error(), "--lost-tables") {
			t.Errorf("got %v, want a refusal that names %s", err, names)
		}
	}
	dir := i.cfg.DataDir
	refused(opens(dir), "s.kept, s.new, s.public")
	refused(opens(dir, func(c *Config) { c.LostTables = "s.kept, S.Public" }), "s.new")
	_, err := backup.Make(context.Background(), i.place, filepath.Join(backups, "three"), nil)
	refused(err, "s.new")
	if err := opens(dir, func(c *Config) { c.LostTables = "s.new" }); err != nil {
		t.Fatal(err)
	}
	i = start(t, dir) // it was given up for good
	root = i.root()
	root.exec("CREATE TABLE s.new (p INT)")
	analyst := i.analyst(root, "ann", "s")
	analyst.refused(1644, "45002", "SELECT * FROM s.new")
	i.end()

	if _, err := backup.Restore(context.Background(), backup.RestoreOptions{From: filepath.Join(backups, "one"), To: datadir.Place{Dir: dir}, Accept: rollback.Acceptance{By: "operator"}}, nil); err != nil {
		t.Fatal(err)
	}
	i = start(t, dir)
	if there, _ := i.catalog.Snapshot().Declared(); !slices.Equal(there, want) {
		t.Errorf("restored: got the tables %v, want %v", there, want)
	}
}
