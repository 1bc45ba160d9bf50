package engine

import (
	"fmt"
	"strings"
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

// TestRenamesOfSeveralTables: all are made, or none.
func TestRenamesOfSeveralTables(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE s", "USE s", "CREATE TABLE a (x INT)", "CREATE TABLE b (y INT)")
	for q, number := range map[string]uint16{"RENAME TABLE a TO c, nope TO d": 1146, "RENAME TABLE a TO c, b TO c": 1050, "RENAME TABLE a TO c, a TO d": 1146} {
		root.refused(number, "", q)
		if got := fmt.Sprint(root.query("SHOW TABLES")); got != "[[a] [b]]" {
			t.Errorf("after %s: %s", q, got)
		}
	}
	root.exec("RENAME TABLE a TO c, b TO a, c TO b")
	root.query("SELECT x FROM b JOIN a ON a.y = b.x")
}

// TestAlterOfSeveralPartsAndPolicies: what a policy rests on stays as it is, and so does what is
// beside it in the statement; a policy follows its table when all of the statement is done.
func TestAlterOfSeveralPartsAndPolicies(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE s", "USE s", "CREATE TABLE own (person INT, x INT)", "CREATE TABLE other (x INT)", "CALL dp_protect('s.own', 'person', 'p')")
	made := root.query("SHOW CREATE TABLE own")
	for _, q := range []string{
		"ALTER TABLE own ADD COLUMN y INT, DROP COLUMN person", "ALTER TABLE own DROP COLUMN x, RENAME COLUMN person TO p", "ALTER TABLE own ADD COLUMN y INT, CHANGE person p INT",
		"ALTER TABLE own RENAME TO new, DROP COLUMN person", "ALTER TABLE own ADD COLUMN y INT, RENAME TO other", "ALTER TABLE own RENAME TO new, DROP COLUMN nope",
	} {
		if _, err := root.try(q); err == nil || strings.Contains(err.Error(), "45010") {
			t.Errorf("%s: %v", q, err)
		}
		if got := root.query("SHOW CREATE TABLE own"); fmt.Sprint(got) != fmt.Sprint(made) {
			t.Errorf("%s made %s of %s", q, got, made)
		}
		root.refused(1644, "45002", "SELECT person FROM own")
	}
	root.exec("ALTER TABLE own ADD COLUMN y INT, RENAME TO new, COMMENT='c'")
	root.refused(1644, "45002", "SELECT y FROM new")
	root.refused(1146, "42S02", "SELECT y FROM own")
}
