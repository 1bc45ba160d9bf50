package engine

import (
	"fmt"
	"testing"
)

// TestSumsOfZeros: a sum of values that are all 0, and a count of what is never true, are 0 about
// where thousands of persons have them, with an interval that holds 0; where few have, or none has
// a value at all, they are NULL. Thirty persons whom the noise hides are in the interval.
func TestSumsOfZeros(t *testing.T) {
	i := startWith(t, "", seeded(t, "zeros", 1))
	root := i.root()
	root.exec("CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT, g INT, z INT, x DOUBLE, m DECIMAL(10,2), few INT)",
		"INSERT INTO t WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < 899) SELECT i, i % 3, 0, 1 + i % 50, 0, i < 30 FROM s",
		"INSERT INTO t SELECT id + 1000, g, z, x, m, 0 FROM t", "INSERT INTO t SELECT id + 2000, g, z, x, m, 0 FROM t",
		"CALL dp_protect('d.t', 'id', 'person')", "CALL dp_set_budget('d.t', '*', 100000, 1e-3, 'never')")
	for _, c := range []struct {
		of    string
		exact float64
		near  float64 // how near 0 the answer is
	}{
		{"SUM(z)", 0, 1e-9}, {"SUM(m)", 0, 1e-9}, {"SUM(x * 0)", 0, 1e-3}, {"SUM(CASE WHEN x < 0 THEN x ELSE 0 END)", 0, 1e-3}, {"SUM(x < 0)", 0, 60},
		{"COUNT(CASE WHEN x < 0 THEN 1 END)", 0, 60}, {"SUM(few * 1000)", 30000, 60}, {"SUM(few)", 30, 90}, {"COUNT(NULLIF(few, 0))", 30, 90},
	} {
		for _, where := range []string{"", " WHERE g < 2"} {
			exact := c.exact
			if where != "" {
				exact = exact * 2 / 3
			}
			query := fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=1) */ %s AS s, DP_LOW(s), DP_HIGH(s), DP_STDERR(s) FROM t%s", c.of, where)
			row := root.query(query)[0]
			if row[0] == "NULL" {
				t.Errorf("%s: %v", query, row)
				continue
			}
			if v := float(t, row[0]); v > c.near || v < -c.near || row[0] == "-0" {
				t.Errorf("%s: %v, want 0 within %v", query, row, c.near)
			}
			if s := float(t, row[3]); !(s < 60) { // the noise of two counts, in steps
				t.Errorf("%s: %v, whose noise is more than of two counts", query, row)
			}
			if lo, hi := float(t, row[1]), float(t, row[2]); lo > exact || hi < exact {
				t.Errorf("%s: %v, which denies %v", query, row, exact)
			}
		}
	}
	for _, query := range []string{"SUM(z) FROM t WHERE id < 100", "SUM(CASE WHEN x < 0 THEN x END) FROM t", "SUM(z) FROM t WHERE x < 0"} {
		if row := root.query("SELECT " + query)[0]; row[0] != "NULL" {
			t.Errorf("%s: %v", query, row)
		}
	}
}
