package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// noiseless is a source of noise that is none, for comparisons with exact answers.
func noiseless() noise.Noiser { return stattest.Zero{} }

// shopping makes s.orders, in which persons are in many groups, s.lines linked to it, and s.stores,
// which is public. Everybody has about as many rows, so that hardly anything is clipped.
func shopping(root *client, persons int) {
	root.exec("CREATE DATABASE s",
		"CREATE TABLE s.orders (id INT PRIMARY KEY, person INT, region VARCHAR(8), store INT, qty INT, amount DECIMAL(10,2), score DOUBLE, status VARCHAR(8))",
		"CREATE TABLE s.lines (o INT, price INT NOT NULL, kind INT)",
		"CREATE TABLE s.stores (store INT PRIMARY KEY, city VARCHAR(8))",
		"INSERT INTO s.stores VALUES (0, 'Oslo'), (1, 'Rome'), (2, 'Oslo'), (3, 'Bern'), (4, 'Nowhere')")
	rng := rand.New(rand.NewPCG(21, 22))
	var orders, lines []string
	id := 0
	for p := range persons {
		for j := range 6 {
			id++
			score := fmt.Sprintf("%.3f", 20+rng.Float64())
			if j == 2 {
				score = "NULL"
			}
			orders = append(orders, fmt.Sprintf("(%d, %d, '%s', %d, %d, %d.%02d, %s, '%s')", id, p, []string{"north", "south", "east"}[(p+j)%3], (p+2*j)%4,
				3+rng.IntN(3), 40+rng.IntN(5), rng.IntN(100), score, []string{"open", "shut"}[j%2]))
			for k := range 1 + j%2 {
				lines = append(lines, fmt.Sprintf("(%d, %d, %d)", id, 10+rng.IntN(3), (p+j+k)%5))
			}
		}
	}
	for table, rows := range map[string][]string{"orders": orders, "lines": lines} {
		for len(rows) > 0 {
			n := min(len(rows), 2000)
			root.exec("INSERT INTO s." + table + " VALUES " + strings.Join(rows[:n], ", "))
			rows = rows[n:]
		}
	}
	root.exec("CALL dp_public('s.stores')", "CALL dp_protect('s.orders', 'person', 'p')", "CALL dp_link('s.lines', 'o', 's.orders', 'id')",
		`CALL dp_set_domain('s.orders', 'region', '["north","south","east","west"]')`, `CALL dp_set_domain('s.lines', 'kind', '{"min":0,"max":6}')`,
		`CALL dp_set_domain('s.orders', 'store', '{"table":"s.stores","column":"store"}')`,
		"CALL dp_set_budget('s.orders', '*', 1000000, 1e-4, 'never')", "CALL dp_set_budget('s.lines', '*', 1000000, 1e-4, 'never')")
}

// togetherQueries are answered with all groups together, in each shape of relation.
var togetherQueries = []string{
	"SELECT region, COUNT(*), COUNT(score), COUNT(DISTINCT person) FROM s.orders GROUP BY region",
	"SELECT region, SUM(qty), AVG(amount), AVG(score), COUNT(*) FROM s.orders GROUP BY region",
	"SELECT store, SUM(amount) / COUNT(*), SUM(qty) FROM s.orders WHERE qty > 3 GROUP BY store ORDER BY store",
	"SELECT region, store, COUNT(*) FROM s.orders GROUP BY region, store",
	"SELECT city, COUNT(*), SUM(qty) FROM s.orders o JOIN s.stores t ON o.store = t.store GROUP BY city",
	"SELECT kind, COUNT(*), SUM(price) FROM s.lines GROUP BY kind",
	"SELECT region, SUM(price) FROM s.lines l JOIN s.orders o ON l.o = o.id GROUP BY region",
	"SELECT region, COUNT(*) FROM s.orders GROUP BY region HAVING SUM(qty) > 1000 ORDER BY COUNT(*) DESC, region LIMIT 2",
	"SELECT status, COUNT(*), SUM(qty) FROM s.orders GROUP BY status",
	"SELECT x.region, SUM(x.n) FROM (SELECT person, region, COUNT(*) AS n FROM s.orders GROUP BY person, region) x GROUP BY x.region",
	"WITH w AS (SELECT * FROM s.orders WHERE status = 'open') SELECT region, COUNT(*) FROM w GROUP BY region",
}

// TestGroupsTogetherMatchSQL compares what is answered without noise with the exact answers of the
// same statements on the raw rows: the same keys in the same order, the same decimals, counts and
// sums within what the few clipped persons lose. With groups apart and a person kept in one of them
// the same comparison must fail.
func TestGroupsTogetherMatchSQL(t *testing.T) {
	i := startWith(t, "", noiseless)
	root := i.root()
	shopping(root, 600)
	ann := i.analyst(root, "ann", "s")
	ann.exec("USE s", "SET dp_rho = 4", "SET dp_group_by = 'vector'")
	root.exec("SET dp_raw = ON")
	for _, q := range togetherQueries {
		if plan := fmt.Sprint(ann.query("EXPLAIN " + q)); !strings.Contains(plan, "groups as one vector") {
			t.Errorf("%s: got the plan %s", q, plan)
		}
		if problem := differs(q, ann.query(q), root.query(q)); problem != "" {
			t.Errorf("%s: %s", q, problem)
		}
	}
	ann.exec("SET dp_group_by = 'separate'", "SET dp_max_groups_contributed = 1")
	caught := 0
	for _, q := range togetherQueries {
		if differs(q, ann.query(q), root.query(q)) != "" {
			caught++
		}
	}
	if caught < len(togetherQueries)-1 { // the regions of x are a person's, added up
		t.Errorf("a person kept in one group is noticed in %d of %d queries only", caught, len(togetherQueries))
	}
}

// differs compares answers with exact ones, within 2 %; a public key that no row has is 0 or NULL.
func differs(q string, got, want [][]string) string {
	keys := 1
	if strings.Contains(q, "GROUP BY region, store") {
		keys = 2
	}
	exact := map[string][]string{}
	var order, shown []string
	for _, row := range want {
		exact[fmt.Sprint(row[:keys])] = row
		order = append(order, fmt.Sprint(row[:keys]))
	}
	for _, row := range got {
		want, ok := exact[fmt.Sprint(row[:keys])]
		for c, v := range row[keys:] {
			g, err := strconv.ParseFloat(v, 64)
			switch {
			case !ok && v != "NULL" && (err != nil || math.Abs(g) > 1e-9):
				return fmt.Sprintf("got %v for a group of nobody", row)
			case !ok:
				continue
			}
			w, _ := strconv.ParseFloat(want[keys+c], 64)
			if err != nil || !(math.Abs(g-w) <= 0.02*math.Abs(w)) {
				return fmt.Sprintf("got %v, want %v", row, want)
			}
			if _, a, _ := strings.Cut(v, "."); len(a) != decimals(want[keys+c]) && !strings.Contains(q, "score") {
				return fmt.Sprintf("got the decimals of %v, want those of %v", row, want)
			}
		}
		if ok {
			shown = append(shown, fmt.Sprint(row[:keys]))
		}
	}
	if len(shown) != len(order) || strings.Contains(q, "ORDER BY") && fmt.Sprint(shown) != fmt.Sprint(order) {
		return fmt.Sprintf("got groups %v, want %v", shown, order)
	}
	return ""
}

func decimals(v string) int {
	_, fraction, _ := strings.Cut(v, ".")
	return len(fraction)
}

// TestGroupsOfFew asks where there is nobody, and where one person owns every row: there is an
// answer for each public key, numbers or NULL with a warning, whatever the rows are.
func TestGroupsOfFew(t *testing.T) {
	i := startWith(t, "", seeded(t, "few", 1))
	root := i.root()
	shopping(root, 0)
	ann := i.analyst(root, "ann", "s")
	ann.exec("USE s", "SET dp_rho = 1", "SET dp_group_by = 'vector'")
	ask := func(when string) {
		t.Helper()
		for _, q := range []string{
			"SELECT region, COUNT(*), COUNT(DISTINCT person) FROM orders GROUP BY region",
			"SELECT region, COUNT(*), SUM(qty), AVG(amount), DP_MEAN(score) FROM orders GROUP BY region",
		} {
			rows := ann.query(q)
			if len(rows) != 4 {
				t.Errorf("%s, %s: got %v, want four groups", when, q, rows)
			}
			for _, row := range rows {
				for _, v := range row[1:] {
					if _, err := strconv.ParseFloat(v, 64); err != nil && v != "NULL" {
						t.Errorf("%s, %s: got %v", when, q, row)
					}
				}
				if strings.Contains(q, "COUNT(DISTINCT") && (row[1] != "NULL" || row[2] != "NULL") {
					t.Errorf("%s, %s: got %v, want NULL: no person's rows stand out of the noise", when, q, row)
				}
			}
		}
	}
	ask("nobody")
	root.exec("SET dp_raw = ON")
	for k := range 50 {
		root.exec(fmt.Sprintf("INSERT INTO s.orders VALUES (%d, 7, 'north', 1, 1000000, 99999999.99, 1e300, 'open')", k))
	}
	ask("one person")
	root.exec("INSERT INTO s.orders SELECT id + 1000, 8, region, store, -qty, -amount, -score, status FROM s.orders")
	ask("two persons")
}

// TestGroupsTogetherAreReplayed: asked again, by the same or another spelling of the choice, an
// answer is the stored one only where the plan is the same.
func TestGroupsTogetherAreReplayed(t *testing.T) {
	i := startWith(t, "", seeded(t, "replay", 1))
	root := i.root()
	shopping(root, 300)
	ann := i.analyst(root, "ann", "s")
	ann.exec("USE s", "SET dp_rho = 1")
	const q = "SELECT region, COUNT(*), AVG(amount) FROM orders GROUP BY region ORDER BY region"
	spent := func() string { return root.value("SELECT MAX(spent_rho) FROM dp.budgets") }
	first, cost := ann.query(q), spent()
	ann.exec("SET dp_group_by = 'vector'") // what auto took
	if again := ann.query(q); fmt.Sprint(again) != fmt.Sprint(first) || spent() != cost {
		t.Errorf("asked again: got %v for %s, before %v for %s", again, spent(), first, cost)
	}
	ann.exec("SET dp_group_by = 'separate'")
	if apart := ann.query(q); fmt.Sprint(apart) == fmt.Sprint(first) || spent() == cost {
		t.Errorf("asked apart: got %v for %s, as together", apart, spent())
	}
}

// TestSumsByGroupOfOneRowAPerson: with a key of one row a person sums and means by group are told
// of 30 persons a group, with the totals of all groups; each group by itself, they are all NULL.
func TestSumsByGroupOfOneRowAPerson(t *testing.T) {
	i := startWith(t, "", seeded(t, "one row", 1))
	root := i.root()
	root.exec("CREATE DATABASE k", "CREATE TABLE k.c (id INT PRIMARY KEY, g INT NOT NULL, x INT NOT NULL)")
	var rows []string
	exact := 0
	for p := range 600 {
		x := 50 + p*7919%200
		exact += x
		rows = append(rows, fmt.Sprintf("(%d, %d, %d)", p, p%20, x))
	}
	root.exec("INSERT INTO k.c VALUES "+strings.Join(rows, ", "), "CALL dp_protect('k.c', 'id', 'person')",
		"CALL dp_set_budget('k.c', '*', 1000, 1e-3, 'never')", "CALL dp_set_domain('k.c', 'g', '{\"min\": 0, \"max\": 19}')", "SET dp_epsilon = 1")
	const query = "SELECT COUNT(s), COUNT(a), COALESCE(SUM(s), 0) FROM (SELECT g, SUM(x) AS s, AVG(x) AS a FROM k.c GROUP BY g) t"
	for k, way := range []string{"auto", "vector", "separate"} {
		least := []int{15, 15, 0}[k]
		root.exec("SET dp_group_by = '" + way + "'")
		row := root.query(query)[0]
		sums, _ := strconv.Atoi(row[0])
		means, _ := strconv.Atoi(row[1])
		if told := sums + means; told < 2*least || least == 0 && told > 4 {
			t.Errorf("%s: of 20 groups %d sums and %d means are told", way, sums, means)
		}
		if total, _ := strconv.ParseFloat(row[2], 64); least > 0 && math.Abs(total/float64(exact)-1) > 0.5 {
			t.Errorf("%s: the sums add up to %v, want about %d", way, total, exact)
		}
	}
}

// TestCountsByGroupAddUpWithoutBias: counts that noise brings under 0 are shown so that they add up
// to what was released. Each shown as 0 by itself, they add up to half as much again.
func TestCountsByGroupAddUpWithoutBias(t *testing.T) {
	i := startWith(t, "", seeded(t, "add up", 1))
	root := i.root()
	root.exec("CREATE DATABASE k", "CREATE TABLE k.c (id INT PRIMARY KEY, g INT NOT NULL)")
	var rows []string
	for p := range 200 {
		rows = append(rows, fmt.Sprintf("(%d, %d)", p, p%100))
	}
	root.exec("INSERT INTO k.c VALUES "+strings.Join(rows, ", "), "CALL dp_protect('k.c', 'id', 'person')",
		"CALL dp_set_budget('k.c', '*', 1000, 1e-3, 'never')", "CALL dp_set_domain('k.c', 'g', '{\"min\": 0, \"max\": 99}')", "SET dp_epsilon = 1")
	const runs = 16
	sum, low := 0.0, 0
	for k := range runs {
		row := root.query(fmt.Sprintf("SELECT SUM(n), MIN(n), SUM(l > n OR h < n) FROM (SELECT g, COUNT(*) AS n, DP_LOW(n) AS l, DP_HIGH(n) AS h FROM k.c WHERE id > %d GROUP BY g) t", -k))[0]
		total, _ := strconv.ParseFloat(row[0], 64)
		if sum += total / runs; strings.HasPrefix(row[1], "-") {
			low++
		}
	}
	// of 100 counts whose noise has a standard deviation of about 6 each
	if math.Abs(sum-200) > 6*60/math.Sqrt(runs) || low > 0 {
		t.Errorf("counts add up to %v in the mean, want 200; under 0 in %d of %d answers", sum, low, runs)
	}
}
