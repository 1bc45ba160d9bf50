package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/engine/ops/datadir/fileimport"
)

// TestGeneratedColumnsAreComputedByEveryWrite: the values are those of the row as it is stored,
// whichever statement writes it.
func TestGeneratedColumnsAreComputedByEveryWrite(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c",
		"CREATE TABLE t (id INT PRIMARY KEY, a DECIMAL(4,1), g DECIMAL(6,2) GENERATED ALWAYS AS (a * 1.15) STORED, s VARCHAR(20) AS (CONCAT(c, '-', g)) VIRTUAL, c CHAR(3), "+
			"tm TIME, h INT AS (HOUR(tm)) STORED NOT NULL, CHECK (g < 100))",
		"INSERT INTO t (id, a, c, tm) VALUES (1, 1.26, 'x ', '01:59:59.7'), (2, '2.24', NULL, '10:00')", // stored as 1.3, 'x' and 02:00:00
		"INSERT INTO t VALUES (3, 5, DEFAULT, DEFAULT, 'yy', '11:00', DEFAULT)",
		"INSERT INTO t (id, a, c, tm) SELECT id + 10, a, c, tm FROM t WHERE id = 1",
		"INSERT INTO t (id, a, tm) VALUES (2, 7, '12:00') ON DUPLICATE KEY UPDATE a = VALUES(a), g = DEFAULT, c = LEFT(g, 3)",
		"REPLACE INTO t (id, a, c, tm) VALUES (3, 6, 'z', '13:00')",
		"UPDATE t SET a = a + 1, c = 'u', s = DEFAULT WHERE id = 11",
		"INSERT IGNORE INTO t (id, a, c, tm) VALUES (3, 9, 'z', '13:00'), (4, 9, 'z', '14:00')")
	check := func(q, want string) {
		t.Helper()
		if got := fmt.Sprint(root.query(q)); got != want {
			t.Errorf("%s:\n%s in place of\n%s", q, got, want)
		}
	}
	all := "SELECT id, a, g, s, c, h FROM t ORDER BY id"
	check(all, "[[1 1.3 1.50 x-1.50 x 2] [2 7.0 8.05 2.5-8.05 2.5 10] [3 6.0 6.90 z-6.90 z 13] [4 9.0 10.35 z-10.35 z 14] [11 2.3 2.65 u-2.65 u 2]]")
	for q, errno := range map[string]uint16{
		"INSERT INTO t (id, a, g, tm) VALUES (7, 1, 2, '1:00')":                   3105,
		"INSERT INTO t (id, g, tm) VALUES (7, DEFAULT, '1:00'), (8, 3, '1:00')":   3105,
		"INSERT INTO t (id, g) SELECT 1, 2":                                       3105,
		"INSERT INTO t (id, tm) VALUES (1, '1:00') ON DUPLICATE KEY UPDATE g = 3": 3105,
		"UPDATE t SET g = 3":                                               3105,
		"INSERT INTO t (id, a) VALUES (7, 1)":                              1048,
		"UPDATE t SET tm = NULL":                                           1048,
		"INSERT INTO t (id, a, tm) VALUES (7, 99, '1:00')":                 3819,
		"UPDATE t SET a = 99":                                              3819,
		"ALTER TABLE t DROP COLUMN a":                                      3108,
		"ALTER TABLE t RENAME COLUMN tm TO tn":                             3108,
		"ALTER TABLE t MODIFY s VARCHAR(20) AS (CONCAT(c, '-', g)) STORED": 3106,
		"ALTER TABLE t MODIFY a DECIMAL(4,1) AS (id) VIRTUAL":              3106,
		"ALTER TABLE t ALTER COLUMN g SET DEFAULT 3":                       1221,
		"ALTER TABLE t ADD COLUMN n TINYINT AS (id * 100)":                 1264,
		"CREATE TABLE w (a INT AS (b), b INT AS (1))":                      3107,
		"CREATE TABLE w (a INT AS (a + 1))":                                3107,
		"CREATE TABLE w (b DOUBLE AS (RAND()))":                            3763,
		"CREATE TABLE w (b DATETIME AS (NOW()) STORED)":                    3763,
		"CREATE TABLE w (b INT AS ((SELECT 1)))":                           3102,
		"CREATE TABLE w (b INT AS (@x))":                                   3765,
		"CREATE TABLE w (a INT AUTO_INCREMENT PRIMARY KEY, b INT AS (a))":  3109,
		"CREATE TABLE w (a INT, b INT AS (a) PRIMARY KEY)":                 3106,
		"CREATE TABLE w (a INT, b INT AS (a) DEFAULT 3)":                   1221,
		"CREATE TABLE w (a BIGINT DEFAULT (b), b BIGINT DEFAULT (9))":      3767,
		"ALTER TABLE t ADD COLUMN q INT DEFAULT (g + 1) FIRST":             3767,
	} {
		root.refused(errno, "", q)
	}
	check(all, "[[1 1.3 1.50 x-1.50 x 2] [2 7.0 8.05 2.5-8.05 2.5 10] [3 6.0 6.90 z-6.90 z 13] [4 9.0 10.35 z-10.35 z 14] [11 2.3 2.65 u-2.65 u 2]]")
	check("SELECT column_name, extra, generation_expression FROM information_schema.columns WHERE table_schema = 'c' AND generation_expression <> '' ORDER BY 1",
		"[[g STORED GENERATED (`a` * 1.15)] [h STORED GENERATED hour(`tm`)] [s VIRTUAL GENERATED concat(`c`, '-', `g`)]]")

	// definitions change, and the values with them
	root.exec("ALTER TABLE t DROP CHECK t_chk_1, MODIFY a DECIMAL(6,3), ADD COLUMN k INT AS (h * 2) STORED NOT NULL", "ALTER TABLE t ADD COLUMN l TEXT AS (CONCAT(k, s))",
		"ALTER TABLE t MODIFY g DECIMAL(6,3) AS (a * 1.1) STORED")
	check("SELECT id, k, g, s, l FROM t WHERE id < 3 ORDER BY id", "[[1 4 1.430 x-1.430 4x-1.430] [2 20 7.700 2.5-7.700 202.5-7.700]]")
	text := root.query("SHOW CREATE TABLE t")[0][1]
	for _, part := range []string{"`k` int GENERATED ALWAYS AS ((`h` * 2)) STORED NOT NULL,", "`s` varchar(20) GENERATED ALWAYS AS (concat(`c`, '-', `g`)) VIRTUAL,"} {
		if !strings.Contains(text, part) {
			t.Errorf("SHOW CREATE TABLE lacks %s:\n%s", part, text)
		}
	}
	root.exec("CREATE TABLE same LIKE t", "CREATE TABLE plain SELECT * FROM t", "INSERT INTO same (id, a, tm) VALUES (1, 2, '3:00')", "ALTER TABLE t MODIFY g DECIMAL(6,3)", "UPDATE t SET g = 1 WHERE id = 1")
	check("SELECT k, g, l FROM same", "[[6 2.200 NULL]]")
	check("SELECT g, s, l FROM t WHERE id = 1", "[[1.000 x-1.000 4x-1.000]]")
	if again := root.query("SHOW CREATE TABLE same")[0][1]; again != strings.Replace(text, "TABLE `t`", "TABLE `same`", 1) {
		t.Errorf("LIKE makes\n%s\nof\n%s", again, text)
	}
}

// TestUniqueOnPartsHolds: UNIQUE on prefixes and expressions refuses what MySQL refuses, on every
// way into a table, and nothing shows how.
func TestUniqueOnPartsHolds(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), b BLOB, UNIQUE KEY u (v(3)), UNIQUE KEY ((id DIV 10), b(1)), KEY ((id + 1)))",
		"INSERT INTO t VALUES (1, 'äöü', 'xy'), (2, 'äö', 'yz'), (3, NULL, NULL), (4, NULL, NULL)")
	check := func(q, want string) {
		t.Helper()
		if got := fmt.Sprint(root.query(q)); got != want {
			t.Errorf("%s:\n%s in place of\n%s", q, got, want)
		}
	}
	for _, q := range []string{"INSERT INTO t VALUES (5, 'äöüx', 'q')", "INSERT INTO t VALUES (5, 'abc', 'a'), (6, 'abcd', 'b')", "INSERT INTO t VALUES (5, 'abc', 'xx')", "UPDATE t SET v = 'äöüz' WHERE id = 2",
		"INSERT INTO t (id, v) SELECT 50, 'äöüzz'", "ALTER TABLE t ADD UNIQUE KEY (v(2))", "CREATE UNIQUE INDEX i ON t ((SIGN(CHAR_LENGTH(v))))"} {
		root.refused(1062, "", q)
	}
	root.exec("INSERT INTO t VALUES (5, 'äöüx', 'q') ON DUPLICATE KEY UPDATE v = 'new'", "INSERT IGNORE INTO t VALUES (6, 'newer', 'r'), (7, 'newer', 's')", "REPLACE INTO t VALUES (8, 'äö', 'tt')",
		"UPDATE t SET v = CONCAT(v, '!')", "INSERT INTO t VALUES (11, 'far', 'x')", "UPDATE t SET b = 'x' WHERE id = 11")
	check("SELECT id, v, b FROM t ORDER BY id", "[[1 new! xy] [3 NULL NULL] [4 NULL NULL] [8 äö! tt] [11 far x]]")
	check("SELECT * FROM t WHERE id = 1", "[[1 new! xy]]")
	check("SELECT column_name FROM information_schema.columns WHERE table_schema = 'c' ORDER BY ordinal_position", "[[id] [v] [b]]")
	check("SELECT index_name, non_unique, column_name, sub_part, expression FROM information_schema.statistics WHERE table_schema = 'c' AND index_name <> 'PRIMARY' ORDER BY 1, seq_in_index",
		"[[functional_index 0 NULL NULL (`id` div 10)] [functional_index 0 b 1 NULL] [functional_index_2 1 NULL NULL (`id` + 1)] [u 0 v 3 NULL]]")
	text := root.query("SHOW CREATE TABLE t")[0][1]
	root.exec("DROP TABLE t", text, "INSERT INTO t VALUES (1, 'abc', 'x')")
	if again := root.query("SHOW CREATE TABLE t")[0][1]; again != text {
		t.Errorf("SHOW CREATE TABLE makes\n%s\nof\n%s", again, text)
	}
	root.refused(1062, "", "INSERT INTO t VALUES (2, 'abcd', 'y')")
	for q, errno := range map[string]uint16{"ALTER TABLE t RENAME COLUMN id TO k": 3837, "SELECT `!hidden!u!0!0` FROM t": 1054, "ALTER TABLE t ADD COLUMN `!hidden!x` INT": 1166,
		"CREATE INDEX i ON t ((id))": 3762, "CREATE INDEX i ON t ((RAND()))": 3758, "CREATE TABLE w (a INT, PRIMARY KEY ((a + 1)))": 3756, "CREATE TABLE w (j JSON, KEY ((JSON_EXTRACT(j, '$.a'))))": 3753} {
		root.refused(errno, "", q)
	}
	root.exec("ALTER TABLE t RENAME COLUMN v TO w, MODIFY b VARBINARY(9)", "ALTER TABLE t DROP INDEX functional_index", "INSERT INTO t VALUES (2, 'abx', 'x')", "ALTER TABLE t DROP INDEX u", "INSERT INTO t VALUES (3, 'abxx', 'x')")

	root.exec("CREATE TABLE k (v VARCHAR(9), x INT, PRIMARY KEY (v(2)))", "CREATE TABLE kl LIKE k", "INSERT INTO kl VALUES ('abc', 1)", "INSERT INTO kl VALUES ('abd', 2) ON DUPLICATE KEY UPDATE x = 3",
		"ALTER TABLE k DROP PRIMARY KEY", "INSERT INTO k VALUES ('abc', 1), ('acb', 2)", "ALTER TABLE k ADD PRIMARY KEY (v(2))")
	for _, q := range []string{"INSERT INTO kl VALUES ('abd', 2)", "UPDATE k SET v = 'abb' WHERE x = 2", "INSERT INTO k VALUES ('acd', 2)"} {
		root.refused(1062, "", q)
	}
	check("SELECT v, x FROM kl WHERE v = 'abc'", "[[abc 3]]")
	if got := root.query("SHOW CREATE TABLE kl")[0][1]; !strings.Contains(got, "PRIMARY KEY (`v`(2))") {
		t.Error(got)
	}
	root.exec("CREATE TABLE f (a INT, g INT AS (a + 1))", file(t, "1\n")+"f (a)")
	check("SELECT * FROM f", "[[1 2]]")
	root.refused(3105, "", file(t, "1\t2\n")+"f")
	cfg := i.cfg
	i.end()
	csv := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(csv, []byte("a\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fileimport.Load(context.Background(), cfg.Place(), csv, "c.f", fileimport.Options{Mode: fileimport.Append}, nil); err == nil || !strings.Contains(err.Error(), "generated columns") {
		t.Errorf("import: %v", err)
	}
}

// TestAGeneratedColumnOfAProtectedTable is one like any other to private questions; its expression
// tells nobody of rows that are there.
func TestAGeneratedColumnOfAProtectedTable(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (person INT NOT NULL, x INT, g TINYINT AS (x * 2) STORED)", "INSERT INTO t (person, x) VALUES (1, 3), (2, 5), (3, 4)", "INSERT INTO t (person, x) WITH RECURSIVE n (i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 50) SELECT i, 1 FROM n")
	root.exec("CALL dp_protect('c.t', 'person', 'person')", "CALL dp_set_budget('c.t', '*', 100000, 1e-3, 'never')", "CALL dp_set_domain('c.t', 'g', '{\"min\": 0, \"max\": 100}')", "SET dp_epsilon = 100")
	if got := float(t, root.query("SELECT SUM(g) FROM t")[0][0]); got < 90 || got > 150 {
		t.Errorf("SUM of a generated column is %v in place of about 118", got)
	}
	root.exec("INSERT INTO t (person, x) VALUES (4, 6)")
	root.refused(1264, "", "INSERT INTO t (person, x) VALUES (9, 100)") // of the row that the client sends
	// of the rows that are there nobody learns whether an expression fails, or a key holds
	root.refusedFor(map[string]string{"ALTER TABLE t ADD COLUMN h TINYINT AS (x * 4)": "dp_raw", "ALTER TABLE t ADD COLUMN h BIGINT AS (x)": "dp_raw", "ALTER TABLE t MODIFY g BIGINT AS (x)": "dp_raw", "ALTER TABLE t ADD UNIQUE KEY ((x * 2))": "dp_raw",
		"UPDATE t SET x = 100": "dp_raw", "SELECT g FROM t": "", "SELECT `!hidden!x!0!0` FROM t": ""})
	// what a policy rests on does not change by a column that it follows from
	root.exec("CREATE TABLE p (x INT, person INT AS (x DIV 2) STORED NOT NULL)", "CALL dp_protect('c.p', 'person', 'person')", "SET dp_raw = ON")
	root.refusedFor(map[string]string{"ALTER TABLE p MODIFY x BIGINT": "policy"})
}

// TestForeignKeysWithGeneratedColumns: the rows that actions of foreign keys change have the values
// that follow from the new ones, in hidden columns of keys too.
func TestForeignKeysWithGeneratedColumns(t *testing.T) {
	i := start(t, "")
	root := i.root()
	check := func(q, want string) {
		t.Helper()
		if got := fmt.Sprint(root.query(q)); got != want {
			t.Errorf("%s:\n%s in place of\n%s", q, got, want)
		}
	}
	root.exec("CREATE DATABASE c", "USE c",
		"CREATE TABLE p (id INT PRIMARY KEY, code VARCHAR(10), d DECIMAL(5,1), twice INT AS (id * 2) STORED UNIQUE, UNIQUE (code, d))",
		"CREATE TABLE k (n INT PRIMARY KEY, code VARCHAR(10), d DECIMAL(5,1), tag VARCHAR(30) AS (CONCAT(code, '/', d * 2)) VIRTUAL, tail VARCHAR(40) AS (CONCAT(tag, '!')), "+
			"UNIQUE (code(2)), UNIQUE ((UPPER(code))), FOREIGN KEY (code, d) REFERENCES p (code, d) ON UPDATE CASCADE ON DELETE SET NULL)",
		"CREATE TABLE g (n INT PRIMARY KEY, m INT AS (n + 10) STORED, FOREIGN KEY (m) REFERENCES p (twice) ON DELETE CASCADE)",
		"INSERT INTO p (id, code, d) VALUES (6, 'aa', 1.5), (7, 'bb', 2), (8, 'cc', 3), (9, 'dd', 4)",
		"INSERT INTO k (n, code, d) VALUES (1, 'aa', 1.5), (2, 'bb', 2)",
		"INSERT INTO g (n) VALUES (2), (4)")
	root.exec("UPDATE p SET code = 'xx', d = d + 1 WHERE id = 6")
	check("SELECT n, code, tag, tail FROM k ORDER BY n", "[[1 xx xx/5.0 xx/5.0!] [2 bb bb/4.0 bb/4.0!]]")
	root.refused(1062, "", "INSERT INTO k (n, code, d) VALUES (3, 'xx', 2.5)")
	root.exec("INSERT INTO p (id, code, d) VALUES (20, 'aa', 1)", "INSERT INTO k (n, code, d) VALUES (4, 'aa', 1)", "DELETE FROM k WHERE n = 4") // the key aa is free
	root.exec("DELETE FROM p WHERE id = 7")
	check("SELECT n, code, d, tag, tail FROM k WHERE n = 2", "[[2 NULL NULL NULL NULL]]")
	check("SELECT n FROM g", "[[2]]") // 14 has gone with 7
	for q, errno := range map[string]uint16{
		"INSERT INTO g (n) VALUES (5)":      1452,
		"UPDATE g SET n = 3":                1452,
		"UPDATE p SET id = 60 WHERE id = 6": 1451,
		"CREATE TABLE w (a INT, b INT AS (a), FOREIGN KEY (b) REFERENCES p (id))":                           3733,
		"CREATE TABLE w (a INT, b INT AS (a) STORED, FOREIGN KEY (b) REFERENCES p (id) ON UPDATE CASCADE)":  3104,
		"CREATE TABLE w (a INT, b INT AS (a) STORED, FOREIGN KEY (b) REFERENCES p (id) ON DELETE SET NULL)": 3104,
		"CREATE TABLE w (a INT, b INT AS (a) STORED, FOREIGN KEY (a) REFERENCES p (id) ON DELETE CASCADE)":  1215,
		"CREATE TABLE w (a INT, b INT AS (a), KEY (b), FOREIGN KEY (a) REFERENCES w (b))":                   3733,
		"ALTER TABLE k ADD COLUMN len INT AS (LENGTH(code)) STORED":                                         1215,
		"ALTER TABLE g DROP COLUMN m": 1828,
	} {
		root.refused(errno, "", q)
	}
	// IGNORE leaves out the row that has no parent, and several tables change at once
	root.exec("INSERT IGNORE INTO g (n) VALUES (6), (7)", "UPDATE IGNORE g SET n = n + 3 WHERE n = 6")
	check("SELECT n, m FROM g ORDER BY n", "[[2 12] [6 16]]")
	root.exec("UPDATE p JOIN g ON twice = m SET p.d = 7.5, g.n = 8 WHERE g.n = 6")
	check("SELECT n, m FROM g ORDER BY n", "[[2 12] [8 18]]")
	root.exec("REPLACE INTO p (id, code, d) VALUES (9, 'zz', 9)", "INSERT INTO p (id, code, d) VALUES (8, 'q', 1) ON DUPLICATE KEY UPDATE code = 'yy'")
	check("SELECT n, m FROM g ORDER BY n", "[[2 12]]") // 18 has gone with the old 9
	check("SELECT COUNT(*) FROM p WHERE twice = 18 OR code = 'yy'", "[[2]]")
	text := root.query("SHOW CREATE TABLE k")[0][1]
	last := -1
	for _, part := range []string{"`tail` varchar(40) GENERATED", "UNIQUE KEY `code` (`code`(2))", "UNIQUE KEY `functional_index` ((upper(`code`)))", "CONSTRAINT `k_ibfk_1` FOREIGN KEY"} {
		at := strings.Index(text, part)
		if at <= last {
			t.Errorf("SHOW CREATE TABLE has %s at %d, behind %d:\n%s", part, at, last, text)
		}
		last = at
	}
	root.exec("ALTER TABLE k DROP FOREIGN KEY k_ibfk_1, DROP COLUMN tail, DROP INDEX functional_index, ADD COLUMN len INT AS (LENGTH(code)) STORED",
		"ALTER TABLE k ADD FOREIGN KEY (code, d) REFERENCES p (code, d), ADD UNIQUE ((LOWER(code)))", "UPDATE k SET code = 'yy', d = 7.5 WHERE n = 2")
	check("SELECT n, tag, len FROM k ORDER BY n", "[[1 xx/5.0 2] [2 yy/15.0 2]]")
}
