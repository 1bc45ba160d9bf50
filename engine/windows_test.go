package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestWindowsOverGroups: window functions over groups are of the released rows, and cost what the
// groups do, as a derived table would.
func TestWindowsOverGroups(t *testing.T) {
	root := shops(t, startWith(t, "", silence), 0)
	root.exec("USE d", "SET dp_rho = 50")
	spent := func() float64 {
		return floats(t, root.value("SELECT spent_rho FROM dp.budgets WHERE account = 'd.visits' AND principal = '*'"))[0]
	}
	const ranked = "SELECT shop, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM visits"
	before := spent()
	a, err := root.answer(ranked + " WHERE day = 'mon' GROUP BY shop ORDER BY n DESC")
	if err != nil {
		t.Fatal(err)
	}
	if cost := spent() - before; math.Abs(cost-50) > 1e-9 {
		t.Errorf("it cost %g, not once the loss", cost)
	}
	if !slices.Equal(a.columns, []string{"shop", "n", "r", "share"}) || len(a.rows) != 4 {
		t.Fatalf("%v", a)
	}
	total := 0.0
	for _, row := range a.rows {
		total += floats(t, row[1])[0]
	}
	for k, row := range a.rows {
		if x := floats(t, row[1:]...); x[1] != float64(k+1) || math.Abs(x[2]-x[0]/total) > 1e-4 {
			t.Errorf("%v, of %g", row, total)
		}
	}
	root.exec("SET dp_raw = 1")
	raw := root.query(ranked + " WHERE day = 'mon' GROUP BY shop ORDER BY n DESC")
	root.exec("SET dp_raw = 0")
	if fmt.Sprint(raw) != fmt.Sprint(a.rows[:3]) || a.rows[3][0] != "empty" {
		t.Errorf("raw %v, released without noise %v", raw, a.rows)
	}

	for q, want := range map[string]string{
		// error bars are the aggregation's, by alias and written out
		"SELECT shop, COUNT(*) AS n, DP_LOW(n) > 0 AS low, DP_INFO(n) IS NOT NULL AS info, ROW_NUMBER() OVER (ORDER BY DP_LOW(n)) AS k FROM visits GROUP BY shop HAVING n > 100 ORDER BY DP_HIGH(n)": "[west 1163 1 1 1] [south 2028 1 1 2] [north 2776 1 1 3]",
		"SELECT shop, GROUPING(shop) AS g, COUNT(*) AS n, ROUND(COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY GROUPING(shop)), 2) AS share FROM visits GROUP BY shop WITH ROLLUP ORDER BY g, n":        "[empty 0 0 0.00] [west 0 1163 0.19] [south 0 2028 0.34] [north 0 2776 0.47] [NULL 1 5967 1.00]",
		"SELECT COUNT(*), RANK() OVER (ORDER BY AVG(amount)) FROM visits":                                               "[5967 1]",
		"SELECT ROW_NUMBER() OVER (ORDER BY shop DESC) AS k FROM visits GROUP BY shop ORDER BY k":                       "[1] [2] [3] [4]",
		"SELECT COUNT(*) OVER () AS k, FIRST_VALUE(shop) OVER (ORDER BY SUM(amount)) FROM visits GROUP BY shop LIMIT 1": "[4 empty]",
	} {
		if got := root.query(q); strings.Trim(fmt.Sprint(got), "[]") != strings.Trim(want, "[]") {
			t.Errorf("%s: got %v, want %s", q, got, want)
		}
	}
	root.exec("CREATE VIEW ranks AS " + ranked + " GROUP BY shop")
	if got := root.query("SELECT shop, n, r FROM ranks WHERE r <= ? ORDER BY r", 2); fmt.Sprint(got) != "[[north 2776 1] [south 2028 2]]" {
		t.Errorf("a view: %v", got)
	}
	if got := root.query("SELECT shop, SUM(amount > ?) AS s, RANK() OVER (ORDER BY SUM(amount > ?) DESC) AS r FROM visits WHERE day = ? GROUP BY shop HAVING s > ? ORDER BY r", 25, 25, "tue", 10); len(got) != 3 || got[0][0] != "north" {
		t.Errorf("prepared: %v", got)
	}

	root.refused(1644, "45017", "SELECT shop, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY shop HAVING r < 2")
	root.refused(1644, "45017", "SELECT shop, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY shop, 2")
	root.refused(1054, "42S22", "SELECT shop, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY shop, r")
	root.refused(1644, "45003", "SELECT *, RANK() OVER (ORDER BY COUNT(*)) FROM visits GROUP BY shop")
	root.refused(1644, "", "SELECT RANK() OVER (ORDER BY amount) FROM visits")
}

// TestQuantilesOfOtherServers: the error names the function that serves.
func TestQuantilesOfOtherServers(t *testing.T) {
	root := shops(t, startWith(t, "", silence), 0)
	root.exec("USE d")
	for q, want := range map[string]string{
		"SELECT shop, MEDIAN(amount) FROM visits GROUP BY shop":                                                "DP_MEDIAN(x)",
		"SELECT shop, RANK() OVER (ORDER BY MEDIAN(amount)) FROM visits GROUP BY shop":                         "DP_MEDIAN(x)",
		"SELECT MEDIAN(amount) OVER (PARTITION BY shop) FROM visits":                                           "DP_MEDIAN(x)",
		"SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY amount) AS p FROM visits":                          "DP_QUANTILE(x, q)",
		"SELECT percentile_disc(0.9) within group (order by amount desc) over (partition by shop) FROM visits": "DP_QUANTILE(x, q)",
		"SELECT PERCENTILE_CONT(amount, 0.9) FROM visits":                                                      "DP_QUANTILE(x, q)",
	} {
		if e := root.refused(1644, "45017", q); !strings.Contains(e.Message, want) {
			t.Errorf("%s: %s", q, e.Message)
		}
	}
	root.exec("CREATE TABLE median (median INT, percentile_cont INT)", "CALL dp_public('d.median')", "INSERT INTO median (median, percentile_cont) VALUES (1, 2)")
	if got := root.query("WITH within (median) AS (SELECT percentile_cont FROM median) SELECT (median) + 1 FROM within"); fmt.Sprint(got) != "[[3]]" {
		t.Errorf("as names: %v", got)
	}
}
