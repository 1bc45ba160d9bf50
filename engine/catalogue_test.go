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
	root.refusedFor(map[string]string{"CREATE TABLE d (b TEXT, FULLTEXT KEY (b))": "FULLTEXT"})
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

// described is all that the catalogue tells of a table of the database c, .
func described(c *client, table string) string {
	var all []string
	for _, q := range []string{
		"SELECT * FROM information_schema.columns WHERE table_schema = 'c' AND table_name = '%s'",
		"SELECT * FROM information_schema.statistics WHERE table_schema = 'c' AND table_name = '%s'",
		"SELECT * FROM information_schema.table_constraints WHERE table_schema = 'c' AND table_name = '%s'",
		"SELECT * FROM information_schema.tables WHERE table_schema = 'c' AND table_name = '%s'", "SHOW INDEX FROM c.%s", "SHOW CREATE TABLE c.%s",
	} {
		for _, row := range c.query(fmt.Sprintf(q, table)) {
			all = append(all, strings.Join(row, "|"))
		}
	}
	return strings.Join(all, "\n")
}

// TestShowCreateTableMakesTheTableAnew: CREATE, SHOW CREATE, DROP, that text, and the catalogue
// tells the same.
func TestShowCreateTableMakesTheTableAnew(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c",
		"CREATE TABLE source (id INT AUTO_INCREMENT PRIMARY KEY, z INT DEFAULT 0, b BIT(4) DEFAULT b'10', e INT DEFAULT (1 + 2), f INT DEFAULT (z + 1), d DECIMAL(10,2) DEFAULT 1.5, v VARCHAR(10) NOT NULL DEFAULT 'x''y', "+
			"en ENUM('a','b') DEFAULT 'a', s SET('a','b') DEFAULT 'a,b', bi BINARY(3) DEFAULT 'abc', vb VARBINARY(5) DEFAULT x'4100', u CHAR(36) DEFAULT (uuid()), y YEAR DEFAULT 2020, da DATE DEFAULT '2020-01-02', "+
			"t0 TIME, t3 TIME(3) DEFAULT '10:00:00.5', t6 TIME(6), ts TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP COMMENT 'it''s', d3 DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), "+
			"n TIMESTAMP NULL, j JSON DEFAULT (json_array(1)), tx TEXT DEFAULT ('abc'), k TINYINT(1) DEFAULT TRUE, bu BIGINT UNSIGNED DEFAULT 18446744073709551615, UNIQUE KEY u (v), KEY pre (tx(4)), "+
			"CHECK (z >= 0), CONSTRAINT named CHECK (v <> 'it''s' OR z < 5) NOT ENFORCED) COMMENT='the table' AUTO_INCREMENT=100")
	before, text := described(root, "source"), root.query("SHOW CREATE TABLE source")[0][1]
	for _, part := range []string{"`b` bit(4) DEFAULT b'10'", "`z` int DEFAULT '0'", "`t0` time DEFAULT NULL", "`t3` time(3) DEFAULT '10:00:00.5", "ON UPDATE CURRENT_TIMESTAMP(3)", "AUTO_INCREMENT=100",
		"`n` timestamp NULL DEFAULT NULL", "CONSTRAINT `source_chk_1` CHECK ((`z` >= 0))", "CHECK (((`v` != 'it\\'s') or (`z` < 5))) /*!80016 NOT ENFORCED */"} {
		if !strings.Contains(text, part) {
			t.Errorf("SHOW CREATE TABLE lacks %q:\n%s", part, text)
		}
	}
	root.exec("DROP TABLE source", text)
	if after := described(root, "source"); after != before {
		t.Errorf("the table was\n%s\nand is made anew as\n%s", before, after)
	}
	// and the defaults are what a row gets
	root.exec("INSERT INTO source (t0, t3) VALUES ('10:00:00.7', '10:00:00.1236')", "ALTER TABLE source AUTO_INCREMENT = 500", "INSERT INTO source (v) VALUES ('b')")
	for q, want := range map[string]string{
		"SELECT id, z, b + 0, e, f, d, v, en, s, bi, hex(vb), LENGTH(u), y, da, t0, t3, j, tx, k, bu FROM source WHERE id = 100": "[[100 0 2 3 1 1.50 x'y a a,b abc 4100 36 2020 2020-01-02 10:00:01 10:00:00.124 [1] abc 1 18446744073709551615]]",
		"SELECT LAST_INSERT_ID()": "[[500]]",
	} {
		if got := strings.ReplaceAll(fmt.Sprint(root.query(q)), ".124000", ".124"); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
}

// TestChecksOfAlteredColumns: a CHECK at a column that is added or changed, and beside clauses that
// change columns, is met by the rows that are there or refuses the whole statement.
func TestChecksOfAlteredColumns(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(9))", "INSERT INTO t VALUES (1, 5, 'x'), (2, 6, 'y')",
		"ALTER TABLE t ADD COLUMN n INT DEFAULT 7 CONSTRAINT low CHECK (n < 10)", "ALTER TABLE t MODIFY a INT CHECK (a < 7), ADD COLUMN k INT, ADD CONSTRAINT beside CHECK (b <> 'z')")
	for _, q := range []string{"ALTER TABLE t ADD COLUMN m INT DEFAULT 5 CHECK (m > 5)", "ALTER TABLE t ADD COLUMN m INT NOT NULL CHECK (m > 0)",
		"ALTER TABLE t MODIFY b VARCHAR(9) CHECK (b <> 'y')", "ALTER TABLE t ADD COLUMN q INT FIRST, ADD CHECK (a < 6)", "ALTER TABLE t ADD CHECK (n > id + 5)",
		"INSERT INTO t VALUES (3, 5, 'x', 10, 1)", "INSERT INTO t VALUES (3, 7, 'x', 9, 1)", "INSERT INTO t VALUES (3, 5, 'z', 9, 1)"} {
		root.refused(3819, "HY000", q)
	}
	if got := fmt.Sprint(root.query("SELECT * FROM t ORDER BY id")); got != "[[1 5 x 7 NULL] [2 6 y 7 NULL]]" {
		t.Errorf("rows %s", got)
	}
	if got := fmt.Sprint(root.query("SELECT constraint_name FROM information_schema.check_constraints ORDER BY 1")); got != "[[beside] [low] [t_chk_1]]" {
		t.Errorf("checks %s", got)
	}
}

// TestTheNextNumberIsTold to those who may read the rows, and to nobody once they are protected.
func TestTheNextNumberIsTold(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, person INT NOT NULL)", "INSERT INTO t (person) VALUES (1), (2)")
	tells := func() string {
		return fmt.Sprint(root.query("SELECT auto_increment FROM information_schema.tables WHERE table_schema = 'c'"), strings.Contains(root.query("SHOW CREATE TABLE t")[0][1], "AUTO_INCREMENT=3 "))
	}
	if got := tells(); got != "[[3]] true" {
		t.Errorf("got %s of one's own table", got)
	}
	root.exec("CALL dp_protect('c.t', 'person', 'people')")
	if got := tells(); got != "[[NULL]] false" {
		t.Errorf("got %s of a protected table", got)
	}
}

// TestColumnsOfViews have the defaults of the columns that they are, and a key without NULLs is the
// primary one where there is no other.
func TestColumnsOfViews(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (i INT NOT NULL, j INT DEFAULT 100, UNIQUE KEY (j), UNIQUE KEY (i))", "CREATE TABLE tt (k INT DEFAULT (1 + 1))",
		"CREATE VIEW v AS SELECT i + 0 AS i, j AS jj FROM t WHERE i > 0", "CREATE VIEW vv AS SELECT x.jj, k, jj + k AS s FROM v AS x JOIN tt ON jj = k ORDER BY k")
	for q, want := range map[string]string{
		"DESCRIBE t":  "[[i int NO PRI NULL ] [j int YES UNI 100 ]]",
		"DESCRIBE v":  "[[i bigint NO  NULL ] [jj int YES  100 ]]",
		"DESCRIBE vv": "[[jj int YES  100 ] [k int YES  (1 + 1) DEFAULT_GENERATED] [s bigint YES  NULL ]]",
	} {
		if got := fmt.Sprint(root.query(q)); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
}

// TestAutoIncrementStartsAsDeclared also after the server was started anew, and with no rows left.
func TestAutoIncrementStartsAsDeclared(t *testing.T) {
	dir := t.TempDir()
	i := start(t, dir)
	i.root().exec("CREATE DATABASE c", "CREATE TABLE c.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT) AUTO_INCREMENT = 100")
	i.end()
	i = start(t, dir)
	root := i.root()
	root.exec("USE c", "INSERT INTO t (v) VALUES (1), (2)", "DELETE FROM t", "INSERT INTO t (v) VALUES (3)", "INSERT INTO t VALUES (200, 4)", "INSERT INTO t (v) VALUES (5)", "ALTER TABLE t AUTO_INCREMENT = 3", "INSERT INTO t (v) VALUES (6)")
	if got := fmt.Sprint(root.query("SELECT id FROM t ORDER BY id")); got != "[[102] [200] [201] [202]]" {
		t.Errorf("numbers %s", got)
	}
}

// TestChecksHold: on every way into a table, on the value as it is stored, and for the rows that
// are there.
func TestChecksHold(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE k (id INT PRIMARY KEY, a INT CHECK (a > 0), b VARCHAR(10), d DECIMAL(5,0) CHECK (d < 10), CONSTRAINT cc CHECK (LENGTH(b) < 5), CHECK (a > 100) NOT ENFORCED)",
		"INSERT INTO k VALUES (1, 1, 'x', 9), (2, NULL, NULL, NULL)", "CREATE TABLE from_here AS SELECT 9 AS id, -1 AS a")
	for q, name := range map[string]string{
		"INSERT INTO k (id, a) VALUES (3, 5), (4, 0)": "k_chk_1", "INSERT INTO k (id, b) VALUES (3, 12345)": "cc", "INSERT INTO k (id, d) VALUES (3, 9.7)": "k_chk_2",
		"INSERT INTO k (id, a) SELECT id, a FROM from_here": "k_chk_1", "INSERT INTO k (id, a) VALUES (1, 1) ON DUPLICATE KEY UPDATE a = -1": "k_chk_1", "REPLACE INTO k (id, a) VALUES (1, -1)": "k_chk_1",
		"UPDATE k SET a = a - 1": "k_chk_1", "UPDATE k SET b = CONCAT(b, '1234')": "cc", "ALTER TABLE k ADD CHECK (a > 1)": "k_chk_4", "ALTER TABLE k ADD CONSTRAINT own CHECK (REGEXP_LIKE(b, 'y'))": "own",
	} {
		if err := root.refused(3819, "HY000", q); err.Message != "Check constraint '"+name+"' is violated." {
			t.Errorf("%s: %s", q, err.Message)
		}
	}
	root.exec("INSERT IGNORE INTO k (id, a) VALUES (5, -1), (6, 6)", "ALTER TABLE k ADD CONSTRAINT low CHECK (a < 50)", "ALTER TABLE k RENAME COLUMN id TO number")
	if got := fmt.Sprint(root.query("SELECT number, a, b, d FROM k ORDER BY number")); got != "[[1 1 x 9] [2 NULL NULL NULL] [6 6 NULL NULL]]" {
		t.Errorf("rows %s", got)
	}
	root.refused(3819, "", "UPDATE k SET a = 60 WHERE number = 6")
	for q, errno := range map[string]uint16{
		"ALTER TABLE k RENAME COLUMN a TO z": 3959, "ALTER TABLE k ADD CONSTRAINT low CHECK (a < 9)": 3822, "CREATE TABLE e (a INT CHECK (a > (SELECT 1)))": 3815, "CREATE TABLE e (a INT CHECK (a > RAND()))": 3815,
		"CREATE TABLE e (a INT CHECK (a > @x))": 3816, "CREATE TABLE e (a INT AUTO_INCREMENT PRIMARY KEY CHECK (a > 1))": 3818, "ALTER TABLE k DROP CHECK nope": 3940,
	} {
		root.refused(errno, "HY000", q)
	}
	root.refusedFor(map[string]string{"ALTER TABLE k MODIFY COLUMN a BIGINT": "Drop the CHECK",
		"CREATE TABLE e (a INT CHECK (a > 0)) SELECT -1 AS a": "INSERT … SELECT"})
	if got := fmt.Sprint(root.query("SELECT constraint_name, check_clause FROM information_schema.check_constraints ORDER BY 1")); got != "[[cc (length(`b`) < 5)] [k_chk_1 (`a` > 0)] [k_chk_2 (`d` < 10)] [k_chk_3 (`a` > 100)] [low (`a` < 50)]]" {
		t.Errorf("check_constraints: %s", got)
	}
	root.exec("CREATE TABLE same LIKE k", "ALTER TABLE k DROP CHECK cc", "ALTER TABLE k DROP CONSTRAINT low", "ALTER TABLE k DROP COLUMN d", "UPDATE k SET a = 60, b = '123456' WHERE number = 6")
	root.refused(3819, "", "INSERT INTO same (number, a) VALUES (1, -1)")
	if _, err := root.try(file(t, "20\t-1\n") + "same (number, a)"); err == nil || !strings.Contains(err.Error(), "'same_chk_1' is violated in row 1 of the file") {
		t.Errorf("LOAD DATA: %v", err)
	}
	// a CHECK that is added looks at the rows, and so tells of them
	root.exec("CREATE TABLE p (person INT NOT NULL, x INT)", "INSERT INTO p VALUES (1, 2)", "CALL dp_protect('c.p', 'person', 'person')")
	root.refusedFor(map[string]string{"ALTER TABLE p ADD CHECK (x > 2)": "dp_raw", "ALTER TABLE p ADD CHECK (x > 0)": "dp_raw"})
	// nor does an import go around it
	cfg := i.cfg
	i.end()
	csv := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(csv, []byte("number,a,b\n30,-1,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fileimport.Load(context.Background(), cfg.Place(), csv, "c.same", fileimport.Options{Mode: fileimport.Append}, nil); err == nil || !strings.Contains(err.Error(), "CHECK") {
		t.Errorf("import: %v", err)
	}
}

// TestDefinitionsThatDoNotFit are refused in MySQL's words, and none leaves a table that cannot be
// read.
func TestDefinitionsThatDoNotFit(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (a INT, b INT DEFAULT (a + 2), v VARCHAR(5))", "INSERT INTO t (a) VALUES (4), (NULL)", "ALTER TABLE t ADD COLUMN k INT DEFAULT (a + 3) FIRST")
	if got := fmt.Sprint(root.query("SELECT k, a, b FROM t ORDER BY a")); got != "[[NULL NULL NULL] [7 4 6]]" {
		t.Errorf("a default of other columns: %s", got)
	}
	var wide []string
	for n := range 4097 {
		wide = append(wide, fmt.Sprintf("c%d INT", n))
	}
	for q, errno := range map[string]uint16{"ALTER TABLE t DROP COLUMN a": 3766, "ALTER TABLE t RENAME COLUMN a TO z": 3766, "ALTER TABLE t CHANGE COLUMN a z INT": 3766, "CREATE TABLE w (" + strings.Join(wide, ", ") + ")": 1117,
		"CREATE TABLE w (a VARCHAR(16000), b VARCHAR(1000))": 1118, "ALTER TABLE t ADD COLUMN w VARCHAR(16383), ADD COLUMN x CHAR(255)": 1118, "CREATE TABLE w (a VARCHAR(16384))": 1074,
		"CREATE TABLE w (a DATETIME(7))": 1426, "CREATE TABLE w (a TIME(7))": 1426, "ALTER TABLE t ADD COLUMN ts TIMESTAMP(7)": 1426, "CREATE TABLE w (a DECIMAL(66,30))": 1426, "CREATE TABLE w (a DECIMAL(65,31))": 1425,
		"CREATE TABLE w (a DECIMAL(3,4))": 1427, "CREATE TABLE w (a BIT(65))": 1439} {
		root.refused(errno, "", q)
	}
	root.exec("CREATE TABLE w (a VARCHAR(16000), b TEXT, c LONGBLOB)", "CREATE TABLE latin (a VARCHAR(32700), b VARCHAR(32700)) CHARACTER SET latin1", "ALTER TABLE t DROP COLUMN b, DROP COLUMN k, DROP COLUMN a")
	root.refusedFor(map[string]string{"ALTER TABLE t ADD COLUMN long_one VARCHAR(3) DEFAULT (CONCAT(v, 'x'))": "UPDATE the rows"})
}

// TestAValueThatDoesNotFitNamesItsColumnAndRow on every way into a table.
func TestAValueThatDoesNotFitNamesItsColumnAndRow(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (v VARCHAR(3), n TINYINT, u INT UNSIGNED, dc DECIMAL(4,2), f DOUBLE, d DATE, dt DATETIME, tm TIME, e ENUM('a'), b BIT(2), id INT PRIMARY KEY)", "INSERT INTO t (v, n, id) VALUES ('a', 1, 1), ('b', 100, 2)")
	for q, want := range map[string]string{
		"INSERT INTO t (id, v) VALUES (7, 'abc'), (8, 'abcd')":                                "1406 Data too long for column 'v' at row 2",
		"INSERT INTO t (id, n) VALUES (7, 1), (8, 2), (9, 1111)":                              "1264 Out of range value for column 'n' at row 3",
		"INSERT INTO t (id, u) VALUES (7, -1)":                                                "1264 Out of range value for column 'u' at row 1",
		"INSERT INTO t (id, dc) VALUES (7, 1000)":                                             "1264 Out of range value for column 'dc' at row 1",
		"INSERT INTO t (id, n) VALUES (7, 'x')":                                               "1366 Incorrect integer value: 'x' for column 'n' at row 1",
		"INSERT INTO t (id, n) VALUES (7, '1x')":                                              "1265 Data truncated for column 'n' at row 1",
		"INSERT INTO t (id, dc) VALUES (7, 'x')":                                              "1366 Incorrect decimal value: 'x' for column 'dc' at row 1",
		"INSERT INTO t (id, f) VALUES (7, 'x')":                                               "1265 Data truncated for column 'f' at row 1",
		"INSERT INTO t (id, d) VALUES (7, '2020-13-13')":                                      "1292 Incorrect date value: '2020-13-13' for column 'd' at row 1",
		"INSERT INTO t (id, dt) VALUES (7, 'x')":                                              "1292 Incorrect datetime value: 'x' for column 'dt' at row 1",
		"INSERT INTO t (id, tm) VALUES (7, 'zz')":                                             "1292 Incorrect time value: 'zz' for column 'tm' at row 1",
		"INSERT INTO t (id, e) VALUES (7, 'c')":                                               "1265 Data truncated for column 'e' at row 1",
		"INSERT INTO t (id, b) VALUES (7, 9)":                                                 "1406 Data too long for column 'b' at row 1",
		"INSERT INTO t (id, n) SELECT id + 10, n + 100 FROM t ORDER BY id":                    "1264 Out of range value for column 'n' at row 2",
		"REPLACE INTO t (id, n) VALUES (1, 1), (2, 999)":                                      "1264 Out of range value for column 'n' at row 2",
		"INSERT INTO t (id, n) VALUES (1, 1), (2, 999) ON DUPLICATE KEY UPDATE n = VALUES(n)": "1264 Out of range value for column 'n' at row 2",
		"UPDATE t SET n = n + 100 ORDER BY id":                                                "1264 Out of range value for column 'n' at row 2",
		"UPDATE t SET v = CONCAT(v, 'bcd')":                                                   "1406 Data too long for column 'v' at row 1",
		"UPDATE t SET dc = 1000":                                                              "1264 Out of range value for column 'dc' at row 1",
		"UPDATE t SET d = '2020-13-13'":                                                       "1292 Incorrect date value: '2020-13-13' for column 'd' at row 1",
		"UPDATE t SET n = 'xx'":                                                               "1366 Incorrect integer value: 'xx' for column 'n' at row 1",
	} {
		_, err := root.try(q)
		if got := fmt.Sprint(err); !strings.HasPrefix(got, "Error "+want[:4]+" ") || !strings.HasSuffix(got, want[5:]) {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
	for lines, want := range map[string]string{"7\t1\n8\t1111\n": "Out of range value for column 'n' in row 2 of the file", "7\t1\n8\tx\n": "Incorrect value for column 'n' in row 2 of the file"} {
		if _, err := root.try(file(t, lines) + "t (id, n)"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("LOAD DATA of %q: %v, want %s", lines, err, want)
		}
	}
	if got := fmt.Sprint(root.query("SELECT id, n FROM t ORDER BY id")); got != "[[1 1] [2 100]]" {
		t.Errorf("rows %s", got)
	}
}
