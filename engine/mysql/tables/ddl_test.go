package tables_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/mysql/tables"
)

func TestShowCreateTableGivesBackWhatWasCreated(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE People (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, name VARCHAR(20) NOT NULL DEFAULT 'it''s' COMMENT 'who', " +
		"age TINYINT UNSIGNED, size ENUM('s','m','l') DEFAULT 'm', pay DECIMAL(10,2) DEFAULT 0.50, born DATE, at DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6), ok TINYINT(1), j JSON, b BLOB, " +
		"PRIMARY KEY (id), UNIQUE KEY who (name, born)) COMMENT='the people'")
	rows, _, err := root.run("SHOW CREATE TABLE people")
	if err != nil {
		t.Fatal(err)
	}
	got := rows[0][1].(string)
	for _, part := range []string{
		"`id` bigint unsigned NOT NULL AUTO_INCREMENT", "`name` varchar(20) NOT NULL DEFAULT 'it''s' COMMENT 'who'",
		"`age` tinyint unsigned", "`size` enum('s','m','l') DEFAULT", "`pay` decimal(10,2) DEFAULT '0.50'",
		"`born` date", "`at` datetime(6) DEFAULT CURRENT_TIMESTAMP(6)", "`ok` tinyint(1)", "`j` json", "`b` blob",
		"PRIMARY KEY (`id`)", "COMMENT='the people'",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("SHOW CREATE TABLE lacks %q:\n%s", part, got)
		}
	}
	root.exec("INSERT INTO people (name) VALUES ('a'), ('b')")
	root.s.policy.protected["shop.people"] = true
	if rows, _, _ := root.run("SHOW CREATE TABLE people"); strings.Contains(rows[0][1].(string), "AUTO_INCREMENT=") {
		t.Error("SHOW CREATE TABLE tells how many rows there were")
	}
	root.want("DESCRIBE people",
		"id|bigint unsigned|NO|PRI|NULL|auto_increment", "name|varchar(20)|NO||'it''s'|", "age|tinyint unsigned|YES||NULL|",
		"size|enum('s','m','l')|YES||'m'|", "pay|decimal(10,2)|YES||0.50|", "born|date|YES||NULL|",
		"at|datetime(6)|YES||CURRENT_TIMESTAMP(6)|DEFAULT_GENERATED", "ok|tinyint(1)|YES||NULL|", "j|json|YES||NULL|", "b|blob|YES||NULL|")
	if got, want := root.keys(), "people: PRIMARY [id] true, who [name born] true"; got != want {
		t.Errorf("keys: got %s, want %s", got, want)
	}
}

// keys lists the keys of all tables of the database shop.
func (c *conn) keys() string {
	c.s.t.Helper()
	ctx := sql.NewContext(context.Background(), sql.WithSession(c.sess))
	all, err := c.s.engine.Analyzer.Catalog.DbProvider.(*tables.Provider).Describe(ctx, "shop")
	if err != nil {
		c.s.t.Fatal(err)
	}
	var text []string
	for _, d := range all {
		list := make([]string, len(d.Keys))
		for i, k := range d.Keys {
			list[i] = fmt.Sprint(k.Name, " ", k.Columns, " ", k.Unique)
		}
		text = append(text, d.Name+": "+strings.Join(list, ", "))
	}
	return strings.Join(text, "; ")
}

func TestCreateTableVariants(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE a (x INT PRIMARY KEY, y VARCHAR(5), KEY (y), UNIQUE KEY uy (y))")
	root.exec("INSERT INTO a VALUES (1, 'u'), (2, NULL)")
	root.exec("CREATE TABLE IF NOT EXISTS A (z INT)")
	root.errno("CREATE TABLE a (z INT)", 1050)
	root.exec("CREATE TABLE b LIKE a")
	root.exec("INSERT INTO b VALUES (1, 'v')")
	root.errno("INSERT INTO b VALUES (1, 'w')", 1062)
	root.errno("INSERT INTO b VALUES (2, 'v')", 1062)
	root.exec("CREATE TABLE shop.b2 LIKE shop.a")
	root.exec("ALTER TABLE b2 DROP INDEX uy")
	root.exec("DROP TABLE b2")
	root.exec("CREATE TABLE c AS SELECT y, x + 1 AS z FROM a")
	root.want("SELECT * FROM c ORDER BY z", "u|2", "NULL|3")
	root.want("SHOW TABLES", "a", "b", "c")
	for q, part := range map[string]string{
		"CREATE TABLE d (x INT REFERENCES a (x))":                         "FOREIGN KEY (x)",
		"CREATE TEMPORARY TABLE d (x INT)":                                "emporary",
		"CREATE TRIGGER tr BEFORE INSERT ON a FOR EACH ROW SET new.x = 1": "rigger",
	} {
		root.fails(q, part)
	}
	analyst := root.s.connect("ann")
	analyst.exec("USE shop")
	for _, q := range []string{"CREATE TABLE e (x INT)", "DROP TABLE a", "TRUNCATE a", "ALTER TABLE a ADD COLUMN q INT", "CREATE VIEW v AS SELECT 1",
		"CREATE DATABASE other", "DROP DATABASE shop", "RENAME TABLE a TO z", "INSERT INTO a VALUES (9, NULL)", "DELETE FROM a"} {
		analyst.fails(q, "DBA")
	}
}

// TestKeysThatMySQLDoesNotHave: a table with them could not be moved there.
func TestKeysThatMySQLDoesNotHave(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE a (id INT, v VARCHAR(768) UNIQUE, w VARCHAR(769), x TEXT, b BLOB, j JSON, y VARBINARY(3072), KEY k (id, w(1)), KEY (x(768)), KEY (b(3072)), KEY (y))")
	for q, code := range map[string]int{
		"ALTER TABLE a ADD INDEX (x)":                       1170,
		"ALTER TABLE a ADD INDEX (id, x)":                   1170,
		"CREATE INDEX i ON a (x(769))":                      1071,
		"CREATE INDEX i ON a (b(3073))":                     1071,
		"CREATE INDEX i ON a (w)":                           1071,
		"CREATE INDEX i ON a (v, w)":                        1071,
		"CREATE INDEX i ON a (j)":                           3152,
		"ALTER TABLE a MODIFY y TEXT":                       1170,
		"ALTER TABLE a MODIFY y BLOB":                       1170,
		"ALTER TABLE a MODIFY v JSON":                       3152,
		"ALTER TABLE a MODIFY v VARCHAR(769)":               1071,
		"CREATE TABLE d (x TEXT PRIMARY KEY)":               1170,
		"CREATE TABLE d (x TEXT UNIQUE)":                    1170,
		"CREATE TABLE d (x BLOB, UNIQUE (x))":               1170,
		"ALTER TABLE a ADD UNIQUE (x)":                      1170,
		"CREATE UNIQUE INDEX i ON a (b)":                    1170,
		"CREATE TABLE d (x VARCHAR(769) PRIMARY KEY)":       1071,
		"CREATE TABLE d (x VARCHAR(9), PRIMARY KEY (x(0)))": 1391,
	} {
		root.errno(q, code)
	}
	root.exec("ALTER TABLE a MODIFY x MEDIUMTEXT, MODIFY v VARCHAR(30), ADD UNIQUE (b(9))")
}

func TestAlterTable(t *testing.T) {
	s, root := newServer(t)
	for _, key := range []string{"", ", PRIMARY KEY (id)"} { // in place, and by a rebuild
		root.exec("CREATE TABLE t (id INT NOT NULL, a VARCHAR(10)" + key + ") COMMENT='c'")
		root.exec("INSERT INTO t VALUES (1, 'x'), (2, NULL)")
		root.exec("ALTER TABLE t ADD COLUMN n INT")
		root.exec("ALTER TABLE t ADD COLUMN d DECIMAL(6,2) NOT NULL DEFAULT 1.25 AFTER id, ADD COLUMN z INT NOT NULL")
		root.want("SELECT * FROM t ORDER BY id", "1|1.25|x|NULL|0", "2|1.25|NULL|NULL|0")
		root.exec("ALTER TABLE t RENAME COLUMN a TO b")
		root.exec("ALTER TABLE t DROP COLUMN n, DROP COLUMN z")
		root.exec("ALTER TABLE t MODIFY COLUMN d VARCHAR(30) DEFAULT 'q' FIRST")
		root.exec("ALTER TABLE t CHANGE COLUMN b c VARCHAR(40) COMMENT 'renamed'")
		root.exec("ALTER TABLE t ALTER COLUMN c SET DEFAULT 'dd'")
		root.exec("INSERT INTO t (id) VALUES (3)")
		root.want("SELECT * FROM t ORDER BY id", "1.25|1|x", "1.25|2|NULL", "q|3|dd")
		root.exec("ALTER TABLE t ALTER COLUMN c DROP DEFAULT")
		root.exec("ALTER TABLE t ADD UNIQUE KEY u (c)")
		root.errno("INSERT INTO t (id, c) VALUES (4, 'x')", 1062)
		root.exec("ALTER TABLE t DROP INDEX u")
		root.exec("INSERT INTO t (id, c) VALUES (4, 'x')")
		root.exec("ALTER TABLE t COMMENT='other'")
		rows, _, err := root.run("SHOW CREATE TABLE t")
		if err != nil || !strings.Contains(rows[0][1].(string), "`c` varchar(40) COMMENT 'renamed'") || !strings.Contains(rows[0][1].(string), "COMMENT='other'") {
			t.Errorf("after ALTER: %v %v", rows, err)
		}
		root.errno("ALTER TABLE t MODIFY COLUMN c VARCHAR(40) NOT NULL", 1048)
		root.errno("ALTER TABLE t ADD UNIQUE KEY u (c)", 1062)
		root.exec("DROP TABLE t")
	}
	root.exec("CREATE TABLE k (a INT, b INT)")
	root.exec("INSERT INTO k VALUES (1, 1)")
	root.exec("ALTER TABLE k ADD PRIMARY KEY (a)")
	root.errno("INSERT INTO k VALUES (1, 2)", 1062)
	root.exec("ALTER TABLE k DROP PRIMARY KEY")
	root.exec("INSERT INTO k VALUES (1, 2)")
	root.exec("CREATE INDEX slow ON k (b)")
	root.exec("CREATE UNIQUE INDEX ub ON k (b)")
	root.errno("INSERT INTO k VALUES (7, 2)", 1062)
	root.exec("DROP INDEX ub ON k")
	root.exec("RENAME TABLE k TO kk")
	root.want("SELECT count(*) FROM kk", "2")
	s.policy.frozen = "a"
	root.fails("ALTER TABLE kk DROP COLUMN a", "unit")
	root.fails("ALTER TABLE kk RENAME COLUMN a TO c", "unit")
	root.fails("ALTER TABLE kk CHANGE COLUMN a c INT", "unit")
	root.exec("DROP TABLE kk")
	if got := strings.Join(s.policy.told, "; "); got != "dropped shop.t; dropped shop.t; renamed shop.k shop.kk; dropped shop.kk" {
		t.Errorf("policy was told %q", got)
	}
}

func TestOnUpdateAndVectors(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE t (id INT PRIMARY KEY, a INT, at DATETIME DEFAULT '2000-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP, v VECTOR(2))")
	root.exec("INSERT INTO t (id, a, v) VALUES (1, 1, '[0.5, 2]'), (2, 2, NULL)")
	root.exec("UPDATE t SET a = 2")
	root.want("SELECT id, at > '2020-01-01', v FROM t ORDER BY id", "1|1|[0.5, 2]", "2|0|NULL")
	rows, _, err := root.run("SHOW CREATE TABLE t")
	if err != nil || !strings.Contains(rows[0][1].(string), "ON UPDATE CURRENT_TIMESTAMP") {
		t.Errorf("SHOW CREATE TABLE: %v %v", rows, err)
	}
	root.fails("INSERT INTO t (id, v) VALUES (3, '[1]')", "JSON array")
}

// What the policies cannot follow does not happen.
func TestPolicyCanRefuseWhatItIsTold(t *testing.T) {
	s, root := newServer(t)
	root.exec("CREATE TABLE t (x INT)")
	root.exec("INSERT INTO t VALUES (1)")
	s.policy.deaf = true
	root.fails("RENAME TABLE t TO u", "deaf")
	root.fails("DROP TABLE t", "deaf")
	root.fails("DROP DATABASE shop", "deaf")
	s.policy.deaf = false
	root.want("SELECT * FROM t", "1")
	root.errno("SELECT * FROM u", 1146)
}

func TestDatabases(t *testing.T) {
	s, root := newServer(t)
	root.exec("CREATE DATABASE Zoo")
	root.errno("CREATE DATABASE zoo", 1007)
	for _, name := range []string{"mysql", "dp", "main", "__scrim", "information_schema"} {
		if _, _, err := root.run("CREATE DATABASE " + name); err == nil {
			t.Errorf("created the reserved database %s", name)
		}
	}
	root.want("SHOW DATABASES", "information_schema", "shop", "zoo")
	root.exec("CREATE TABLE ZOO.Cages (N INT)")
	root.exec("CREATE VIEW zoo.v AS SELECT n FROM zoo.cages")
	root.want("SHOW TABLES FROM zoo", "cages", "v")
	root.exec("DROP DATABASE zoo")
	root.want("SHOW DATABASES", "information_schema", "shop")
	if len(s.policy.told) != 1 || s.policy.told[0] != "dropped zoo.cages" {
		t.Errorf("policy was told %q", s.policy.told)
	}
	root.exec("CREATE DATABASE zoo")
	root.want("SHOW TABLES FROM zoo")
}

func TestViewsAreDurable(t *testing.T) {
	s, root := newServer(t)
	root.exec("CREATE TABLE t (x INT, y INT)")
	root.exec("INSERT INTO t VALUES (1, 10), (2, 20), (2, 30)")
	root.exec("CREATE VIEW v AS SELECT x, SUM(y) AS s FROM t GROUP BY x")
	root.want("SELECT * FROM v WHERE x > 1", "2|50")
	root.fails("CREATE VIEW v AS SELECT 1", "exists")
	root.exec("CREATE OR REPLACE VIEW v AS SELECT x, MAX(y) AS s FROM t GROUP BY x")
	root.errno("CREATE TABLE v (x INT)", 1050)
	s.policy.protected["shop.t"] = true
	root.fails("SELECT * FROM v", "protected")
	s.policy.protected["shop.t"] = false

	again := reopen(t, s).connect("root")
	again.exec("USE shop")
	again.want("SELECT * FROM v ORDER BY x", "1|10", "2|30")
	again.exec("DROP VIEW v")
	again.errno("SELECT * FROM v", 1146)
}

// reopen closes the server's store and opens the file anew.
func reopen(t *testing.T, s *server) *server {
	t.Helper()
	s.close()
	return open(t, s.path)
}

// TestAlterOfSeveralParts: an ALTER TABLE changes all that it names, or nothing: whatever part is
// before one that fails, for want of a column or by the rows.
func TestAlterOfSeveralParts(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE other (x INT)")
	for _, key := range []string{"", ", PRIMARY KEY (id)", ", PRIMARY KEY (id), UNIQUE KEY u (id, a)"} {
		auto := " AUTO_INCREMENT"
		if key == "" {
			auto = ""
		}
		root.exec("CREATE TABLE t (id INT NOT NULL" + auto + ", a VARCHAR(10) DEFAULT 'd', b INT, c INT COMMENT 'of c'" + key + ") COMMENT='c'")
		root.exec("INSERT INTO t VALUES (1, 'x', 7, NULL), (2, 'x', 7, 2)")
		state := func() string {
			made, _, err := root.run("SHOW CREATE TABLE t")
			if err != nil {
				t.Fatal(err)
			}
			rows, _, err := root.run("SELECT * FROM t ORDER BY id")
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(made, root.keys(), rows)
		}
		before := state()
		first := []string{"ADD COLUMN n INT", "ADD COLUMN n INT NOT NULL FIRST", "DROP COLUMN b", "MODIFY b BIGINT", "CHANGE b bb VARCHAR(9)", "RENAME COLUMN b TO bb",
			"ADD UNIQUE KEY w (id, b)", "ALTER COLUMN a SET DEFAULT 'e'", "ALTER COLUMN a DROP DEFAULT", "COMMENT='other'", "RENAME TO u"}
		if key == "" {
			first = append(first, "ADD PRIMARY KEY (id)")
		} else {
			first = append(first, "DROP PRIMARY KEY, MODIFY id INT", "AUTO_INCREMENT = 90")
		}
		if strings.Contains(key, "UNIQUE") {
			first = append(first, "DROP INDEX u", "RENAME INDEX u TO v")
		}
		for _, f := range first {
			for _, last := range []string{"ADD PRIMARY KEY (nope)", "ADD UNIQUE KEY z (nope)", "ADD UNIQUE KEY z (a)", "MODIFY c INT NOT NULL", "MODIFY a VARCHAR(10), MODIFY c INT NOT NULL",
				"DROP COLUMN nope", "RENAME COLUMN nope TO n2", "RENAME COLUMN c TO a", "ADD COLUMN a INT", "DROP INDEX nope", "RENAME INDEX nope TO n2",
				"ADD CHECK (nope > 0)", "ALTER COLUMN nope SET DEFAULT 1", "MODIFY nope INT", "RENAME TO other", "MODIFY a INT"} {
				q := "ALTER TABLE t " + f + ", " + last
				if _, _, err := root.run(q); err == nil {
					t.Fatalf("%s was accepted with%s", q, key)
				}
				if after := state(); after != before {
					t.Fatalf("%s with%s:\n%s\nwas\n%s", q, key, after, before)
				}
			}
		}
		if key != "" {
			root.exec("INSERT INTO t (a) VALUES ('y')")
			root.want("SELECT MAX(id) FROM t", "3")
			root.exec("DELETE FROM t WHERE id = 3")
		}
		// What all parts ask for is done, also of what an earlier one made.
		root.exec("ALTER TABLE t ADD COLUMN n INT, ADD COLUMN m VARCHAR(5) NOT NULL DEFAULT 'q' AFTER id, DROP COLUMN b, RENAME COLUMN a TO aa, ALTER COLUMN c SET DEFAULT 9, COMMENT='n', RENAME TO u")
		root.want("SELECT id, m, aa, c, n FROM u ORDER BY id", "1|q|x|NULL|NULL", "2|q|x|2|NULL")
		root.exec("ALTER TABLE u ADD COLUMN k INT NOT NULL DEFAULT 4, ADD UNIQUE KEY z (id, k), DROP COLUMN n, ADD COLUMN n TEXT")
		root.want("SELECT id, m, aa, c, k, n FROM u ORDER BY id", "1|q|x|NULL|4|NULL", "2|q|x|2|4|NULL")
		root.exec("DROP TABLE u")
	}
}

// TestChecksAtColumns: a CHECK at a column that is added or changed.
func TestChecksAtColumns(t *testing.T) {
	_, root := newServer(t)
	root.exec("CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(9))")
	root.exec("INSERT INTO t VALUES (1, 5, 'x'), (2, 6, 'y')")
	root.exec("ALTER TABLE t ADD COLUMN n INT DEFAULT 7 CONSTRAINT low CHECK (n < 10)")
	root.exec("ALTER TABLE t MODIFY a INT CHECK (a < 7)")
	root.fails("ALTER TABLE t ADD COLUMN m INT DEFAULT 5 CHECK (m > 5)", "violated")
	root.fails("ALTER TABLE t MODIFY b VARCHAR(9) CHECK (b <> 'y')", "violated")
	root.fails("INSERT INTO t VALUES (3, 5, 'x', 10)", "violated")
	root.fails("INSERT INTO t VALUES (3, 7, 'x', 9)", "violated")
	root.want("SELECT * FROM t ORDER BY id", "1|5|x|7", "2|6|y|7")
}
