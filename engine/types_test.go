package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestResultTypes compares the types of aggregates, and their digits, with what MySQL documents:
// SUM and AVG of whole numbers and DECIMALs are DECIMALs, on public rows, over answers, and as
// private answers.
func TestResultTypes(t *testing.T) {
	_, ann := grammarShop(t)
	for _, c := range []struct{ query, types, want string }{
		{"SELECT SUM(v), AVG(v), SUM(n), AVG(n), AVG(DISTINCT n) FROM pub", "DECIMAL DECIMAL DECIMAL DECIMAL DECIMAL", "15,7.5000,3.75,1.875000,1.875000"},
		{"SELECT SUM(v) / 2, AVG(n) * 2, ROUND(AVG(n), 1) FROM pub", "DECIMAL DECIMAL DECIMAL", "7.5000,3.750000,1.9"},
		{"SELECT SUM(CASE WHEN k > 1 THEN n ELSE 0 END), SUM(IF(k > 1, 1, 0)), SUM(k > 1) FROM pub", "DECIMAL DECIMAL DECIMAL", "2.50,2,2"},
		{"SELECT AVG(CAST(v AS DOUBLE)), STD(k), VAR_POP(k) FROM pub", "DOUBLE DOUBLE DOUBLE", "7.5,0.816496580927726,0.6666666666666666"},
		{"SELECT s, SUM(v) FROM pub GROUP BY s ORDER BY s", "VARCHAR DECIMAL", "a,7;b,8"},
		{"SELECT AVG(c), SUM(c), VAR_POP(c) FROM (SELECT 1 AS c UNION ALL SELECT 4) t", "DECIMAL DECIMAL DOUBLE", "2.5000,5,2.25"},
		{"SELECT SUM(v) OVER () FROM pub LIMIT 1", "DECIMAL", "15"},
		{"SELECT SUM(x), AVG(x), SUM(y), AVG(y), STDDEV(x), DP_MEAN(x) FROM p", "DECIMAL DECIMAL DECIMAL DECIMAL DOUBLE DOUBLE", ""},
		{"SELECT AVG(c) FROM (SELECT k, COUNT(*) AS c FROM p GROUP BY k) t", "DECIMAL", ""},
	} {
		rows, err := ann.conn.QueryContext(context.Background(), c.query)
		if err != nil {
			t.Errorf("%s: %v", c.query, err)
			continue
		}
		columns, err := rows.ColumnTypes()
		if err != nil {
			t.Fatal(err)
		}
		var types []string
		for _, x := range columns {
			types = append(types, x.DatabaseTypeName())
		}
		rows.Close()
		if got := strings.Join(types, " "); got != c.types {
			t.Errorf("%s: types %s, want %s", c.query, got, c.types)
		}
		if got := rowsText(ann.query(c.query)); c.want != "" && got != c.want {
			t.Errorf("%s: got %s, want %s", c.query, got, c.want)
		}
	}
	// Private answers have MySQL's digits, and not those of the noise.
	ann.exec("SET dp_epsilon = 8")
	for i, scale := range []int{0, 4, 2, 6} {
		got := ann.query("SELECT SUM(x), AVG(x), SUM(y), AVG(y) FROM p")[0][i]
		if _, digits, _ := strings.Cut(got, "."); len(digits) != scale {
			t.Errorf("private answer %d is %s, want %d digits", i, got, scale)
		}
	}
}

// TestDatesThatAreNotKept: a date that the store would keep as another one, or as NULL, is refused
// with its value and column, whichever way it comes and whatever sql_mode says.
func TestDatesThatAreNotKept(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE s", "USE s", "CREATE TABLE z (id INT, d DATE NOT NULL, e DATETIME(3), f TIMESTAMP NULL)", "CREATE TABLE k (id INT PRIMARY KEY, d DATE)",
		"INSERT INTO k VALUES (1, '2024-01-01')", "CREATE TABLE none (x INT)", "CREATE TABLE some (x INT)", "INSERT INTO some VALUES (1)")
	for _, mode := range []string{"STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE", "STRICT_TRANS_TABLES", ""} {
		root.exec("SET sql_mode = '"+mode+"'", "DELETE FROM z", "INSERT INTO z VALUES (4, '2024-01-01', NULL, NULL)")
		for _, v := range []string{"'0000-00-00'", "'2024-00-10'", "'2024-01-00'", "'0000-01-01'", "0", "'0000-00-00 00:00:00'", "'2024-02-30'", "'00-00-00'", "0.0", "FALSE"} {
			for _, q := range []string{
				"INSERT INTO z (id, d) VALUES (1, " + v + ")", "INSERT INTO z (id, d, e) VALUES (2, '2024-01-01', " + v + ")", "INSERT INTO z (id, d, f) VALUES (3, '2024-01-01', " + v + ")",
				"UPDATE z SET d = " + v, "UPDATE z SET e = " + v, "UPDATE z SET f = " + v, "INSERT IGNORE INTO z (id, d) VALUES (5, " + v + ")", "REPLACE INTO k VALUES (1, " + v + ")",
				"INSERT INTO k VALUES (1, '2024-01-02') ON DUPLICATE KEY UPDATE d = " + v, "INSERT INTO z (id, d) SELECT 1, " + v,
				"CREATE TABLE dd (id INT, d DATE DEFAULT " + v + ")", "ALTER TABLE z ALTER COLUMN e SET DEFAULT " + v, "ALTER TABLE none ADD COLUMN d DATE NOT NULL DEFAULT " + v,
				"ALTER TABLE none ADD COLUMN d TIMESTAMP NULL DEFAULT " + v,
			} {
				if rows, err := root.try(q); err == nil {
					t.Errorf("%q: %s: %v", mode, q, rows)
				}
			}
			if text, ok := strings.CutPrefix(v, "'"); ok {
				if _, err := root.try("INSERT INTO z (id, d) VALUES (?, ?)", 1, strings.TrimSuffix(text, "'")); err == nil {
					t.Errorf("%q: %s was taken into a prepared statement", mode, v)
				}
			}
		}
		for _, q := range []string{file(t, "1\t0000-00-00\n") + "z (id, d)", "CREATE TABLE cs SELECT CAST('0000-00-00' AS DATE) x FROM k", "ALTER TABLE some ADD COLUMN d DATE NOT NULL",
			"INSERT INTO z (id, d) SELECT 1, CAST('0000-00-00' AS DATETIME)"} {
			if rows, err := root.try(q); err == nil {
				t.Errorf("%q: %s: %v", mode, q, rows)
			}
		}
		root.exec("DROP TABLE IF EXISTS cs", "ALTER TABLE none ADD COLUMN d DATE NOT NULL", "ALTER TABLE none DROP COLUMN d")
		for q, want := range map[string]string{"SELECT * FROM z": "[[4 2024-01-01 NULL NULL]]", "SELECT * FROM k": "[[1 2024-01-01]]", "SELECT * FROM some": "[[1]]", "SHOW TABLES": "[[k] [none] [some] [z]]"} {
			if got := fmt.Sprint(root.query(q)); got != want {
				t.Errorf("%q: %s gave %s, want %s", mode, q, got, want)
			}
		}
	}
	root.refusedFor(map[string]string{
		"INSERT INTO z (id, d) VALUES (1, '0000-00-00')":        "Incorrect date value: '0000-00-00' for column 'd'",
		"INSERT INTO z (id, d, e) VALUES (1, '2024-01-01', 0)":  "Incorrect datetime value: '0000-00-00 00:00:00.000' for column 'e'",
		"UPDATE z SET f = '0000-00-00'":                         "Incorrect timestamp value: '0000-00-00 00:00:00' for column 'f'",
		"CREATE TABLE dd (id INT, d DATE DEFAULT '0000-00-00')": "Invalid default value for 'd'",
	})
	root.refused(1292, "22007", "INSERT INTO z (id, d) VALUES (1, '0000-00-00')")
	root.refused(1067, "42000", "ALTER TABLE z ALTER COLUMN e SET DEFAULT '0000-00-00'")
}

// TestBlanksOfChar: a CHAR has no blanks at its end, whichever way it comes, so that keys and
// persons do not differ by them; a VARCHAR keeps them.
func TestBlanksOfChar(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE s", "USE s", "CREATE TABLE c (id INT PRIMARY KEY, c CHAR(4), v VARCHAR(4), UNIQUE KEY u (c))", "INSERT INTO c VALUES (1, 'ab ', 'ab ')")
	same := func(query, want string) {
		t.Helper()
		if got := fmt.Sprint(root.query(query)); got != want {
			t.Errorf("%s gave %s, want %s", query, got, want)
		}
	}
	const read = "SELECT CONCAT(c, '|'), CONCAT(v, '|') FROM c ORDER BY id"
	same(read, "[[ab| ab |]]")
	root.refused(1062, "23000", "INSERT INTO c VALUES (2, 'ab', 'x')")
	root.refused(1062, "23000", "INSERT INTO c VALUES (2, 'ab  ', 'x')")
	root.exec("INSERT INTO c VALUES (2, 'ab ', 'y') ON DUPLICATE KEY UPDATE v = 'z ', c = 'cd '", "INSERT IGNORE INTO c VALUES (3, 'cd ', '')", "REPLACE INTO c VALUES (4, 'cd  ', 'w ')",
		file(t, "5\tef  \tef \n")+"c")
	same(read, "[[cd| w |] [ef| ef |]]")
	root.refused(1062, "23000", "UPDATE c SET c = 'ef ' WHERE id = 4")
	root.exec("UPDATE c SET c = 'x ' WHERE id = 4", "UPDATE c SET c = 'ef  ' WHERE id = 5")
	same(read, "[[x| w |] [ef| ef |]]")
	root.exec("CREATE TABLE d SELECT id, c, v FROM c", "INSERT INTO d VALUES (6, 'g ', 'g ')", "INSERT INTO d SELECT 7, v, v FROM c WHERE id = 5")
	same("SELECT CONCAT(c, '|'), CONCAT(v, '|') FROM d ORDER BY id", "[[x| w |] [ef| ef |] [g| g |] [ef| ef |]]")
	root.exec("ALTER TABLE d MODIFY v CHAR(4), ADD COLUMN n CHAR(3) NOT NULL DEFAULT 'q '")
	same("SELECT CONCAT(c, '|'), CONCAT(v, '|'), CONCAT(n, '|') FROM d ORDER BY id", "[[x| w| q|] [ef| ef| q|] [g| g| q|] [ef| ef| q|]]")
	// A person with and without blanks is one.
	root.exec("CREATE TABLE own (person CHAR(8), kept VARCHAR(8))", "CALL dp_protect('s.own', 'person', 'p')", "CALL dp_set_budget('s.own', '*', 100, 1e-4, 'never')")
	for n := range 20 {
		root.exec(fmt.Sprintf("INSERT INTO own VALUES ('p%[1]d', 'p%[1]d'), ('p%[1]d ', 'p%[1]d '), ('p%[1]d  ', 'p%[1]d  ')", n))
	}
	root.exec("SET dp_raw = ON")
	same("SELECT COUNT(DISTINCT person), COUNT(DISTINCT kept) FROM own", "[[20 60]]")
}

// TestBitsOfBytes: BIT_COUNT counts those of binary texts, and of the number that another text is.
func TestBitsOfBytes(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE b", "USE b", "CREATE TABLE t (v VARBINARY(9), b BLOB, d BIT(7), t TEXT)", "INSERT INTO t VALUES ('123', '123', b'111', '123')")
	if got := rowsText(root.query("SELECT BIT_COUNT(v), BIT_COUNT(b), BIT_COUNT(d), BIT_COUNT(t), BIT_COUNT(X'ff'), BIT_COUNT(BINARY '123'), BIT_COUNT(7.5), BIT_COUNT(NULL) FROM t")); got != "10,10,3,6,8,10,1,NULL" {
		t.Error(got)
	}
}

// TestTimesInJSON: dates and times that are cast to JSON are texts of all digits, which JSON_TYPE
// tells from others.
func TestTimesInJSON(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE j", "USE j", "CREATE TABLE t (id INT, d DATE, m DATETIME, s TIMESTAMP(3), t TIME, y YEAR)",
		"INSERT INTO t VALUES (1, '2020-02-03', '2020-02-03 04:05:06', '2020-02-03 04:05:06.789', '10:00:00', 2020), (2, NULL, NULL, NULL, NULL, NULL)")
	for q, want := range map[string]string{
		"SELECT CAST(d AS JSON), CAST(m AS JSON), CAST(s AS JSON), CAST(t AS JSON), CAST(y AS JSON) FROM t ORDER BY id":                                    `"2020-02-03","2020-02-03 04:05:06.000000","2020-02-03 04:05:06.789000","10:00:00.000000",2020;NULL,NULL,NULL,NULL,NULL`,
		"SELECT JSON_TYPE(CAST(d AS JSON)), JSON_TYPE(CAST(m AS JSON)), JSON_TYPE(CAST(s AS JSON)), JSON_TYPE(CAST(t AS JSON)) FROM t ORDER BY id":         "DATE,DATETIME,DATETIME,TIME;NULL,NULL,NULL,NULL",
		"SELECT JSON_TYPE(CAST(DATE '2001-01-01' AS JSON)), CAST(TIME '-30:00:00.5' AS JSON), JSON_UNQUOTE(CAST(TIMESTAMP '2001-01-01 10:11:12' AS JSON))": `DATE,"-30:00:00.500000",2001-01-01 10:11:12.000000`,
	} {
		if got := rowsText(root.query(q)); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
}

// TestZeroBytesInTexts: a text keeps its zero bytes on every way into a column and out of it, and
// compares with them.
func TestZeroBytesInTexts(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE z", "USE z")
	for _, typ := range []string{"CHAR(9)", "VARCHAR(9)", "TEXT", "LONGTEXT", "VARCHAR(9) COLLATE utf8mb4_bin", "VARCHAR(9) COLLATE utf8mb4_general_ci", "VARCHAR(9) COLLATE utf8mb4_0900_ai_ci",
		"VARCHAR(9) CHARACTER SET ascii", "VARCHAR(9) CHARACTER SET latin1", "ENUM('a\\0b','a\\0','a\\0c','\\0')", "SET('a\\0b','a\\0','a\\0c','\\0')", "VARBINARY(9)", "BLOB"} {
		key := ", UNIQUE (s)"
		if typ == "TEXT" || typ == "LONGTEXT" || typ == "BLOB" {
			key = ", UNIQUE (s(9))"
		}
		root.exec("DROP TABLE IF EXISTS t, u", "CREATE TABLE t (i INT PRIMARY KEY, s "+typ+key+")", "INSERT INTO t VALUES (1, 'a\\0b')", "INSERT INTO t SELECT 2, CONCAT('a', CHAR(0 USING utf8mb4))",
			"INSERT INTO t VALUES (4, 'a\\0b') ON DUPLICATE KEY UPDATE i = 3, s = 'a\\0c'", "REPLACE INTO t VALUES (4, '\\0')")
		root.query("INSERT INTO t VALUES (?, ?)", 5, "a\x00b")
		root.exec("UPDATE t SET s = NULL WHERE i = 5", "UPDATE t SET s = 'a\\0b' WHERE i = 5", "CREATE TABLE u (i INT, s "+typ+", d VARCHAR(5) DEFAULT 'x\\0y')", "INSERT INTO u (i, s) SELECT a.i, a.s FROM t a, t b, t c, t d, t e")
		root.refused(1062, "", "INSERT INTO t VALUES (9, 'a\\0')")
		for _, c := range []struct {
			query, want string
			args        []any
		}{
			{"SELECT i, HEX(s), LENGTH(s) FROM t ORDER BY i", "2,6100,2;3,610063,3;4,00,1;5,610062,3", nil},
			{"SELECT i FROM t WHERE s = 'a\\0'", "2", nil},
			{"SELECT i FROM t WHERE s = ?", "3", []any{"a\x00c"}},
			{"SELECT i FROM t WHERE s IN ('a', 'a\\0b', ?) ORDER BY i", "4;5", []any{"\x00"}},
			{"SELECT i FROM t WHERE CONCAT(s, '') > 'a\\0b'", "3", nil},
			{"SELECT i FROM t WHERE s LIKE 'a\\0_' ORDER BY i", "3;5", nil},
			{"SELECT i FROM t ORDER BY CONCAT(s, '')", "4;2;5;3", nil},
			{"SELECT HEX(MIN(CONCAT(s, ''))), HEX(MAX(CONCAT(s, ''))), COUNT(DISTINCT s) FROM t", "00,610063,4", nil},
			{"SELECT HEX(s), COUNT(*) FROM u GROUP BY s ORDER BY 1", "00,256;6100,256;610062,256;610063,256", nil},
			{"SELECT COUNT(*), MIN(HEX(d)), MAX(LENGTH(d)) FROM u JOIN t ON t.s = u.s", "1024,780079,3", nil},
			{"SELECT HEX(CONCAT(s, '\\0')), HEX(SUBSTRING(s, 2)), LOCATE('\\0', s), HEX(REPLACE(s, '\\0', 'x')), HEX(REVERSE(s)) FROM t WHERE i = 3", "61006300,0063,2,617863,630061", nil},
			{"SELECT HEX(GROUP_CONCAT(s ORDER BY i SEPARATOR '|')) FROM t", "61007C6100637C007C610062", nil},
		} {
			if got := rowsText(root.query(c.query, c.args...)); got != c.want {
				t.Errorf("%s: %s: got %s, want %s", typ, c.query, got, c.want)
			}
		}
		for what, args := range map[string][]any{"text": nil, "prepared": {3}} {
			if got := root.query("SELECT s FROM t WHERE i = "+map[string]string{"text": "3", "prepared": "?"}[what], args...)[0][0]; got != "a\x00c" {
				t.Errorf("%s: %s: %q", typ, what, got)
			}
		}
	}
}

// TestSelectedTables: the columns that CREATE TABLE … SELECT makes of sums and means have MySQL's
// types, and one that has no place is named.
func TestSelectedTables(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE s", "USE s", "CREATE TABLE a (x INT)", "INSERT INTO a VALUES (1), (2)", "CALL dp_public('s.a')",
		"CREATE TABLE d AS SELECT SUM(CAST(x AS DECIMAL(10,2))) AS s, AVG(CAST(x AS DECIMAL(10,2))) AS m, SUM(x) AS i FROM a")
	for q, want := range map[string]string{
		"SELECT * FROM d": "[[3.00 1.500000 3]]",
		"SELECT column_type FROM information_schema.columns WHERE table_name = 'd' ORDER BY ordinal_position": "[[decimal(32,2)] [decimal(14,6)] [decimal(32,0)]]",
	} {
		if got := fmt.Sprint(root.query(q)); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
	if e := root.refused(1644, "45017", "CREATE TABLE e AS SELECT SUM(CAST(x AS DECIMAL(17,2))) AS b FROM a"); !strings.Contains(e.Message, "column b ") {
		t.Error(e.Message)
	}
	root.exec("CREATE TABLE n (x INT NOT NULL, y DOUBLE NOT NULL, z VARCHAR(5) NOT NULL)", "CALL dp_public('s.n')",
		"CREATE TABLE f AS SELECT SUM(x) AS s, MAX(x) AS m, MIN(z) AS z, SUM(y) AS y, SUM(x) + 1 AS p, IFNULL(SUM(x), 0) AS i, COUNT(*) AS c FROM n",
		"CREATE TABLE g AS SELECT n.x, o.x + 1 AS o, d.m, IFNULL(d.m, 0) AS i FROM n o LEFT JOIN n ON n.x = o.x CROSS JOIN (SELECT MAX(x) AS m FROM n) d",
		"CREATE TABLE h AS SELECT n.x, a.x AS a FROM a LEFT JOIN (SELECT x FROM n) n ON n.x = a.x",
		"CREATE TABLE IF NOT EXISTS f AS SELECT 7 AS s", "CREATE TABLE j AS SELECT x, COUNT(*) AS c FROM a GROUP BY x WITH ROLLUP")
	for q, want := range map[string]string{
		"SELECT * FROM f":               "[[NULL NULL NULL NULL NULL 0 0]]",
		"SELECT * FROM h":               "[[NULL 1] [NULL 2]]",
		"SELECT * FROM j ORDER BY c, x": "[[1 1] [2 1] [NULL 2]]",
		"SELECT table_name, GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name IN ('f', 'g', 'h') AND is_nullable = 'NO' GROUP BY 1": "[[f i,c] [g o,i]]",
	} {
		if got := fmt.Sprint(root.query(q)); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
	// one whose rows fail, the first or a late one, is not there afterwards
	root.exec("CREATE TABLE many (x INT)", "INSERT INTO many WITH RECURSIVE r AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM r WHERE i < 900) SELECT i FROM r",
		"INSERT INTO many SELECT x + 900 * y FROM many JOIN (SELECT x AS y FROM many WHERE x < 21) ys", "CALL dp_public('s.many')", "SET autocommit = 0")
	for _, q := range []string{"CREATE TABLE gone AS SELECT 1 / (x - 1) AS q FROM a", "CREATE TABLE gone (q INT UNIQUE) AS SELECT x DIV 19000 AS q FROM many", "CREATE TABLE gone (s INT NOT NULL) AS SELECT MAX(x) AS s FROM n"} {
		if _, err := root.try(q); err == nil {
			t.Errorf("%s: want an error", q)
		}
		root.exec("CREATE TABLE gone (x INT)", "DROP TABLE gone")
	}
	root.refused(1050, "42S01", "CREATE TABLE a AS SELECT 1 / 0 AS q")
	if got := fmt.Sprint(root.query("SELECT COUNT(*) FROM a")); got != "[[2]]" {
		t.Errorf("a table that was there before: got %s", got)
	}
}

// TestLongDecimalsCompare: DECIMALs that have no room in 38 digits together are compared by all of
// their digits.
func TestLongDecimalsCompare(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE s", "USE s", "CREATE TABLE a (id INT, x DECIMAL(38,0), y DECIMAL(38,20), z DECIMAL(30,30))",
		"INSERT INTO a VALUES (1, 900719925474099300, 900719925474099299.99999999999999999999, 0.1), (2, -1, -1.00000000000000000001, -0.000000000000000000000000000001), "+
			"(3, 7, 7, 0), (4, NULL, 0.5, 0.5), (5, -12345678901234567890123456789012345678, -0.5, -0.5)", "CALL dp_public('s.a')")
	for q, want := range map[string]string{
		"SELECT id, x > y, x = y, x <=> y, x IN (y, 2), x BETWEEN y AND y + 1, NOT x <= y FROM a ORDER BY id": "[[1 1 0 0 0 1 1] [2 1 0 0 0 1 1] [3 0 1 1 1 1 0] [4 NULL NULL 0 NULL NULL NULL] [5 0 0 0 0 0 0]]",
		"SELECT id, y > z, z >= y, x < z FROM a ORDER BY id":                                                  "[[1 1 0 0] [2 0 1 1] [3 1 0 0] [4 0 1 NULL] [5 0 1 1]]",
		"SELECT l.id, r.id FROM a l JOIN a r ON l.x = r.y":                                                    "[[3 3]]",
		"SELECT id FROM a WHERE x IN (SELECT y FROM a)":                                                       "[[3]]",
		"SELECT id FROM a GROUP BY id HAVING SUM(x) > SUM(y) ORDER BY id":                                     "[[1] [2]]",
		"SELECT COUNT(*) FROM a WHERE x > (SELECT MAX(y) FROM a) AND id = 1":                                  "[[1]]",
		"SELECT COUNT(*) FROM a WHERE x > 900719925474099299.99999999999999999999":                            "[[1]]",
	} {
		if got := fmt.Sprint(root.query(q)); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
}

// TestAveragesAreExact: of numbers beyond the digits of a DOUBLE, too, and beside their sums.
func TestAveragesAreExact(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE s", "USE s", "CREATE TABLE a (g INT, x BIGINT, d DECIMAL(18,2) NOT NULL, e DECIMAL(5,2))",
		"INSERT INTO a VALUES (1, 9007199254740993, 9007199254740993.01, NULL), (1, 9007199254740993, -9007199254740992.02, 0.01), (2, NULL, 5, 0.02), (1, NULL, 0, 0.00)", "CALL dp_public('s.a')")
	for q, want := range map[string]string{
		"SELECT g, AVG(x), SUM(x), AVG(d), SUM(d), COUNT(*), AVG(e), COUNT(e) FROM a GROUP BY g ORDER BY AVG(x) DESC": "[[1 9007199254740993.0000 18014398509481986 0.330000 0.99 3 0.005000 2] [2 NULL NULL 5.000000 5.00 1 0.020000 1]]",
		"SELECT AVG(x), AVG(d) FROM a WHERE d > 1": "[[9007199254740993.0000 4503599627370499.005000]]",
		"SELECT AVG(x), AVG(e) FROM a WHERE g = 3": "[[NULL NULL]]",
	} {
		if got := fmt.Sprint(root.query(q)); got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
}
