package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"scrim/test/stattest"
)

// shops makes d.visits: several rows a person, keys of three columns that are declared, one of
// which may be NULL, and some rows of a shop that is not declared where asked for.
func shops(t *testing.T, i *instance, undeclared int) (root *client) {
	root = i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.visits (person INT NOT NULL, shop VARCHAR(8) NOT NULL, day VARCHAR(4) NOT NULL, kind VARCHAR(4), amount DECIMAL(8,2) NOT NULL, note VARCHAR(4) NOT NULL)")
	r := rand.New(rand.NewPCG(5, 6))
	var rows []string
	for p := range 3000 {
		for range 1 + r.IntN(3) {
			kind := []string{"'a'", "'b'", "NULL"}[r.IntN(3)]
			rows = append(rows, fmt.Sprintf("(%d, '%s', '%s', %s, %d.%02d, '%s')", p, []string{"north", "south", "west"}[min(r.IntN(5), r.IntN(3))], []string{"mon", "tue"}[r.IntN(2)], kind, r.IntN(50), r.IntN(100), []string{"x", "y"}[r.IntN(2)]))
		}
	}
	for p := range undeclared {
		rows = append(rows, fmt.Sprintf("(%d, 'other', 'mon', 'a', 1, 'x')", p))
	}
	root.exec("INSERT INTO d.visits VALUES "+strings.Join(rows, ","), "CALL dp_protect('d.visits', 'person', 'person')",
		`CALL dp_set_domain('d.visits', 'shop', '["north","south","west","empty"]')`, `CALL dp_set_domain('d.visits', 'day', '["mon","tue"]')`,
		`CALL dp_set_domain('d.visits', 'kind', '["a","b"]')`, `CALL dp_set_domain('d.visits', 'amount', '{"min":0,"max":50}')`,
		`CALL dp_set_defaults('d.visits', '{"max_rows_per_unit": 3}')`,
		"CALL dp_set_budget('d.visits', '*', 100000, 1e-4, 'never')")
	return root
}

// sumsOf adds up the columns from the first on of the rows whose keys are not NULL in the first
// keys columns, by the prefix of so many keys.
func sumsOf(t *testing.T, rows [][]string, keys, prefix int) map[string][]float64 {
	out := map[string][]float64{}
	for _, row := range rows {
		if strings.Contains(strings.Join(row[:keys], ","), "NULL") {
			continue
		}
		name := strings.Join(row[:prefix], ",")
		for k, x := range floats(t, row[keys:]...) {
			if out[name] == nil {
				out[name] = make([]float64, len(row)-keys)
			}
			out[name][k] += x
		}
	}
	return out
}

// TestRollupsAddUp: with one key and with two, the cells add up to subtotals and totals to the
// digit, counts and sums, groups answered together and each by itself, replays too; and what is
// shown is near the truth.
func TestRollupsAddUp(t *testing.T) {
	i := start(t, "")
	root := shops(t, i, 0)
	const agg = "COUNT(*), SUM(amount), COUNT(kind)"
	root.exec("SET dp_rho = 0.5")
	for way, from := range map[string]string{"vector": "d.visits", "separate": "d.visits WHERE shop <> 'empty'"} {
		root.exec("SET dp_group_by = '" + way + "'")
		keys := 4
		if way == "separate" { // a count of nobody is NULL there
			keys = 3
		}
		one := root.query("SELECT shop, " + agg + " FROM " + from + " GROUP BY shop WITH ROLLUP")
		if len(one) != keys+1 {
			t.Fatalf("%s: %v", way, one)
		}
		addsUp(t, way, floats(t, one[keys][1:]...), sumsOf(t, one, 1, 0)[""])
		two := root.query("SELECT shop, day, " + agg + " FROM " + from + " GROUP BY shop, day WITH ROLLUP")
		cells, shops := sumsOf(t, two, 2, 1), 0
		for _, row := range two {
			if row[1] == "NULL" && row[0] != "NULL" {
				shops++
				addsUp(t, way+" "+row[0], floats(t, row[2:]...), cells[row[0]])
			}
		}
		addsUp(t, way+", two keys", floats(t, two[len(two)-1][2:]...), sumsOf(t, two, 2, 0)[""])
		if shops != keys || len(two) != 3*keys+1 {
			t.Errorf("%s: %v", way, two)
		}
		if again := root.query("SELECT shop, day, " + agg + " FROM " + from + " GROUP BY shop, day WITH ROLLUP"); fmt.Sprint(again) != fmt.Sprint(two) {
			t.Errorf("%s: a replay shows %v, not %v", way, again, two)
		}
		if w := root.query("SHOW WARNINGS"); strings.Contains(fmt.Sprint(w), "TOTALS_APART") {
			t.Errorf("%s: %v", way, w)
		}
	}
	plan := fmt.Sprint(root.query("EXPLAIN SELECT shop, COUNT(*) FROM d.visits GROUP BY shop WITH ROLLUP"))
	if !strings.Contains(plan, "totals of visits.shop: one value agrees by weighted least squares") {
		t.Error(plan)
	}
	row := root.query("SELECT (SELECT COUNT(*) FROM d.visits), SUM(c) FROM (SELECT day, COUNT(*) AS c FROM d.visits GROUP BY day) x")[0]
	if row[0] != row[1] {
		t.Errorf("a total beside its cells: %v", row)
	}
}

func addsUp(t *testing.T, what string, total, cells []float64) {
	t.Helper()
	for k := range total {
		if math.Abs(total[k]-cells[k]) > 1e-6 {
			t.Errorf("%s: total %v, the cells add up to %v", what, total[k], cells[k])
		}
	}
}

// TestTotalsBesideKeysThatDoNotCover: where rows have keys that are not shown, the total is that of
// all rows. A key that may be NULL and keys that are selected take no part; a key that is not
// declared, against what a domain says, is found by the released numbers.
func TestTotalsBesideKeysThatDoNotCover(t *testing.T) {
	i := start(t, "")
	root := shops(t, i, 2500)
	for _, q := range []struct{ sql, explained string }{
		{"SELECT kind, COUNT(*) FROM d.visits GROUP BY kind WITH ROLLUP", ""},
		{"SELECT note, COUNT(*) FROM d.visits GROUP BY note WITH ROLLUP", ""},
		{"SELECT shop, COUNT(*) FROM d.visits GROUP BY shop WITH ROLLUP", "totals of"},
	} {
		rows := root.query(q.sql)
		warned := strings.Contains(fmt.Sprint(root.query("SHOW WARNINGS")), "TOTALS_APART")
		if plan := fmt.Sprint(root.query("EXPLAIN " + q.sql)); strings.Contains(plan, "totals of") != (q.explained != "") || warned != (q.explained != "") {
			t.Errorf("%s: warned %v: %s", q.sql, warned, plan)
		}
		// two rows of 3000 persons, and 2500
		if total := floats(t, rows[len(rows)-1][1])[0]; math.Abs(total-8500) > 400 {
			t.Errorf("%s: total %v of about 8500", q.sql, total)
		}
	}
}

// TestReconciledIntervalsCover asks for rollups with intervals: cells and total hold the exact
// counts.
func TestReconciledIntervalsCover(t *testing.T) {
	i := start(t, "")
	root := shops(t, i, 0)
	hits, of := 0, 0
	exact := map[string]float64{}
	for _, level := range []string{"day", "shop"} {
		for _, row := range root.query("SELECT /*+ SET_VAR(dp_rho=1000) */ " + level + ", COUNT(*) FROM d.visits GROUP BY " + level + " WITH ROLLUP") {
			exact[row[0]] = math.Round(floats(t, row[1])[0])
		}
	}
	for k := range 40 {
		for _, level := range []string{"day", "shop"} {
			for _, row := range root.query(fmt.Sprintf("SELECT %s, COUNT(*), DP_LOW(COUNT(*), 0.9), DP_HIGH(COUNT(*), 0.9) FROM d.visits WHERE person <> %d GROUP BY %s WITH ROLLUP", level, -1-k, level)) {
				x := floats(t, row[1:]...)
				if of++; x[1] <= exact[row[0]] && exact[row[0]] <= x[2] {
					hits++
				}
				if x[1] > x[0] || x[2] < x[0] {
					t.Errorf("%v", row)
				}
			}
		}
	}
	stattest.Accept(t, stattest.Coverage("reconciled", hits, of, 0.9))
}

// TestTotalsOfNothing: a total of which a part is NULL stays as it was released, and a note says
// so.
func TestTotalsOfNothing(t *testing.T) {
	i := start(t, "")
	root := shops(t, i, 0)
	root.exec("SET dp_group_by = 'separate'", "SET dp_rho = 0.5")
	rows := root.query("SELECT shop, SUM(amount), COUNT(*) FROM d.visits GROUP BY shop WITH ROLLUP")
	if warnings := fmt.Sprint(root.query("SHOW WARNINGS")); rows[0][1] != "NULL" || rows[4][1] == "NULL" || !strings.Contains(warnings, "TOTALS_APART") {
		t.Errorf("%v: %s", rows, warnings)
	}
}

// TestATotalIsNotPulledToFewerRows: where what clips take away may be many times the numbers, a
// total is not held against cells that have a third of its rows, the others having keys that the
// domain leaves out; it is against cells that have all.
func TestATotalIsNotPulledToFewerRows(t *testing.T) {
	i := startWith(t, "", seeded(t, "few of the rows", 1))
	root := i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.orders (person INT NOT NULL, city VARCHAR(4) NOT NULL)")
	r := rand.New(rand.NewPCG(5, 0))
	exact := map[string]float64{}
	var rows []string
	for p := range 1000 {
		for range 1 + int(math.Exp(1.5*r.NormFloat64())) {
			city := fmt.Sprint("c", r.IntN(6))
			rows = append(rows, fmt.Sprintf("(%d, '%s')", p, city))
			exact[city]++
			exact["NULL"]++
		}
	}
	root.exec("INSERT INTO d.orders VALUES "+strings.Join(rows, ","), "CALL dp_protect('d.orders', 'person', 'person')",
		"CALL dp_set_budget('d.orders', '*', 100000, 1e-3, 'never')", "SET dp_epsilon = 4")
	for domain, apart := range map[string]int{`["c0","c1"]`: 20, `["c0","c1","c2","c3","c4","c5"]`: 0} {
		root.exec("CALL dp_set_domain('d.orders', 'city', '" + domain + "')")
		told := 0
		for k := range 20 {
			for _, row := range root.query(fmt.Sprintf("SELECT city, COUNT(*) FROM d.orders WHERE person <> %d GROUP BY city WITH ROLLUP", -1-k)) {
				if x := floats(t, row[1])[0] / exact[row[0]]; x < 1/1.5 || x > 1.5 {
					t.Errorf("domain %s, statement %d: %v is %.2f of the exact count", domain, k, row, x)
				}
			}
			if strings.Contains(fmt.Sprint(root.query("SHOW WARNINGS")), "TOTALS_APART") {
				told++
			}
		}
		if told != apart {
			t.Errorf("domain %s: %d totals were told to be apart, want %d", domain, told, apart)
		}
	}
}
