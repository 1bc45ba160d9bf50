package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"scrim/test/stattest"
)

// rangesShop has orders of customers, one to six of each, on the 120 days from 2025-03-01 on.
func rangesShop(t *testing.T, root *client) {
	r := rand.New(stattest.Source(t, "orders"))
	var rows []string
	first := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	for c := range 2500 {
		for range 1 + r.IntN(6) {
			rows = append(rows, fmt.Sprintf("(%d, %d, '%s', '%s', '%s', %d.50)", len(rows), c,
				[]string{"north", "south", "east"}[r.IntN(3)], []string{"tea", "coffee"}[r.IntN(2)], first.AddDate(0, 0, r.IntN(120)).Format(time.DateOnly), r.IntN(40)))
		}
	}
	viewShop(root, rows, `CALL dp_set_domain('shop.orders', 'placed', '{"min":"2025-03-01","max":"2025-06-28"}')`,
		`CALL dp_set_domain('shop.orders', 'amount', '{"min":0,"max":50}')`)
}

const ofDays = `CALL dp_create_view('shop.%s', 'SELECT region, DATE(placed) AS day, product, COUNT(*) AS n, SUM(amount) AS s FROM shop.orders GROUP BY 1, 2, 3', '%s')`

// errorOf is the standard error of the number of rows of a view under a condition, and its
// interval.
func errorOf(t *testing.T, c *client, view, where string) (value, stdErr, low, high float64) {
	t.Helper()
	rows := c.query("CALL dp_view_errors('SELECT SUM(n) FROM shop." + view + " WHERE " + strings.ReplaceAll(where, "'", "''") + "', '0.9999')")
	if len(rows) != 1 {
		t.Fatalf("errors %v", rows)
	}
	return numberIn(t, rows[0][2]), numberIn(t, rows[0][3]), numberIn(t, rows[0][4]), numberIn(t, rows[0][5])
}

// TestViewOfRanges makes a view with ranges beside one without: ranges of 30 days and more have
// less than seven tenths of the error, single days not twice, days that are no range more than a
// range; errors are those of the rows, of statements over the table, and hold what is exact (at
// 0.9999; false alarms: one in a hundred). A refresh and a statement over the table keep them.
func TestViewOfRanges(t *testing.T) {
	i := startWith(t, "", seeded(t, "ranges", 1))
	root := i.root()
	rangesShop(t, root)
	root.exec(fmt.Sprintf(ofDays, "plain", `{"epsilon": 2}`))
	made := root.query(fmt.Sprintf(ofDays, "ranged", `{"epsilon": 2, "ranges": ["DAY"]}`))
	if len(made) != 1 || made[0][3] != "region, day (ranges), product" {
		t.Errorf("made %v", made)
	}
	root.exec("SET dp_raw = ON")
	exact := map[string]float64{}
	month, north := "day >= '2025-04-01' AND day <= '2025-04-30'", "region = 'north' AND day >= '2025-04-01' AND day <= '2025-05-30'"
	day, scattered := "day = '2025-05-01'", "DAYOFMONTH(day) MOD 2 = 0"
	conditions := []string{month, north, day, scattered, "day >= '2025-03-01' AND day <= '2025-06-28'"}
	for _, where := range conditions {
		exact[where] = numberIn(t, root.value("SELECT COUNT(*) FROM (SELECT region, placed AS day FROM shop.orders) t WHERE "+where))
	}
	root.exec("SET dp_raw = OFF")
	gain := map[string]float64{}
	t.Log(root.query("SELECT view_name, measures FROM dp.views"))
	for _, where := range conditions {
		as, without, _, _ := errorOf(t, root, "plain", where)
		value, with, low, high := errorOf(t, root, "ranged", where)
		gain[where] = without / with
		t.Logf("%s: %.0f and %.0f of %.0f; %.1f without ranges, %.1f with: %.2f times; interval %.0f to %.0f", where, as, value, exact[where], without, with, without/with, low, high)
		if exact[where] < low || exact[where] > high {
			t.Errorf("%s: from %v to %v, and is %v", where, low, high, exact[where])
		}
	}
	if gain[month] < 1.4 || gain[north] < 1.4 || gain[day] < 0.5 || gain[scattered] > 0.8*gain[month] {
		t.Errorf("gains %v", gain)
	}
	// each row tells its own error, which differs along days and with nothing else
	of := root.query("SELECT n_stderr, day, n_noisy FROM shop.ranged WHERE region = 'south' AND product = 'tea' ORDER BY day")
	seen := map[string]bool{}
	for k, row := range of {
		seen[row[0]] = true
		if k%40 == 0 {
			value, se, _, _ := errorOf(t, root, "ranged", "region = 'south' AND product = 'tea' AND day = '"+row[1][:10]+"'")
			if math.Abs(se/numberIn(t, row[0])-1) > 1e-9 || value != numberIn(t, row[2]) {
				t.Errorf("day %s: an error of %v, the row has %s", row[1], se, row[0])
			}
		}
	}
	if len(of) != 120 || len(seen) < 30 {
		t.Errorf("%d rows have %d errors", len(of), len(seen))
	}
	const over = "SELECT /*+ SET_VAR(dp_views=always) */ COUNT(*) AS k, DP_STDERR(k) FROM shop.orders WHERE placed >= '2025-04-01' AND placed <= '2025-04-30' AND region IS NOT NULL AND product IS NOT NULL"
	routed := func() float64 { return numberIn(t, root.query(over)[0][1]) }
	root.exec("CALL dp_drop_view('shop.plain')")
	_, want, _, _ := errorOf(t, root, "ranged", month)
	if got := routed(); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("over the table %v, by the view %v", got, want)
	}
	root.exec("SET dp_raw = ON", "INSERT INTO shop.orders VALUES (1000000, 1, 'north', 'tea', '2025-05-05', 3)", "SET dp_raw = OFF", "CALL dp_refresh_view('shop.ranged')")
	if _, again, _, _ := errorOf(t, root, "ranged", month); math.Abs(again/want-1) > 0.2 || root.value("SELECT dimensions FROM dp.views") != "region, day (ranges), product" {
		t.Errorf("after a refresh an error of %v, before %v", again, want)
	}
}

// TestRangesThatAreNone: what is no dimension, has no order or is there twice is refused, and
// nothing is charged.
func TestRangesThatAreNone(t *testing.T) {
	i := startWith(t, "", seeded(t, "no ranges", 1))
	root := i.root()
	viewShop(root, viewOrders(rand.New(stattest.Source(t, "orders")), 50), `CALL dp_set_domain('shop.orders', 'id', '[3, 1, 2]')`)
	refused := map[string]string{}
	for options, want := range map[string]string{
		`{"epsilon": 1, "ranges": ["week"]}`:       "The ranges (week) do not name dimensions of the view, each once.",
		`{"epsilon": 1, "ranges": ["n"]}`:          "The ranges (n) do not name dimensions of the view, each once.",
		`{"epsilon": 1, "ranges": ["day", "DAY"]}`: "The ranges (day, DAY) do not name dimensions of the view, each once.",
		`{"epsilon": 1, "ranges": []}`:             "The options of a view want one dimension in ranges or more.",
		`{"epsilon": 1, "ranges": ["region"]}`:     "has no order",
	} {
		refused[fmt.Sprintf(ofDays, "none", options)] = want
	}
	const byID = `CALL dp_create_view('shop.none', 'SELECT id, COUNT(*) AS n FROM shop.orders GROUP BY 1', '{"epsilon": 1, "ranges": ["id"]}')`
	refused[byID] = "are not in their order"
	root.refusedFor(refused)
	root.exec(`CALL dp_set_domain('shop.orders', 'id', '{"min": 0, "max": 2000}')`)
	root.refusedFor(map[string]string{byID: "it has at most 1024"})
	if got := root.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge'"); got != "0" {
		t.Errorf("%s charges", got)
	}
}
