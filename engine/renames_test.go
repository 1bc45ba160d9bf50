package engine

import (
	"fmt"
	"testing"
)

// TestRenamesStayInTheirDatabase: the SQL engine alone takes the current database's table of that
// name.
func TestRenamesStayInTheirDatabase(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE a", "CREATE DATABASE b", "CREATE TABLE a.t (x INT)", "CREATE TABLE b.t (x INT)", "USE a")
	for _, q := range []string{
		"RENAME TABLE b.t TO b.u", "RENAME TABLE t TO b.u", "RENAME TABLE a.t TO u, b.t TO v",
		"ALTER TABLE b.t RENAME TO u", "ALTER TABLE b.t RENAME u", "ALTER TABLE t RENAME TO b.u", "ALTER TABLE b.t RENAME TO b.u",
	} {
		root.refused(1644, "45017", q)
	}
	for db, want := range map[string]string{"a": "[[t]]", "b": "[[t]]"} {
		if got := fmt.Sprint(root.query("SHOW TABLES FROM " + db)); got != want {
			t.Errorf("tables of %s: %s, want %s", db, got, want)
		}
	}
	root.exec("RENAME TABLE a.t TO A.u", "ALTER TABLE u RENAME TO v", "ALTER TABLE a.v RENAME TO a.w", "ALTER TABLE b.t RENAME COLUMN x TO y")
	if got := fmt.Sprint(root.query("SHOW TABLES FROM a"), root.query("SELECT COUNT(y) FROM b.t")); got != "[[w]] [[0]]" {
		t.Error(got)
	}
}
