package engine

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestStatisticsOfTwoColumns: correlations, covariances and lines over rows and over persons are
// near the exact ones, within their intervals and their range; those of one pair are one release.
func TestStatisticsOfTwoColumns(t *testing.T) {
	i := startWith(t, "", seeded(t, "two columns", 1))
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.n (k INT PRIMARY KEY)", "INSERT INTO d.n WITH RECURSIVE s AS (SELECT 0 k UNION ALL SELECT k + 1 FROM s WHERE k < 999) SELECT k FROM s",
		"CREATE TABLE d.t (p INT NOT NULL, g INT NOT NULL, x DECIMAL(10,2), y DOUBLE, z INT)",
		"INSERT INTO d.t SELECT a.k * 6 + b.k, b.k % 3, (a.k * 37 + b.k * 11) % 101, 3 * ((a.k * 37 + b.k * 11) % 101) + (a.k * 7 + b.k * 13) % 90, NULL FROM d.n a, d.n b WHERE b.k < 6",
		"INSERT INTO d.t SELECT a.k, 0, NULL, 5, 1 FROM d.n a", "CREATE TABLE d.open AS SELECT * FROM d.t",
		"CALL dp_protect('d.t', 'p', 'person')", "CALL dp_set_domain('d.t', 'g', '[0, 1, 2, 9]')",
		"CALL dp_set_budget('d.t', '*', 1000, 1e-4, 'never')", "CALL dp_set_budget('d.t', 'default', 500, 1e-4, 'never')")
	ann := i.analyst(root, "ann", "d")
	root.exec("GRANT SELECT ON d.* TO ann")
	list := "CORR(x, y), COVAR_POP(x, y), COVAR_SAMP(x, y), REGR_SLOPE(y, x), REGR_INTERCEPT(y, x), REGR_R2(y, x)"
	want := floats(t, root.query("SELECT " + list + " FROM d.open")[0]...)
	// The same by hand.
	sums := floats(t, root.query("SELECT COUNT(*), SUM(x), SUM(y), SUM(x * x), SUM(y * y), SUM(x * y) FROM d.open WHERE x IS NOT NULL")[0]...)
	n, mx, my := sums[0], sums[1]/sums[0], sums[2]/sums[0]
	xx, yy, xy := sums[3]/n-mx*mx, sums[4]/n-my*my, sums[5]/n-mx*my
	for k, v := range []float64{xy / math.Sqrt(xx*yy), xy, xy * n / (n - 1), xy / xx, my - xy/xx*mx, xy * xy / xx / yy} {
		if math.Abs(want[k]-v) > 1e-6*math.Abs(v) {
			t.Errorf("column %d on public rows: got %v, want %v", k, want[k], v)
		}
	}
	near := func(name string, got, want []float64, scale ...float64) {
		t.Helper()
		for k := range got {
			if !(math.Abs(got[k]-want[k]) <= scale[k]) {
				t.Errorf("%s, column %d: got %v, want %v", name, k, got[k], want[k])
			}
		}
	}
	ann.exec("SET dp_epsilon = 4")
	near("over rows", floats(t, ann.query("SELECT " + list + " FROM d.t")[0]...), want, 0.05, 200, 200, 0.2, 12, 0.1)
	charges := ann.query("SELECT events FROM dp.ledger WHERE account_type = 'table'")
	if len(charges) != 1 {
		t.Errorf("charges: %v", charges)
	}
	near("over persons", floats(t, ann.query("SELECT DP_CORR(x, y), DP_REGR_SLOPE(y, x) FROM d.t")[0]...), []float64{want[0], want[3]}, 0.05, 0.2)
	bars := floats(t, ann.query("SELECT CORR(x, y) r, DP_LOW(r, 0.99999999), DP_HIGH(r, 0.99999999), REGR_SLOPE(y, x) s, DP_LOW(s, 0.99999999), DP_HIGH(s, 0.99999999), DP_STDERR(s), DP_LOW(r), DP_HIGH(r) FROM d.t")[0]...)
	if !(bars[1] <= want[0] && want[0] <= bars[2] && bars[2] <= 1 && bars[4] <= want[3] && want[3] <= bars[5] && bars[6] > 0 && bars[1] <= bars[7] && bars[8] <= bars[2]) {
		t.Errorf("intervals: %v of %v", bars, want)
	}
	// Variances and standard deviations of one argument are one release, and fit each other.
	spreads := "SELECT VAR_POP(x), STDDEV_POP(x), VAR_SAMP(x) v, STDDEV_SAMP(x) s, DP_LOW(v), DP_HIGH(v), DP_LOW(s), DP_HIGH(s), DP_STDERR(s) FROM d.t"
	if plan := fmt.Sprint(ann.query("EXPLAIN " + spreads)); !strings.Contains(plan, "4 statistics from one release") || strings.Count(plan, "first and second moment") != 1 {
		t.Errorf("variances have more than one release:\n%s", plan)
	}
	s := floats(t, ann.query(spreads)[0]...)
	near("spreads", s[:1], []float64{xx}, 0.3*xx)
	same := []float64{s[0], s[2], s[2] / s[0] * (1 - 1/n), s[4], s[5]}
	near("spreads of one release", []float64{s[1] * s[1], s[3] * s[3], 1, s[6] * s[6], s[7] * s[7]}, same, 1e-6, 1e-6, 1e-3, 1e-6, 1e-6)
	if !(s[4] <= n/(n-1)*xx && n/(n-1)*xx <= s[5] && s[8] > 0) {
		t.Errorf("the interval of a variance is %v to %v, want %v in it", s[4], s[5], n/(n-1)*xx)
	}
	known := root.query("SELECT REGR_COUNT(y, x), REGR_AVGX(y, x), REGR_AVGY(y, x) FROM d.open")[0]
	if known[0] != "6000" || math.Abs(floats(t, known[1])[0]-mx) > 0.001 || math.Abs(floats(t, known[2])[0]-my) > 0.001 {
		t.Errorf("the rest of a line: %v", known)
	}
	near("the rest of a line", floats(t, ann.query("SELECT REGR_COUNT(y, x), REGR_AVGX(y, x), REGR_AVGY(y, x) FROM d.t")[0]...), floats(t, known...), 200, 5, 15)
	rows := ann.query("SELECT g, REGR_SLOPE(y, x), REGR_R2(y, x), COUNT(*) FROM d.t GROUP BY g ORDER BY g")
	if len(rows) != 4 || rows[3][1] != "NULL" || rows[3][2] != "NULL" {
		t.Fatalf("by group: %v", rows)
	}
	for _, r := range rows[:3] {
		near("group "+r[0], floats(t, r[1:3]...), []float64{want[3], want[5]}, 0.6, 0.3)
	}
	for _, q := range []string{"SELECT CORR(x, z) FROM d.t", "SELECT REGR_SLOPE(x, 5) FROM d.t", "SELECT CORR(x, x) FROM d.t WHERE p < 0"} {
		if got := ann.value(q); got != "NULL" {
			t.Errorf("%s: got %s", q, got)
		}
	}
	if r := floats(t, ann.value("SELECT CORR(y, y) FROM d.t"))[0]; r < 0.97 || r > 1 {
		t.Errorf("a column with itself: %v", r)
	}
	ann.refusedFor(map[string]string{
		"SELECT CORR(x) FROM d.t":                                              "CORR(x, y)",
		"SELECT CORR(x, 'abc') FROM d.t":                                       "not a number",
		"SELECT CORR(x, y, 'weight=row') FROM d.t":                             "does not take 3 arguments",
		"SELECT DP_CORR(x, y, 'lower=0') FROM d.t":                             "no option",
		"SELECT DP_CORR(DISTINCT x, y) FROM d.t":                               "",
		"SELECT DP_CORR(x, y) FROM d.open":                                     "protected",
		"SELECT CORR(x, y) OVER () FROM d.t":                                   "",
		"SELECT SUM(c) FROM (SELECT p, CORR(x, y) AS c FROM d.t GROUP BY p) k": "per unit",
	})
	ann.exec("SET dp_rewrite = OFF")
	if _, err := ann.try("SELECT CORR(x, y) FROM d.t"); err == nil || !strings.Contains(err.Error(), "DP_CORR(x, y, 'weight=row')") {
		t.Errorf("dp_rewrite = OFF: %v", err)
	}
}

// TestStatisticsOfTwoPublicColumns: computed by the store, and over rows that the store has not.
func TestStatisticsOfTwoPublicColumns(t *testing.T) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (x INT, y DECIMAL(8,2), k VARCHAR(4))", "INSERT INTO d.t VALUES (1, 2.5, 'a'), (2, 3.5, 'a'), (4, 9, 'a'), (NULL, 4, 'a'), (7, NULL, 'b'), (5, 5, 'b'), (6, 5, 'b')")
	for q, want := range map[string]string{
		"SELECT ROUND(CORR(x, y), 6), ROUND(REGR_SLOPE(y, x), 6), ROUND(REGR_INTERCEPT(y, x), 6) FROM d.t WHERE k = 'a'": "0.981981 2.25 -0.25",
		"SELECT CORR(x, y), COVAR_SAMP(x, y), REGR_R2(y, x) FROM d.t WHERE k = 'b'":                                      "NULL 0 1",
		"SELECT CORR(x, y), COVAR_POP(x, y), COVAR_SAMP(x, y) FROM d.t WHERE x = 1":                                      "NULL 0 NULL",
		"SELECT CORR(x, y), COVAR_POP(x, y) FROM d.t WHERE x < 0":                                                        "NULL NULL",
		// variables stay in go-mysql-server
		"SELECT ROUND(CORR(x, y + @z), 6), ROUND(REGR_SLOPE(y, x + @z), 6), ROUND(REGR_INTERCEPT(y, x + @z), 6) FROM d.t WHERE k = 'a'": "0.981981 2.25 -0.25",
		"SELECT CORR(x, y + @z), COVAR_SAMP(x, y + @z), REGR_R2(y + @z, x) FROM d.t WHERE k = 'b'":                                      "NULL 0 1",
	} {
		root.exec("SET @z = 0")
		got := ""
		for k, v := range root.query(q)[0] {
			if k > 0 {
				got += " "
			}
			got += v
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", q, got, want)
		}
	}
}
