package engine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestBeyondDouble: numbers beyond DOUBLE end in MySQL's errors or in a refusal, for every row and
// before the charge, and never in an internal error.
func TestBeyondDouble(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.p (uid BIGINT, x DOUBLE)", "INSERT INTO s.p VALUES (42, 1), (1, 2), (2, 3)", "CREATE TABLE s.q (uid BIGINT, x DOUBLE)",
		"CALL dp_public('s.p')", "CALL dp_protect('s.q', 'uid', 'p')", "CALL dp_set_budget('s.q', '*', 100, 0.001, 'never')")
	ann := i.analyst(root, "ann", "s")
	for _, query := range []string{
		"SELECT 1e999999999 + 1", "SELECT -1e999999999", "SET @a = 1e999999999", "SELECT x FROM s.p WHERE x < 1e999999999", "SELECT COUNT(*) FROM s.q WHERE x < 1e999999999",
		"INSERT INTO s.p VALUES (1, 1e999999999)",
	} {
		if e := root.refused(1367, "22007", query); e.Message != "Illegal double '1e999999999' value found during parsing" {
			t.Errorf("%s: %s", query, e.Message)
		}
	}
	for query, want := range map[string]string{"SELECT CAST('1e999999999' AS SIGNED)": "1", "SELECT 1e-999999999": "0"} {
		if got := ann.value(query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	ann.refused(1690, "22003", "SELECT STD(IF(uid = 42, 1e308, 1)) FROM s.p")
	before := fmt.Sprint(root.query("SELECT * FROM dp.budgets"))
	var texts []string
	for _, rows := range []string{"", "INSERT INTO s.q VALUES (1, 1), (2, 2)", "INSERT INTO s.q VALUES (42, 1)"} {
		if rows != "" {
			root.exec(rows)
		}
		for _, call := range []string{"STD(IF(uid = 42, 1e308, 1))", "SUM(IF(uid = 42, 1e308, 1))", "AVG(IF(uid = 42, 1e-250, 0))"} {
			texts = append(texts, ann.refused(1644, "45006", "SELECT "+call+" FROM s.q").Message)
		}
	}
	if got := strings.Join(texts[:3], "|"); got != strings.Join(texts[3:6], "|") || got != strings.Join(texts[6:], "|") {
		t.Errorf("the refusals depend on rows: %q", texts)
	}
	if after := fmt.Sprint(root.query("SELECT * FROM dp.budgets")); after != before {
		t.Errorf("refused queries were charged: %s, before %s", after, before)
	}
}

// TestUncompress: bytes that COMPRESS has not made are NULL with MySQL's warning, and the length
// that they say takes no memory.
func TestUncompress(t *testing.T) {
	i := start(t, "")
	root := i.root()
	const abc = "789C4B4C4A0600024D0127"
	for _, c := range []struct{ bytes, want, warning string }{
		{"03000000" + abc, "abc", ""},
		{"FF000000" + abc, "abc", ""},
		{"", "", ""},
		{"02000000" + abc, "NULL", "1258 ZLIB: Not enough room in the output buffer (probably, length of uncompressed data was corrupted)"},
		{"03000000" + abc[:12], "NULL", "1259 ZLIB: Input data corrupted"},
		{"0300000000", "NULL", "1259 ZLIB: Input data corrupted"},
		{"0300", "NULL", "1259 ZLIB: Input data corrupted"},
		{"FFFFFF3F" + abc, "NULL", "1256 Uncompressed data size too large; the maximum size is 67108864 (probably, length of uncompressed data was corrupted)"},
		{"FFFFFFFF" + abc, "NULL", "1256 Uncompressed data size too large; the maximum size is 67108864 (probably, length of uncompressed data was corrupted)"},
	} {
		if got := root.value("SELECT UNCOMPRESS(X'" + c.bytes + "')"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.bytes, got, c.want)
		}
		if got := fmt.Sprint(root.query("SHOW WARNINGS")); !strings.Contains(got, c.warning) || c.warning == "" && got != "[]" {
			t.Errorf("%s: got the warnings %s, want %q", c.bytes, got, c.warning)
		}
	}
	if got := root.value("SELECT UNCOMPRESS(COMPRESS(REPEAT('ab', 100000))) = REPEAT('ab', 100000)"); got != "1" {
		t.Errorf("what was compressed: %s", got)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 { // each says that 60 MiB come out
		root.value("SELECT UNCOMPRESS(X'0000C003" + abc + "')")
	}
	runtime.ReadMemStats(&after)
	if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 100 {
		t.Errorf("20 forged lengths took %d MiB", taken)
	}
}

// TestDivisionByZero: a statement that writes rows fails where it divides by zero, in the default
// sql_mode, and leaves them as they are. Under IGNORE, and elsewhere, it is NULL.
func TestDivisionByZero(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (a INT, b DECIMAL(10,2), x DOUBLE, s VARCHAR(9))", "CALL dp_public('c.t')",
		"INSERT INTO t VALUES (1, 2, 3, '4'), (0, 0, 0, '0'), (NULL, NULL, NULL, NULL)")
	const all = "SELECT a, b, x, s FROM t ORDER BY a"
	rows := rowsText(root.query(all))
	for _, q := range []string{
		"INSERT INTO t (a) VALUES (9), (1/0)", "INSERT INTO t (a) VALUES (1 DIV 0)", "INSERT INTO t (b) VALUES (MOD(1.5, 0))", "INSERT INTO t (x) VALUES (1e0 / 0)",
		"INSERT INTO t (x) VALUES ('1' / '0')", "INSERT INTO t (x) VALUES (1e0 % 0)", "REPLACE INTO t (x) VALUES (1 / 0)",
		"INSERT INTO t (x) SELECT 1/a FROM t", "INSERT INTO t (a) SELECT a FROM t WHERE 1/x > 0", "INSERT INTO t (a) SELECT COUNT(*) DIV 0 FROM t",
		"UPDATE t SET b = 1/a", "UPDATE t SET x = 5 WHERE 1/b > 0", "UPDATE t SET x = 1/s", "UPDATE t SET x = (SELECT MAX(1/y.x) FROM (SELECT * FROM t) y)",
		"UPDATE t JOIN t y ON t.a = y.a SET t.b = 1 % y.b", "DELETE FROM t WHERE 1/a = 5", "CREATE TABLE u AS SELECT 1/a AS q FROM t",
	} {
		root.refused(1365, "22012", q)
	}
	if got := rowsText(root.query(all)); got != rows {
		t.Errorf("%s, want %s", got, rows)
	}
	root.exec("DROP TABLE IF EXISTS u", "INSERT INTO t (a, b) VALUES (1/NULL, NULL/0)", "DELETE FROM t WHERE a IS NULL", "UPDATE t SET b = CASE WHEN a = 0 THEN 7 ELSE 1/a END",
		"CREATE TABLE u AS SELECT 1/(a + 1) AS q, a * 1.5 AS p FROM t")
	if got, want := rowsText(root.query("SELECT q, p FROM u ORDER BY q")), "0.5000,1.5;1.0000,0.0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	root.exec("INSERT IGNORE INTO t (a) VALUES (1/0)", "UPDATE IGNORE t SET x = 1/b WHERE a = 0", "SET sql_mode = 'STRICT_TRANS_TABLES'", "UPDATE t SET s = 1/a")
	if got, want := rowsText(root.query("SELECT a, b, ROUND(x, 2), s, 1/a FROM t ORDER BY a")), "NULL,NULL,NULL,NULL,NULL;0,7.00,0.14,NULL,NULL;1,1.00,3,1.0000,1.0000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
