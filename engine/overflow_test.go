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
