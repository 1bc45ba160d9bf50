package engine

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// grammarShop is a server with a protected and a public table, and an analyst.
func grammarShop(t *testing.T) (root, ann *client) {
	t.Helper()
	i := startWith(t, "", seeded(t, "grammar", 1))
	root = i.root()
	var persons []string
	for n := range 300 {
		persons = append(persons, fmt.Sprintf("(%d,'%c',%d,%d.25)", n, 'a'+n%2, n%100, n%7))
	}
	root.exec("CREATE DATABASE d", "CREATE TABLE d.p (id INT, k VARCHAR(8), x INT, y DECIMAL(8,2))",
		"INSERT INTO d.p VALUES "+strings.Join(persons, ","), "CALL dp_protect('d.p','id','person')",
		"CALL dp_set_budget('d.p','*',1000,1e-6,'never')", `CALL dp_set_domain('d.p','k','["a","b"]')`, `CALL dp_set_domain('d.p','x','{"min":0,"max":100}')`, `CALL dp_set_domain('d.p','y','{"min":0,"max":10}')`,
		"CREATE TABLE d.pub (k INT PRIMARY KEY, v INT, s VARCHAR(20), n DECIMAL(8,2))",
		"INSERT INTO d.pub VALUES (1,7,'a',1.25),(2,8,'b',2.5),(3,NULL,'b',NULL)", "CALL dp_public('d.pub')")
	ann = i.analyst(root, "ann", "d")
	ann.exec("USE d")
	return root, ann
}

func rowsText(rows [][]string) string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, strings.Join(r, ","))
	}
	return strings.Join(lines, ";")
}

// TestGrammarOverTheWire asks for what the parser lacks, as text and, where there is nothing
// against it, prepared.
func TestGrammarOverTheWire(t *testing.T) {
	_, ann := grammarShop(t)
	for _, c := range []struct{ query, want string }{
		{"SELECT @x := 5, @x + 1", "5,6"},
		{"SELECT k, @n := IFNULL(@n, 0) + 1 AS n FROM pub ORDER BY k", "1,1;2,2;3,3"},
		{"DESCRIBE pub 's'", "s,varchar(20),YES,,NULL,"},
		{"SELECT {d '2020-01-01'}, {fn UCASE('a')}, {ts '2020-01-01 10:00:00'}", "2020-01-01,A,2020-01-01 10:00:00"},
		{"SELECT SQL_NO_CACHE k FROM pub USE INDEX (PRIMARY) WHERE k = 1 FOR SHARE", "1"},
		{"SELECT STRAIGHT_JOIN SQL_BIG_RESULT a.k FROM pub a FORCE INDEX FOR JOIN (PRIMARY) JOIN pub b ON a.k = b.k ORDER BY 1 LIMIT 1, 1", "2"},
		{"(SELECT k FROM pub ORDER BY k LIMIT 1)", "1"},
		{"SELECT N'é', 0b11 + 0, ~0, 5--1, 1 /*!99999 + 1 */, 'a%' LIKE 'a\\%', 'ab' LIKE 'a\\%'", "é,3,18446744073709551615,6,1,1,0"},
		{"TABLE pub ORDER BY k LIMIT 1", "1,7,a,1.25"},
		{"VALUES ROW(1, 2), ROW(3, 4)", "1,2;3,4"},
		{"WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT * FROM n", "1;2;3"},
		{"SELECT k FROM pub WHERE k = ANY (SELECT v - 6 FROM pub) AND 1 IS NOT UNKNOWN ORDER BY k", "1;2"},
		{"SELECT CHAR_LENGTH(GROUP_CONCAT(REPEAT('é', 800))) FROM DUAL", "512"},
		{"SELECT SESSION_USER(), SYSTEM_USER()", "ann@%,ann@%"},
		{`SELECT "all" AS metric, COUNT(*) AS value FROM pub`, "all,3"},
		{"SELECT MAKEDATE(2011, 32), PERIOD_DIFF(200802, 200703), STR_TO_DATE('200442 Monday', '%X%V %W'), EXTRACT(WEEK FROM '2019-07-02')", "2011-02-01,11,2004-10-18,26"},
		{"SELECT DATE_ADD('2020-01-01', INTERVAL '1:30' MINUTE_SECOND), INTERVAL(5, 1, 4, 9)", "2020-01-01 00:01:30,2"},
		{"CHECK TABLE d.pub", "d.pub,check,note,The storage engine for the table doesn't support check"},
	} {
		got, err := ann.try(c.query)
		if err != nil || rowsText(got) != c.want && !strings.HasPrefix(c.query, "CHECK") {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.query, rowsText(got), err, c.want)
		}
	}
	ann.exec("DO 1, (2)", "SET ROLE ALL", "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", "COMMIT", "SELECT COUNT(*) INTO @c FROM pub")
	if got := ann.value("SELECT @c"); got != "3" {
		t.Errorf("INTO @c: got %s", got)
	}
	if got := ann.value("SELECT {fn UCASE(?)}", "x"); got != "X" {
		t.Errorf("prepared: got %s", got)
	}
	ann.query("SELECT SQL_CALC_FOUND_ROWS k FROM pub LIMIT 1")
	if got := ann.value("SELECT FOUND_ROWS()"); got != "3" {
		t.Errorf("FOUND_ROWS() after a public query: got %s", got)
	}
	ann.query("SELECT SQL_CALC_FOUND_ROWS k, COUNT(*) FROM p GROUP BY k LIMIT 1")
	if got := ann.value("SELECT FOUND_ROWS()"); got != "2" {
		t.Errorf("FOUND_ROWS() after a private one: got %s", got)
	}
	if got := ann.value("EXPLAIN FORMAT=JSON SELECT COUNT(*) FROM p"); !strings.HasPrefix(got, "{") || !strings.Contains(got, "private statement") {
		t.Errorf("EXPLAIN FORMAT=JSON: %s", got)
	}
}

// TestODBCColumns sends what MariaDB's ODBC driver asks SQLColumns with.
func TestODBCColumns(t *testing.T) {
	_, ann := grammarShop(t)
	text, err := os.ReadFile("mysql/dialect/testdata/odbc_columns.sql")
	if err != nil {
		t.Fatal(err)
	}
	got := ann.query(strings.Replace(string(text), "LIKE 'products'", "LIKE 'pub'", 1))
	want := []string{"k,4,INT,10", "v,4,INT,10", "s,12,VARCHAR,20", "n,3,DECIMAL,8"}
	if len(got) != len(want) {
		t.Fatalf("got %d columns, want %d", len(got), len(want))
	}
	for i, r := range got {
		if short := strings.Join(slices.Concat(r[3:7]), ","); short != want[i] {
			t.Errorf("column %d: got %s, want %s", i, short, want[i])
		}
	}
}

// TestGrammarOfProtectedRows refuses by name what would tell about rows.
func TestGrammarOfProtectedRows(t *testing.T) {
	_, ann := grammarShop(t)
	for query, want := range map[string]string{
		"SELECT @x := x FROM p":                              "@:=()",
		"SELECT COUNT(*) FROM p WHERE (@x := x) > 3":         "@:=()",
		"SELECT COUNT(*) INTO @c FROM p":                     "INTO",
		"SELECT GROUP_CONCAT(x) FROM p":                      "GROUP_CONCAT",
		"SELECT k, GROUP_CONCAT(x) FROM p GROUP BY k":        "GROUP_CONCAT",
		"HANDLER p OPEN":                                     "HANDLER",
		"CHECKSUM TABLE p":                                   "checksum",
		"SELECT COUNT(*) FROM p WHERE ~x > 0":                "~()",
		"SHOW COLUMNS FROM p WHERE EXISTS (SELECT 1 FROM p)": "rows of a protected table",
	} {
		if _, err := ann.try(query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a refusal that names %s", query, err, want)
		}
	}
	if got := rowsText(ann.query("SHOW COLUMNS FROM p LIKE 'k'")); !strings.HasPrefix(got, "k,varchar(8)") {
		t.Errorf("SHOW COLUMNS of a protected table: %s", got)
	}
}

// TestSQLModes changes the session's grammar.
func TestSQLModes(t *testing.T) {
	root, ann := grammarShop(t)
	ann.exec("SET sql_mode = 'ANSI_QUOTES'")
	if got := ann.value(`SELECT "v" FROM "pub" WHERE "k" = 1`); got != "7" {
		t.Errorf("ANSI_QUOTES: %s", got)
	}
	ann.exec("SET sql_mode = 'PIPES_AS_CONCAT'")
	if got := ann.value(`SELECT 'a' || 'b' || "c"`); got != "abc" {
		t.Errorf("PIPES_AS_CONCAT: %s", got)
	}
	ann.exec("SET sql_mode = 'NO_BACKSLASH_ESCAPES'")
	if got := rowsText(ann.query(`SELECT 'c:\dir\' AS x, '\'`)); got != `c:\dir\,\` {
		t.Errorf("NO_BACKSLASH_ESCAPES: %s", got)
	}
	ann.exec("SET sql_mode = 'HIGH_NOT_PRECEDENCE'")
	if got := ann.value("SELECT NOT 1 BETWEEN -5 AND 5"); got != "1" {
		t.Errorf("HIGH_NOT_PRECEDENCE: %s", got)
	}
	ann.exec("SET sql_mode = DEFAULT")
	if got := ann.value("SELECT NOT 1 BETWEEN -5 AND 5"); got != "0" {
		t.Errorf("without HIGH_NOT_PRECEDENCE: %s", got)
	}

	// A view keeps the mode that it was made in.
	root.exec("USE d", "SET sql_mode = 'ANSI'", `CREATE VIEW ansi AS SELECT "k" || 'x' AS "k x" FROM "pub"`, "SET sql_mode = DEFAULT",
		`CREATE VIEW plain AS SELECT 'it\'s' AS s, {d '2020-01-01'} AS d`)
	for _, mode := range []string{"DEFAULT", "'ANSI'", "'NO_BACKSLASH_ESCAPES'"} {
		ann.exec("SET sql_mode = " + mode)
		if got := rowsText(ann.query("SELECT `k x` FROM ansi ORDER BY 1")); got != "1x;2x;3x" {
			t.Errorf("view ansi in %s: %s", mode, got)
		}
		if got := rowsText(ann.query("SELECT * FROM plain")); got != "it's,2020-01-01" {
			t.Errorf("view plain in %s: %s", mode, got)
		}
	}
	root.exec("SET sql_mode = 'NO_BACKSLASH_ESCAPES'")
	root.refused(1644, "45017", `CREATE VIEW b AS SELECT 'a\b'`)
}

// TestRollup compares totals of public rows with what MariaDB 10.11 answers, and has the same over
// protected ones, priced.
func TestRollup(t *testing.T) {
	root, ann := grammarShop(t)
	for _, c := range []struct{ query, want string }{
		{"SELECT s, COUNT(*), SUM(n), AVG(v) FROM pub GROUP BY s WITH ROLLUP", "a,1,1.25,7.0000;b,2,2.50,8.0000;NULL,3,3.75,7.5000"},
		{"SELECT s, v, COUNT(*) FROM pub GROUP BY s, v WITH ROLLUP", "a,7,1;a,NULL,1;b,NULL,1;b,8,1;b,NULL,2;NULL,NULL,3"},
		{"SELECT s, v, GROUPING(s) AS a, GROUPING(s, v) AS b FROM pub GROUP BY s, v WITH ROLLUP ORDER BY b, s, v LIMIT 4", "a,7,0,0;b,NULL,0,0;b,8,0,0;a,NULL,0,1"},
		{"SELECT IF(GROUPING(s), 'all', s) AS g, COUNT(*) AS c FROM pub GROUP BY s WITH ROLLUP HAVING c > 1", "b,2;all,3"},
		{"SELECT UPPER(s) AS u, COUNT(*) FROM pub GROUP BY u WITH ROLLUP", "A,1;B,2;NULL,3"},
		{"SELECT s FROM pub GROUP BY s WITH ROLLUP", "a;b;NULL"},
		{"SELECT COUNT(*) FROM (SELECT s, COUNT(*) FROM pub GROUP BY s WITH ROLLUP) t", "3"},
		{"SELECT k, COUNT(*), SUM(x), AVG(y) FROM p GROUP BY k WITH ROLLUP", "a,2,30,2.000000;b,1,30,3.250000;NULL,3,60,2.416667"},
	} {
		got, err := ann.try(c.query)
		if err != nil || rowsText(got) != c.want && !strings.Contains(c.query, "FROM p ") {
			t.Errorf("%s:\n got %s, %v\nwant %s", c.query, rowsText(got), err, c.want)
		}
		if strings.Contains(c.query, "FROM p ") && len(got) != 3 {
			t.Errorf("%s: got %v", c.query, got)
		}
	}
	if got := rowsText(ann.query("SELECT s, COUNT(*) FROM pub WHERE k > ? GROUP BY s WITH ROLLUP HAVING COUNT(*) > ?", 1, 0)); got != "b,2;NULL,2" {
		t.Errorf("prepared totals: %s", got)
	}
	if got := ann.query("SELECT k, COUNT(*) FROM p WHERE x > ? GROUP BY k WITH ROLLUP", 3); len(got) != 3 {
		t.Errorf("prepared private totals: %v", got)
	}
	const query = "SELECT k, COUNT(*) FROM p WHERE x > 5 GROUP BY k WITH ROLLUP"
	plan := rowsText(ann.query("EXPLAIN " + query))
	if n := strings.Count(plan, "release "); n != 2 {
		t.Errorf("EXPLAIN shows %d releases, want 2:\n%s", n, plan)
	}
	spent := func() float64 {
		x, err := strconv.ParseFloat(root.value("SELECT SUM(rho) FROM dp.ledger WHERE entry = 'charge'"), 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	before := spent()
	first := rowsText(ann.query(query))
	once := spent()
	if once <= before {
		t.Error("the totals were not charged")
	}
	if again := rowsText(ann.query(query)); again != first || spent() != once {
		t.Errorf("asked again: %s for %s, charged %g", again, first, spent()-once)
	}
	if _, err := ann.try("SELECT k, DP_MEAN(x) AS m, DP_STDERR(m) AS e FROM p GROUP BY k WITH ROLLUP"); err != nil {
		t.Errorf("error bars of totals: %v", err)
	}
	if e, ok := lastError(ann, "SELECT *, COUNT(*) FROM pub GROUP BY s WITH ROLLUP"); !ok || e.Number != 1644 {
		t.Errorf("a star with totals: %v", e)
	}
}

func lastError(c *client, query string) (*mysql.MySQLError, bool) {
	_, err := c.try(query)
	e, ok := err.(*mysql.MySQLError)
	return e, ok
}
