package engine

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestBucketsAreRowsOfAHistogram: every bucket has a row, also an empty one, and what is outside
// has one; on public tables the counts are exact.
func TestBucketsAreRowsOfAHistogram(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.n (k INT PRIMARY KEY)", "INSERT INTO d.n WITH RECURSIVE s AS (SELECT 0 k UNION ALL SELECT k + 1 FROM s WHERE k < 3999) SELECT k FROM s",
		// 0 to 79.98
		"CREATE TABLE d.t (p INT NOT NULL PRIMARY KEY, x DECIMAL(10,2))", "INSERT INTO d.t SELECT k, k / 50 FROM d.n",
		"CREATE TABLE d.open AS SELECT * FROM d.t",
		"CALL dp_protect('d.t', 'p', 'person')", "CALL dp_set_budget('d.t', '*', 1000, 1e-4, 'never')", "CALL dp_set_budget('d.t', 'default', 900, 1e-4, 'never')")
	ann := i.analyst(root, "ann", "d")
	ann.exec("SET dp_epsilon = 4")
	query := "SELECT DP_BUCKET(x, 10, 100, 9) AS low, DP_BUCKET(x, 10, 100, 9) + 10 AS high, COUNT(*) FROM d.%s GROUP BY low ORDER BY low"
	exact := root.query(fmt.Sprintf(query, "open"))
	if got := fmt.Sprint(exact); got != "[[NULL NULL 500] [10 20 500] [20 30 500] [30 40 500] [40 50 500] [50 60 500] [60 70 500] [70 80 500]]" {
		t.Errorf("on a public table: %v", got)
	}
	rows := ann.query(fmt.Sprintf(query, "t"))
	if len(rows) != 10 {
		t.Fatalf("got %v", rows)
	}
	for k, r := range rows {
		want := 500.0
		if k > 7 {
			want = 0
		}
		if k < 8 && (r[0] != exact[k][0] || r[1] != exact[k][1]) || math.Abs(floats(t, r[2])[0]-want) > 60 {
			t.Errorf("row %d: got %v, want about %v", k, r, want)
		}
	}
	if got := fmt.Sprint(root.query("SELECT DP_BUCKET(-0.5, -1, 1, 4), DP_BUCKET(1, -1, 1, 4), DP_BUCKET(1.01, -1, 1, 4), DP_BUCKET(NULL, 0, 1, 3)")); got != "[[-0.5 0.5 NULL NULL]]" {
		t.Errorf("ends: %v", got)
	}
	for _, q := range []string{"DP_BUCKET(x, 0, 100)", "DP_BUCKET(x, 0, 100, 1000)", "DP_BUCKET(x, 5, 5, 2)", "DP_BUCKET(x, 0, x, 2)", "DP_BUCKET(x, 0, 1, 2.5)", "DP_BUCKET()"} {
		for _, table := range []string{"t", "open"} {
			if rows, err := ann.try("SELECT " + q + ", COUNT(*) FROM d." + table + " GROUP BY 1"); err == nil || !strings.Contains(err.Error(), "DP_BUCKET(x, low, high, n)") && table == "t" {
				t.Errorf("%s of %s: got %v, %v", q, table, rows, err)
			}
		}
	}
}
