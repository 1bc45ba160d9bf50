package client

import (
	"slices"
	"testing"
)

func TestStatementsEndOutsideQuotesAndComments(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []Statement
		complete   bool
	}{
		{"two on a line", "SELECT 1; SELECT 2\\G", []Statement{{"SELECT 1", false, 1}, {"SELECT 2", true, 1}}, true},
		{"quotes", `SELECT ';', "a\";b", 'it''s;', ` + "`c;d`;", []Statement{{`SELECT ';', "a\";b", 'it''s;', ` + "`c;d`", false, 1}}, true},
		{"a backslash in back-quotes is a character", "SELECT `a\\`; SELECT 2;", []Statement{{"SELECT `a\\`", false, 1}, {"SELECT 2", false, 1}}, true},
		{"comments", "-- one; two\n# three;\n/* four; */ SELECT /* five; */ 1 -- six;\n;", []Statement{{"SELECT /* five; */ 1 -- six;", false, 3}}, true},
		{"hints are sent", "/*+ x */ SELECT /*+ SET_VAR(dp_epsilon=1) */ 1;", []Statement{{"/*+ x */ SELECT /*+ SET_VAR(dp_epsilon=1) */ 1", false, 1}}, true},
		{"a minus is no comment", "SELECT 2--1;", []Statement{{"SELECT 2--1", false, 1}}, true},
		{"commands end with their line", "\\price SELECT ';' ;\nSELECT 1;", []Statement{{`\price SELECT ';' `, false, 1}, {"SELECT 1", false, 1}}, true},
		{"open", "SELECT 1,\n 2", []Statement{{"SELECT 1,\n 2", false, 1}}, false},
		{"open quote", "SELECT 'a;", []Statement{{"SELECT 'a;", false, 1}}, false},
		{"open comment", "SELECT 1 /* ;", []Statement{{"SELECT 1 /* ;", false, 1}}, false},
		{"a command without a line's end", `\d`, []Statement{{`\d`, false, 1}}, true},
		{"leaving", "exit", []Statement{{"exit", false, 1}}, true},
		{"nothing", " ;; -- x", nil, true},
	} {
		var got []Statement
		for text := c.text; ; {
			s, rest, whole := Next(text)
			if s.Text != "" {
				got = append(got, s)
			}
			if text = rest; !whole {
				break
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
		if Complete(c.text) != c.complete {
			t.Errorf("%s: got complete %v, want %v", c.name, Complete(c.text), c.complete)
		}
	}
}

func TestIntervalsAreAddedToTwoColumns(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{"SELECT city, COUNT(*) AS n FROM v GROUP BY city", "SELECT city, COUNT(*) AS n, DP_LOW(n), DP_HIGH(n) FROM v GROUP BY city"},
		{"select city, AVG(x)\nfrom v", "select city, AVG(x), DP_LOW(AVG(x)), DP_HIGH(AVG(x)) from v"},
		{"SELECT IF(a = ', FROM', 1, 2), SUM(x) AS `of it` FROM v", "SELECT IF(a = ', FROM', 1, 2), SUM(x) AS `of it`, DP_LOW(`of it`), DP_HIGH(`of it`) FROM v"},
		{"SELECT EXTRACT(YEAR FROM d), COUNT(*) FROM v", "SELECT EXTRACT(YEAR FROM d), COUNT(*), DP_LOW(COUNT(*)), DP_HIGH(COUNT(*)) FROM v"},
		{"SELECT a, b, COUNT(*) FROM v", ""},
		{"SELECT COUNT(*) FROM v", ""},
		{"SELECT a, v.* FROM v", ""},
		{"SELECT 1, 2", ""},
		{"WITH w AS (SELECT 1) SELECT a, b FROM w", ""},
	} {
		if got, ok := WithIntervals(c.query); got != c.want || ok != (c.want != "") {
			t.Errorf("%s:\ngot  %q\nwant %q", c.query, got, c.want)
		}
	}
}

func TestSingle(t *testing.T) {
	for text, want := range map[string]bool{
		"SELECT 1": true, "SELECT 1; -- and no more\n": true, "SELECT ';'": true, "SELECT 1;;": true,
		"": false, "-- nothing": false, "SELECT 1; SELECT 2": false, `\price SELECT 1`: false, `SELECT 1\G`: false,
		"SELECT 1 /* ; */ ; /*! DROP TABLE t */": false,
	} {
		if _, got := Single(text); got != want {
			t.Errorf("Single(%q): got %v, want %v", text, got, want)
		}
	}
}

func TestReads(t *testing.T) {
	for query, want := range map[string]bool{
		"SELECT REPLACE(a, 'x', 'y') FROM t": true, "select 'delete' from t": true, "(SELECT 1)": true, "SHOW TABLES": true,
		"WITH c AS (SELECT 1) SELECT * FROM c": true, "DESCRIBE t": true, "EXPLAIN SELECT COUNT(*) FROM t": true,
		"SELECT `update` FROM t": true, "SELECT insert_time FROM t": true,
		"INSERT INTO t VALUES (1)": false, "WITH c AS (SELECT 1) DELETE FROM t": false, "SELECT 1 INTO OUTFILE 'f'": false,
		"EXPLAIN ANALYZE SELECT COUNT(*) FROM t": false, "CALL dp_public('t')": false, "SET dp_raw = 1": false, "": false,
		"SELECT 1 into @x": false, "EXPLAIN UPDATE t SET a = 1": false, "TRUNCATE t": false, "(SELECT 1) INTO OUTFILE 'f'": false,
	} {
		if got := Reads(query); got != want {
			t.Errorf("Reads(%q): got %v, want %v", query, got, want)
		}
	}
}
