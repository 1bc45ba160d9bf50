package engine

import (
	"strings"
	"testing"
)

// TestLongTextsAgree: what makes texts longer gives the same text, or NULL with the same warning,
// whether the store could run the statement or not.
func TestLongTextsAgree(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE l", "CREATE TABLE l.t (s TEXT, v VARCHAR(50), n INT)", "CALL dp_public('l.t')",
		"INSERT INTO l.t VALUES ('"+strings.Repeat("a", 40_000)+"', 'short', 10000)", "INSERT INTO l.t VALUES ('b', 'c', 2)")
	ann := i.analyst(root, "ann", "l")
	for text, want := range map[string]string{
		"CONCAT(s, s)":                  "80000",
		"CONCAT(v, '-', n)":             "11",
		"CONCAT(CONCAT(s, v), s, 'x')":  "80006",
		"CONCAT_WS('-', s, v, s)":       "80007",
		"REPLACE(s, 'a', 'bb')":         "80000",
		"REPLACE(v, 'short', s)":        "40000",
		"REPEAT(v, 20000)":              "100000",
		"REPEAT(v, n)":                  "50000",
		"REPEAT(v, 100)":                "500",
		"REPEAT(s, 2000)":               "NULL",
		"RPAD(v, 70000, 'x')":           "70000",
		"LPAD(v, n * 7, 'x')":           "70000",
		"LPAD(v, 100, 'xy')":            "100",
		"SPACE(n * 7)":                  "70000",
		"SPACE(20)":                     "20",
		"HEX(s)":                        "80000",
		"HEX(LEFT(s, 10))":              "20",
		"IF(n > 5, CONCAT(s, s), 'no')": "80000",
		"RPAD(v, 2000000000, 'x')":      "NULL",
		"CONCAT(UPPER(s), LOWER(s))":    "80000",
		"REPEAT(SUBSTRING(s, 2, 4), 9)": "36",
		"CONCAT(LEFT(s, 30000), v)":     "30005",
		"CONCAT(IFNULL(v, ''), s)":      "40005",
	} {
		for _, c := range []struct{ name, where string }{{"", "v = 'short'"}, {", not in the store", "v = 'short' AND SOUNDEX(v) <> 'x'"}} {
			rows := ann.query("SELECT LENGTH(" + text + ") FROM l.t WHERE " + c.where)
			warned := len(ann.query("SHOW WARNINGS"))
			if got := rows[0][0]; got != want || (warned > 0) != (want == "NULL") {
				t.Errorf("%s%s: got %s with %d warnings, want %s", text, c.name, got, warned, want)
			}
			if want == "NULL" {
				continue
			}
			if got := ann.value("SELECT COUNT(*) FROM l.t WHERE LENGTH(" + text + ") = " + want + " AND " + c.where); got != "1" {
				t.Errorf("%s%s in a condition: %s rows, want 1", text, c.name, got)
			}
		}
	}
}
