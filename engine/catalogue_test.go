package engine

import (
	"fmt"
	"strings"
	"testing"
)

// TestIndexesAreOfTheCatalogue makes, names, shows, renames and drops indexes, which the store has
// none of.
func TestIndexesAreOfTheCatalogue(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c",
		"CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20), n TEXT, KEY by_a (a) COMMENT 'it''s', INDEX (b(5)), KEY (a, b), UNIQUE KEY u (b), KEY (b(20)), KEY (n(7)))",
		"CREATE INDEX later ON t (a, id)", "INSERT INTO t VALUES (1, 2, 'x', 'y')", "ALTER TABLE t RENAME INDEX later TO late, ADD INDEX (a)")
	show := func(q string) string { return root.query(q)[0][1] }
	got := show("SHOW CREATE TABLE t")
	for _, part := range []string{"PRIMARY KEY (`id`),\n  UNIQUE KEY `u` (`b`),\n  KEY `by_a` (`a`) COMMENT 'it''s',\n  KEY `b` (`b`(5)),\n  KEY `a` (`a`,`b`),\n  KEY `b_2` (`b`),\n  KEY `n` (`n`(7)),\n",
		"KEY `late` (`a`,`id`),\n  KEY `a_2` (`a`)\n"} {
		if !strings.Contains(got, part) {
			t.Errorf("SHOW CREATE TABLE lacks %q:\n%s", part, got)
		}
	}
	for q, want := range map[string]string{
		"SELECT non_unique, sub_part, index_comment, nullable FROM information_schema.statistics WHERE table_schema = 'c' AND index_name IN ('b', 'by_a') ORDER BY index_name": "[[1 5  YES] [1 NULL it's YES]]",
		"SELECT constraint_name FROM information_schema.table_constraints WHERE table_schema = 'c' ORDER BY 1":                                                                 "[[PRIMARY] [u]]",
		"SELECT constraint_name FROM information_schema.key_column_usage WHERE table_schema = 'c' ORDER BY 1":                                                                  "[[PRIMARY] [u]]",
		"SELECT column_name, column_key FROM information_schema.columns WHERE table_schema = 'c' AND table_name = 't' ORDER BY ordinal_position":                               "[[id PRI] [a MUL] [b UNI] [n MUL]]",
		"SELECT a FROM t USE INDEX (by_a) WHERE a = 2": "[[2]]",
	} {
		if got := fmt.Sprint(root.query(q)); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
	root.exec("CREATE TABLE same LIKE t")
	if a, b := got, show("SHOW CREATE TABLE same"); strings.Replace(a, "`t`", "`same`", 1) != b {
		t.Errorf("LIKE makes\n%s\nof\n%s", b, a)
	}
	// a column leaves its indexes, and those of it alone go with it
	root.exec("DROP INDEX u ON t", "ALTER TABLE t RENAME COLUMN a TO x, DROP COLUMN b", "DROP INDEX by_a ON t")
	if got := show("SHOW CREATE TABLE t"); strings.Contains(got, "`b`") || !strings.Contains(got, "KEY `a` (`x`),\n  KEY `n` (`n`(7)),\n  KEY `late` (`x`,`id`)") {
		t.Errorf("after DROP COLUMN: %s", got)
	}
	for q, want := range map[string]uint16{"DROP INDEX by_a ON t": 1091, "CREATE INDEX late ON t (id)": 1061, "CREATE INDEX i ON t (nope)": 1072, "CREATE INDEX i ON t (id, id)": 1060,
		"CREATE INDEX i ON t (x(5))": 1089, "CREATE TABLE d (a INT, KEY k (a), KEY k (a))": 1061} {
		root.refused(want, "", q)
	}
	root.refusedFor(map[string]string{"CREATE TABLE d (b VARCHAR(9), UNIQUE KEY (b(3)))": "prefix", "CREATE TABLE d (b TEXT, FULLTEXT KEY (b))": "FULLTEXT", "CREATE INDEX i ON t ((id + 1))": "expression"})
}

// TestANumberedTableCountsItsRows: AUTO_INCREMENT on an index that is not UNIQUE counts rows as on
// a key, so that who may not read a protected table may not number its rows.
func TestANumberedTableCountsItsRows(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE p (id INT AUTO_INCREMENT, person INT NOT NULL, KEY (id))", "INSERT INTO p (person) VALUES (1), (2)",
		"CALL dp_protect('c.p', 'person', 'people')")
	if err := root.refused(1644, "", "INSERT INTO p (person) VALUES (3)"); !strings.Contains(err.Message, "dp_raw") {
		t.Errorf("refused for %s", err.Message)
	}
}
