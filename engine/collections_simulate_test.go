package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"scrim/engine/estimator/noise"
	"scrim/test/testenv"
)

// simulated is a server with a public sample, a protected table and collections in DRAFT.
func simulated(t *testing.T) (*instance, *client) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE shop", "CREATE DATABASE survey", "USE shop",
		"CREATE TABLE sample (id INT PRIMARY KEY, minutes DOUBLE, a DOUBLE, b DOUBLE)",
		"CREATE TABLE trips (id INT PRIMARY KEY, person INT, minutes INT, label VARCHAR(20), v JSON)",
		"CREATE TABLE people (person INT PRIMARY KEY, minutes INT)",
		"CREATE TABLE loose (minutes INT)")
	var sample, trips, people []string
	for n := range 600 {
		sample = append(sample, fmt.Sprintf("(%d, %d, %d, %d)", n, n%100, n%3, n%5))
		trips = append(trips, fmt.Sprintf("(%d, %d, %d, 'x%d', '[1, 2]')", n, n%300, n%100, n))
		people = append(people, fmt.Sprintf("(%d, %d)", n, n%100))
	}
	root.exec("INSERT INTO sample VALUES "+strings.Join(sample, ","), "INSERT INTO trips VALUES "+strings.Join(trips, ","),
		"INSERT INTO people VALUES "+strings.Join(people, ","), "INSERT INTO loose VALUES (1)",
		"CALL dp_public('shop.sample')", "CALL dp_protect('shop.trips', 'person', 'person')", "CALL dp_protect('shop.people', 'person', 'person')",
		"CALL dp_set_budget('shop.trips', '*', 500, 1e-4, 'never')", "CALL dp_set_budget('shop.people', '*', 2000, 1e-4, 'never')")
	root.query(`CALL dp_create_collection('survey.commute', 'LDP_BIT', '{"epsilon": 2, "lo": 0, "hi": 100, "n_expected": 2000}')`)
	root.query(`CALL dp_create_collection('survey.place', 'LDP_SCM3', '{"epsilon": 4, "dimension": 2, "centre_norm": 8, "sigma_min": 0.5, "sigma_max": 2, "n_expected": 30000}')`)
	root.query(`CALL dp_create_collection('survey.income', 'SHUF_SUM', '{"epsilon": 1, "delta": 1e-6, "lo": 0, "hi": 100, "n_expected": 400, "trust": "separate"}')`)
	return i, root
}

// charges returns what the ledger holds of charges to a table: how many, their ρ, pure ε and δ, and
// how the last ended.
func (c *client) charges(table string) (n int, rho, pure, delta float64, outcome string) {
	c.t.Helper()
	testenv.Until(c.t, time.Minute, "how the statements ended, which is recorded after them", func() bool {
		return c.value("SELECT COUNT(*) FROM dp.ledger WHERE outcome = 'unfinished'") == "0"
	})
	for _, r := range c.query("SELECT rho, pure_epsilon, delta, outcome FROM dp.ledger WHERE account_type = 'table' AND rho > 0 AND table_name = ? ORDER BY id", table) {
		n++
		for i, to := range []*float64{&rho, &pure, &delta} {
			if r[i] != "NULL" {
				*to += numeral(c.t, r[i])
			}
		}
		outcome = r[3]
	}
	return n, rho, pure, delta, outcome
}

// TestSimulatePublic: truth and error are told, a seed repeats everything, and nothing is charged.
func TestSimulatePublic(t *testing.T) {
	_, root := simulated(t)
	began := time.Now()
	rows := root.query("CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.sample', 20000, 20)")
	t.Logf("20 runs of 20,000 contributors: %v", time.Since(began))
	if len(rows) != 20 || rows[19][0] != "20" {
		t.Fatalf("%d runs: %v", len(rows), rows)
	}
	worst := 0.0
	for _, r := range rows {
		se, miss := numeral(t, r[2]), numeral(t, r[4])
		// 20,000 slots hold the 600 rows 33 or 34 times each
		if got := numeral(t, r[3]); math.Abs(got-49.5) > 0.2 {
			t.Errorf("truth %v", got)
		}
		if !strings.Contains(r[1], `"mean"`) || r[5] != "NULL" {
			t.Errorf("run %v", r)
		}
		worst = max(worst, math.Abs(miss)/se)
	}
	if worst > 6.5 || worst < 0.2 {
		t.Errorf("the largest error of 20 is %v standard errors", worst)
	}
	again := func(seed int) string {
		return fmt.Sprint(root.query(fmt.Sprintf("CALL dp_simulate_collection('survey.commute', 'SELECT minutes FROM shop.sample WHERE id < 300', 500, 3, %d)", seed)))
	}
	if a, b, c := again(7), again(7), again(8); a != b || a == c {
		t.Errorf("seeds: %s, %s, %s", a, b, c)
	}
	vectors := root.query("CALL dp_simulate_collection('place', 'SELECT a, b FROM shop.sample', 30000, 2, 1)")
	for _, r := range vectors {
		if r[3] != "[1,2]" && r[3] != "[1, 2]" {
			t.Errorf("truth of vectors: %v", r)
		}
		if se, miss := numeral(t, r[2]), numeral(t, r[4]); !(miss < 8*se) {
			t.Errorf("error of vectors %v, standard error %v", miss, se)
		}
	}
	sums := root.query("CALL dp_simulate_collection('income', 'SELECT minutes FROM shop.sample', 400, 2)")
	for _, r := range sums {
		if se, miss := numeral(t, r[2]), numeral(t, r[4]); !(math.Abs(miss) < 8*se) {
			t.Errorf("error of shuffled sums %v, standard error %v", miss, se)
		}
	}
	if got := root.value("SELECT COUNT(*) FROM dp.ledger WHERE rho > 0"); got != "0" {
		t.Errorf("%s charges for simulations over public data", got)
	}
	if got := root.query("SELECT simulation, source, contributors, COUNT(*), COUNT(truth) FROM dp.collection_sim_results WHERE collection = 'commute' GROUP BY 1, 2, 3 ORDER BY 1"); fmt.Sprint(got) != "[[1 public 20000 20 20] [2 public 500 3 3] [3 public 500 3 3] [4 public 500 3 3]]" {
		t.Errorf("kept: %v", got)
	}
}

// TestSimulateProtected is the specification's test 15.
func TestSimulateProtected(t *testing.T) {
	i, root := simulated(t)
	rows := root.query("CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.people', 2000, 3)")
	if len(rows) != 3 {
		t.Fatalf("%d runs", len(rows))
	}
	for _, r := range rows {
		if r[3] != "NULL" || r[4] != "NULL" || !strings.Contains(r[1], `"mean"`) || !(numeral(t, r[2]) > 0) {
			t.Errorf("a run over persons: %v", r)
		}
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9*max(1, want) {
			t.Errorf("%s: charged %v, want %v", what, got, want)
		}
	}
	n, rho, pure, delta, outcome := root.charges("shop.people")
	if n != 1 || delta != 0 || outcome != "answered" {
		t.Errorf("%d charges, delta %v, %s", n, delta, outcome)
	}
	near("rho of three runs of epsilon 2", rho, 3*2*2/2)
	near("pure epsilon", pure, 6)
	if got := root.value("SELECT COUNT(*) FROM dp.ledger WHERE account_type = 'entity' AND account = 'person' AND rho > 0"); got != "1" {
		t.Errorf("%s charges to the entity", got)
	}
	if got := fmt.Sprint(root.query("SELECT statement, mechanisms FROM dp.ledger WHERE account_type = 'table' AND rho > 0")); !strings.Contains(got, "simulation of survey.commute (LDP_BIT), 3 runs") {
		t.Errorf("the ledger says %s", got)
	}

	// Several rows of a person, values that fail, raw access: charged, and no error.
	for _, q := range []string{
		"SELECT minutes FROM shop.trips", "SELECT 100 / (minutes - 5) FROM shop.trips WHERE minutes < 90", "SELECT CAST(label AS SIGNED) FROM shop.trips",
		"SELECT t.minutes * 2 AS m FROM shop.trips AS t WHERE t.person > 10 AND LENGTH(t.label) > 1", "SELECT LN(minutes - 50) FROM shop.trips", "SELECT minutes FROM shop.trips WHERE minutes > 1000",
	} {
		before, _, _, _, _ := root.charges("shop.trips")
		if rows := root.query("CALL dp_simulate_collection('commute', ?, 500, 1)", q); len(rows) != 1 || rows[0][3] != "NULL" || rows[0][1] == "NULL" {
			t.Errorf("%s: %v", q, rows)
		}
		if after, _, _, _, outcome := root.charges("shop.trips"); after != before+1 || outcome != "answered" {
			t.Errorf("%s: %d charges, the last %s", q, after-before, outcome)
		}
	}
	root.exec("SET dp_raw = ON")
	if rows := root.query("CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.people', 500, 1)"); rows[0][3] != "NULL" {
		t.Errorf("raw access tells the truth: %v", rows)
	}
	root.exec("SET dp_raw = OFF")

	// Vectors, (ε,δ) of the shuffle model, and a guarantee that is stated as ρ.
	_, rho0, pure0, delta0, _ := root.charges("shop.trips")
	root.query("CALL dp_simulate_collection('place', 'SELECT minutes / 50, 1 FROM shop.trips', 30000, 1)")
	root.query("CALL dp_simulate_collection('place', 'SELECT v FROM shop.trips', 30000, 1)")
	_, rho1, pure1, _, _ := root.charges("shop.trips")
	near("two runs of epsilon 4", pure1-pure0, 8)
	near("their rho, which is not more than epsilon", rho1-rho0, 8)
	root.query("CALL dp_simulate_collection('income', 'SELECT minutes FROM shop.trips', 400, 2)")
	_, rho2, pure2, delta2, _ := root.charges("shop.trips")
	near("rho of two shuffled runs", rho2-rho1, 1)
	near("their delta", delta2-delta0, 2e-6)
	near("their pure epsilon", pure2-pure1, 0)
	root.query(`CALL dp_create_collection('survey.rho', 'LDP_SCM3', '{"epsilon": 4, "option": "zcdp", "pays_epsilon": 22.2092, "dimension": 2, "centre_norm": 8, "sigma_min": 0.5, "sigma_max": 2, "n_expected": 60000}')`)
	root.query("CALL dp_simulate_collection('rho', 'SELECT v FROM shop.trips', 60000, 1)")
	_, rho3, pure3, delta3, _ := root.charges("shop.trips")
	near("rho of the option zcdp", rho3-rho2, 4)
	near("its pure epsilon", pure3-pure2, 0)
	near("its delta", delta3-delta2, 0)

	i.collectorsOwn(root)
}

// collectorsOwn: a collector simulates over what they may read, and sees the results; nobody else
// does either.
func (i *instance) collectorsOwn(root *client) {
	root.exec("CREATE USER carl IDENTIFIED BY 'pw'", "GRANT collector TO carl", "CREATE USER dora IDENTIFIED BY 'pw'", "GRANT SELECT ON shop.* TO dora", "GRANT SELECT ON dp.* TO dora", "GRANT SELECT ON dp.* TO carl")
	carl, dora := i.client("carl", "pw"), i.client("dora", "pw")
	if _, err := carl.try("CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.people', 500, 1)"); err == nil {
		i.t.Error("a collector simulates over a table that they may not read")
	}
	root.exec("GRANT SELECT ON shop.people TO carl")
	carl.query("CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.people', 500, 1)")
	dora.refused(1227, "42000", "CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.people', 500, 1)")
	if got := carl.value("SELECT COUNT(*) FROM dp.collection_sim_results WHERE truth IS NULL"); got == "0" {
		i.t.Error("a collector sees no results")
	}
	if got := dora.value("SELECT COUNT(*) FROM dp.collection_sim_results"); got != "0" {
		i.t.Errorf("an analyst sees %s results", got)
	}
}

// unsuitableSources are refused whatever the rows are.
var unsuitableSources = []string{
	"SELECT t.minutes FROM shop.trips t JOIN shop.people p ON t.person = p.person",
	"SELECT t.minutes FROM shop.trips t, shop.sample s WHERE t.id = s.id",
	"SELECT AVG(minutes) FROM shop.trips", "SELECT MAX(minutes) FROM shop.trips GROUP BY person", "SELECT minutes FROM shop.trips GROUP BY minutes",
	"SELECT minutes FROM shop.trips LIMIT 10", "SELECT minutes FROM shop.trips ORDER BY minutes", "SELECT DISTINCT minutes FROM shop.trips",
	"SELECT SUM(minutes) OVER () FROM shop.trips", "SELECT minutes FROM (SELECT minutes FROM shop.trips) x",
	"SELECT minutes FROM shop.trips UNION ALL SELECT minutes FROM shop.people", "SELECT minutes FROM shop.sample UNION ALL SELECT minutes FROM shop.people",
	"SELECT minutes FROM shop.trips WHERE minutes > (SELECT AVG(minutes) FROM shop.sample)", "SELECT minutes FROM shop.trips WHERE id IN (SELECT id FROM shop.sample)",
	"SELECT (SELECT COUNT(*) FROM shop.people) FROM shop.sample", "SELECT minutes FROM shop.sample WHERE EXISTS (SELECT 1 FROM shop.trips WHERE minutes = 3)",
	"SELECT minutes + RAND() FROM shop.trips", "SELECT minutes FROM shop.trips WHERE RAND() < 0.5",
	"SELECT DP_MEAN(minutes) FROM shop.trips", "SELECT label FROM shop.trips", "SELECT minutes, minutes FROM shop.trips", "SELECT v FROM shop.trips",
	"SELECT minutes FROM shop.loose", "SELECT t.minutes FROM shop.loose, shop.trips t", "SELECT epsilon FROM dp.budgets", "SELECT minutes FROM shop.trips INTO @x",
	"WITH x AS (SELECT minutes FROM shop.trips) SELECT minutes FROM x", "INSERT INTO shop.sample SELECT minutes FROM shop.trips", "EXPLAIN SELECT minutes FROM shop.trips",
	"SELECT minutes FROM shop.trips WHERE SLEEP(1) = 0",
}

// TestSimulateRefused: nothing is charged, and no refusal depends on rows.
func TestSimulateRefused(t *testing.T) {
	_, root := simulated(t)
	calls := []string{
		// a seed
		"CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.trips', 500, 1, 7)",
		// too few for a cell
		"CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.trips', 5, 1)",
		// and for a batch
		"CALL dp_simulate_collection('income', 'SELECT minutes FROM shop.trips', 10, 1)",
		"CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.trips', 500, 0)", "CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.trips', 500, 1001)",
		"CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.trips', 20000000, 1)", "CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.trips', 9000000, 900)",
		"CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.trips', (SELECT COUNT(*) FROM shop.trips), 1)",
		"CALL dp_simulate_collection('nowhere', 'SELECT minutes FROM shop.trips', 500, 1)",
		// more than the budget has
		"CALL dp_simulate_collection('commute', 'SELECT minutes FROM shop.trips', 500, 900)",
	}
	for _, q := range unsuitableSources {
		calls = append(calls, "CALL dp_simulate_collection('commute', '"+strings.ReplaceAll(q, "'", "''")+"', 500, 1)")
	}
	ask := func() (out []string) {
		for _, q := range calls {
			rows, err := root.try(q)
			if err == nil {
				t.Errorf("%s: %v", q, rows)
				continue
			}
			if strings.Contains(err.Error(), "1105") || strings.Contains(err.Error(), "internal") {
				t.Errorf("%s: %v", q, err)
			}
			out = append(out, err.Error())
		}
		return out
	}
	first := ask()
	for n, q := range calls[10:] {
		if text := first[min(n+10, len(first)-1)]; !strings.Contains(text, "45D50") && !strings.Contains(text, "1064") {
			t.Logf("%s: %s", q, text)
		}
	}
	root.exec("SET dp_raw = ON", "DELETE FROM shop.trips WHERE person > 3", "INSERT INTO shop.trips (id, person, minutes) VALUES (9000, NULL, 1), (9001, 1, NULL)")
	root.exec("DELETE FROM shop.people", "SET dp_raw = OFF")
	if second := ask(); fmt.Sprint(first) != fmt.Sprint(second) {
		t.Errorf("the refusals depend on rows:\n%v\n%v", first, second)
	}
	for _, table := range []string{"shop.trips", "shop.people"} {
		if n, _, _, _, _ := root.charges(table); n != 0 {
			t.Errorf("%d charges to %s for refused simulations", n, table)
		}
	}
}

// TestSimulateNeighbours looks at what is handed to randomisers, with the same secrets, for all
// neighbours of a small table: one value at most is another one.
func TestSimulateNeighbours(t *testing.T) {
	i := startWith(t, "", func() noise.Noiser { return noise.New(rand.NewPCG(1, 2)) })
	var seen [][]float64
	i.simulator.Scanned = func(values [][]float64) { seen = values }
	root := i.root()
	root.exec("CREATE DATABASE shop", "CREATE DATABASE survey", "USE shop", "CREATE TABLE trips (person INT, minutes INT)", "CALL dp_protect('shop.trips', 'person', 'person')",
		"CALL dp_set_budget('shop.trips', '*', 1e6, 1e-4, 'never')")
	root.query(`CALL dp_create_collection('survey.commute', 'LDP_BIT', '{"epsilon": 8, "lo": 0, "hi": 100, "n_expected": 2000}')`)
	owner := i.root()
	owner.exec("USE shop", "SET dp_raw = ON")
	fill := func(skip, exchange int) {
		var rows []string
		for p := range 40 {
			for k := range 1 + p%3 {
				switch {
				case p == skip:
				case p == exchange:
					rows = append(rows, fmt.Sprintf("(%d, %d)", 1000+7*p, 70+p))
				default:
					rows = append(rows, fmt.Sprintf("(%d, %d)", p, p+10*k))
				}
			}
		}
		owner.exec("DELETE FROM trips", "INSERT INTO trips VALUES "+strings.Join(rows, ","), "INSERT INTO trips VALUES (NULL, 99)")
	}
	// As many slots as persons, and more; a condition that takes some of them. Where there are
	// fewer the choice is by chance, see TestReservoir.
	for _, c := range []struct {
		query string
		slots int
	}{{"SELECT minutes FROM shop.trips", 40}, {"SELECT minutes FROM shop.trips", 60}, {"SELECT minutes FROM shop.trips WHERE minutes < 35", 50}} {
		sample := func(skip, exchange int) map[string]int {
			fill(skip, exchange)
			root.query(fmt.Sprintf("CALL dp_simulate_collection('commute', '%s', %d, 1)", c.query, c.slots))
			out := map[string]int{"NULL": c.slots - len(seen)}
			for _, v := range seen {
				out[fmt.Sprint(v)]++
			}
			return out
		}
		whole := sample(-1, -1)
		if whole["[99]"] != 0 {
			t.Errorf("%v: the row of nobody is used", c)
		}
		moved := 0
		for p := 2; p < 40; p += 7 { // persons of one, two and three rows
			for _, other := range []map[string]int{sample(p, -1), sample(-1, p)} {
				d := distance(whole, other)
				moved = max(moved, d)
				if d > 2 {
					t.Errorf("%v: person %d moves %d values", c, p, d/2)
				}
			}
		}
		if moved == 0 {
			t.Errorf("%v: no neighbour moves anything, so the test sees nothing", c)
		}
	}
}

// distance is the size of the symmetric difference of two multisets: 2 where one element is
// exchanged.
func distance(a, b map[string]int) int {
	d := 0
	for k := range a {
		d += max(a[k]-b[k], b[k]-a[k])
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			d += b[k]
		}
	}
	return d
}

// TestForecast is everybody's, makes nothing and leaves no trace.
func TestForecast(t *testing.T) {
	i, root := simulated(t)
	ann := i.analyst(root, "ann", "")
	before := root.value("SELECT COUNT(*) FROM dp.ledger")
	got := map[string]string{}
	for _, r := range ann.query(`CALL dp_forecast_collection('LDP_BIT', '{"epsilon": 1, "lo": 0, "hi": 120, "n_expected": 20000}')`) {
		got[r[0]] = r[1]
	}
	// (hi − lo)·A/(2√n), A = (e+1)/(e−1), see section 3.1 of the specification
	if se := numeral(t, got["standard_error"]); math.Abs(se-120*2.16395/(2*math.Sqrt(20000))) > 1e-3 {
		t.Errorf("standard error %v", se)
	}
	if got["n_least"] != "118" || got["contributor_epsilon"] != "1" || got["report_bytes"] != "17" || got["uuid"] != "" {
		t.Errorf("forecast: %v", got)
	}
	ann.refused(1644, "45D10", "CALL dp_forecast_collection('LDP_NONE', '{}')")
	ann.refused(1644, "45D10", `CALL dp_forecast_collection('LDP_BIT', '{"epsilon": 100, "lo": 0, "hi": 1, "n_expected": 1000}')`)
	if after := root.value("SELECT COUNT(*) FROM dp.ledger"); after != before {
		t.Errorf("the ledger grew from %s to %s", before, after)
	}
}
