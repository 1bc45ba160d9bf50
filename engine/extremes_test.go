package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestExtremesAndMoments: MIN and MAX are values that a number of persons are beyond, which DP_INFO
// tells; means and quantiles of dates are dates, and so are the ends of their intervals.
// It is seeded: once in 1,000 times nobody is beyond an extreme.
func TestExtremesAndMoments(t *testing.T) {
	i := startWith(t, "", seeded(t, "extremes", 1))
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.n (k INT PRIMARY KEY)", "INSERT INTO d.n WITH RECURSIVE s AS (SELECT 0 k UNION ALL SELECT k + 1 FROM s WHERE k < 3999) SELECT k FROM s",
		"CREATE TABLE d.t (p INT NOT NULL, g INT NOT NULL, x DECIMAL(10,2), n INT, u BIGINT UNSIGNED, y DOUBLE, day DATE, at DATETIME, note VARCHAR(9))",
		"INSERT INTO d.t SELECT k, k % 2, k / 10, k, k, k * 0.5, DATE_ADD('2020-01-01', INTERVAL k DIV 4 DAY), DATE_ADD('2020-01-01 12:00:00', INTERVAL k HOUR), 'a' FROM d.n",
		"INSERT INTO d.t SELECT k, k % 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM d.n",
		// one person far off
		"INSERT INTO d.t VALUES (7, 0, 99999, 2000000000, 5, 1e300, '9999-12-31', '9999-12-31 00:00:00', 'z')",
		"CALL dp_protect('d.t', 'p', 'person')", "CALL dp_set_domain('d.t', 'g', '[0, 1, 2]')",
		"CALL dp_set_budget('d.t', '*', 1000, 1e-4, 'never')", "CALL dp_set_budget('d.t', 'default', 900, 1e-4, 'never')")
	ann := i.analyst(root, "ann", "d")
	ann.exec("SET dp_epsilon = 4")
	in := func(q string, low, high float64) {
		t.Helper()
		if v := floats(t, ann.value(q))[0]; !(v >= low && v <= high) {
			t.Errorf("%s: got %v, want %v to %v", q, v, low, high)
		}
	}
	in("SELECT MAX(x) FROM d.t", 350, 400)
	in("SELECT MIN(n) FROM d.t", 0, 400)
	in("SELECT DP_MAX(u) FROM d.t", 3500, 3999)
	in("SELECT DP_MIN(y, 'lower=0, upper=3000') FROM d.t", 0, 150)
	in("SELECT MAX(n) FROM d.t WHERE n < 1000", 600, 999)
	in("SELECT MIN(n) FROM d.t WHERE p >= 2000 AND g = 1", 2000, 2500)
	info := ann.query("SELECT MAX(n) AS m, DP_INFO(m), DP_LOW(m), DP_STDERR(m) FROM d.t")[0]
	if !strings.Contains(info[1], `"persons_beyond"`) || !strings.Contains(info[1], `"persons_beyond_at_most"`) || info[3] != "NULL" {
		t.Errorf("DP_INFO: %v", info)
	}
	// Somebody is at least so far out; how far is known where a range is declared.
	if x := floats(t, info[0], info[2]); !(x[1] <= x[0] && x[1] > 0.99*x[0]) {
		t.Errorf("DP_LOW of MAX: %v", info)
	}
	for q, want := range map[string]string{
		"SELECT DP_HIGH(MAX(n)) FROM d.t": "NULL", "SELECT DP_LOW(MIN(n)) FROM d.t": "NULL",
		"SELECT DP_HIGH(DP_MAX(y, 'lower=0, upper=3000')) FROM d.t": "3000", "SELECT DP_LOW(DP_MIN(y, 'lower=0, upper=3000')) FROM d.t": "0",
	} {
		if v := ann.value(q); v != want {
			t.Errorf("%s: got %v, want %s", q, v, want)
		}
	}
	if explained := fmt.Sprint(ann.query("EXPLAIN SELECT MAX(n) FROM d.t")); !strings.Contains(explained, "persons are above") {
		t.Errorf("EXPLAIN: %v", explained)
	}
	rows := ann.query("SELECT g, MIN(n), MAX(n), COUNT(*) FROM d.t GROUP BY g ORDER BY g")
	if len(rows) != 3 || rows[2][1] != "NULL" || rows[2][2] != "NULL" {
		t.Fatalf("groups: %v", rows)
	}
	for _, r := range rows[:2] {
		if x := floats(t, r[1:3]...); x[0] < 0 || x[0] > 1500 || x[1] < 2500 || x[1] > 3999 {
			t.Errorf("groups: %v", rows)
		}
	}
	day := func(text string) time.Time {
		t.Helper()
		at, err := time.Parse(map[int]string{10: time.DateOnly, 19: time.DateTime}[len(text)], text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		return at
	}
	near := func(got, want string, within time.Duration) {
		t.Helper()
		if off := day(got).Sub(day(want)); len(got) != len(want) || off > within || off < -within {
			t.Errorf("got %s, want about %s", got, want)
		}
	}
	const month = 31 * 24 * time.Hour
	near(ann.value("SELECT DP_MEAN(day) FROM d.t WHERE n < 4000"), "2021-05-14", month)
	near(ann.value("SELECT DP_MEDIAN(at) FROM d.t"), "2020-03-24 20:00:00", month/4)
	near(ann.value("SELECT DP_QUANTILE(day, 0.9) FROM d.t"), "2022-06-18", month)
	near(ann.value("SELECT MIN(day) FROM d.t"), "2020-01-20", month)
	near(ann.value("SELECT MAX(at) FROM d.t"), "2020-06-14 00:00:00", month)
	bars := ann.query("SELECT DP_MEDIAN(day) AS m, DP_LOW(m), DP_HIGH(m), DP_MEAN(day) AS a, DP_LOW(a), DP_HIGH(a), DP_STDERR(a) FROM d.t WHERE n < 4000")[0]
	if day(bars[1]).After(day(bars[0])) || day(bars[2]).Before(day(bars[0])) || day(bars[4]).After(day(bars[3])) || day(bars[5]).Before(day(bars[3])) || !(floats(t, bars[6])[0] > 0) {
		t.Errorf("intervals of dates: %v", bars)
	}
	byGroup := ann.query("SELECT g, DP_MEAN(day), DP_MEDIAN(day), COUNT(*) FROM d.t GROUP BY g ORDER BY g")
	near(byGroup[0][1], "2021-05-14", 4*month)
	near(byGroup[1][2], "2021-05-14", 4*month)
	root.exec(`CALL dp_set_domain('d.t', 'day', '{"min":"2020-01-01","max":"2025-12-31"}')`, `CALL dp_set_domain('d.t', 'n', '{"min":0,"max":4000}')`)
	near(ann.value("SELECT DP_MEDIAN(day) FROM d.t WHERE n <= 4000"), "2021-05-14", month)
	in("SELECT MAX(n) FROM d.t", 4000, 4000) // declared
	in("SELECT DP_MAX(n) FROM d.t", 3500, 4000)
	if got := ann.value("SELECT SUM(m) > 0 FROM (SELECT p, MAX(n) AS m FROM d.t GROUP BY p) k"); got != "1" {
		t.Errorf("a maximum of each person: %v", got)
	}
	ann.refusedFor(map[string]string{
		"SELECT MAX(note) FROM d.t":                            "of texts",
		"SELECT AVG(day) FROM d.t":                             "DP_MEAN",
		"SELECT DP_MEAN(day, 'lower=0, upper=9') FROM d.t":     "dp_set_domain",
		"SELECT SUM(at) FROM d.t":                              "is a moment",
		"SELECT DP_MEAN(DP_VECTOR(day, n)) FROM d.t":           "not a number",
		"SELECT MIN(n) OVER () FROM d.t":                       "window",
		"SELECT n FROM d.t WHERE n = (SELECT MAX(n) FROM d.t)": "",
	})
}

// TestExtremesByGroup: MAX and MIN by group answer where they do for one group alone, once a person
// counts in one group; till then each group has a part of the loss, is NULL, and the warning says
// what to type.
func TestExtremesByGroup(t *testing.T) {
	i := startWith(t, "", seeded(t, "extremes by group", 1))
	root := i.root()
	root.exec("CREATE DATABASE d")
	for table, p := range map[string]string{"d.t": "p INT PRIMARY KEY", "d.u": "p INT NOT NULL"} {
		root.exec("CREATE TABLE "+table+" ("+p+", g INT NOT NULL, h INT NOT NULL, x INT NOT NULL)",
			"INSERT INTO "+table+" WITH RECURSIVE s AS (SELECT 0 k UNION ALL SELECT k + 1 FROM s WHERE k < 3599) SELECT k, k % 6, k % 6, k FROM s",
			"CALL dp_protect('"+table+"', 'p', 'person')", "CALL dp_set_domain('"+table+"', 'g', '[0, 1, 2, 3, 4, 5]')", "CALL dp_set_budget('"+table+"', '*', 1000, 1e-4, 'never')")
	}
	ann := i.analyst(root, "ann", "d")
	ann.exec("SET dp_epsilon = 1.2")
	null := func(q string) (n int) {
		for _, r := range ann.query(q) {
			for _, v := range r {
				if v == "NULL" {
					n++
				}
			}
		}
		return n
	}
	if n := null("SELECT MAX(x) FROM d.u WHERE g = 1"); n > 0 {
		t.Error("one group alone is not answered")
	}
	for _, key := range []string{"g", "h"} { // public, and released
		q := "SELECT " + key + ", MAX(x) FROM d.u GROUP BY " + key
		if n := null(q); n != 6 {
			t.Errorf("%s: %d are NULL, want all at a part of the loss", q, n)
		}
		const typed = "SET dp_max_groups_contributed = 1"
		if _, texts := warned(t, ann); !strings.Contains(texts, typed) {
			t.Errorf("%s: the remedy is not in %s", q, texts)
		}
		ann.exec(typed)
		if n := null(q); n != 0 {
			t.Errorf("%s: %d are NULL after what the warning says", q, n)
		}
		ann.exec("SET dp_max_groups_contributed = DEFAULT")
	}
	// a person who has one row is in one group
	if n := null("SELECT g, MIN(x) FROM d.t GROUP BY g"); n != 0 {
		t.Errorf("of one row a person %d are NULL", n)
	}
}
