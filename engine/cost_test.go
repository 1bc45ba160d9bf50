package engine

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"testing"
)

var costLine = regexp.MustCompile(`cost d\.\w+  rho=([0-9.e+-]+)(?: delta_event=([0-9.e+-]+))?`)

// TestEXPLAINShowsWhatTheLedgerRecords: the cost of a statement is known before anything is read.
func TestEXPLAINShowsWhatTheLedgerRecords(t *testing.T) {
	i := startWith(t, "", seeded(t, "cost", 1))
	root := i.root()
	people(t, root, 300)
	root.exec("SET dp_raw = ON", "CREATE TABLE d.visits (person INT, g INT, h INT, n INT)", "INSERT INTO d.visits SELECT id, age % 4, age % 3, age FROM d.people",
		"INSERT INTO d.visits SELECT id, age % 3, age % 2, age + 1 FROM d.people", "CALL dp_protect('d.visits', 'person', 'visitor')",
		"CALL dp_set_domain('d.visits', 'g', '[0,1,2,3]')", "CALL dp_set_budget('d.visits', '*', 1000, 1e-4, 'never')", "SET dp_raw = OFF")
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d")
	for n, query := range []string{
		"SELECT COUNT(*) FROM people",
		"SELECT city, COUNT(*), AVG(age), DP_MEDIAN(income) FROM people GROUP BY city",
		"SELECT age, COUNT(*) FROM people GROUP BY age",
		"SELECT /*+ SET_VAR(dp_epsilon=0.25) SET_VAR(dp_delta=1e-9) */ SUM(income) FROM people WHERE age > 30",
		"SELECT /*+ SET_VAR(dp_rho=0.003) */ DP_VARIANCE(h), DP_QUANTILES(age, '[0.1,0.9]') FROM people",
		"SELECT DP_MEAN(age, 'epsilon=0.1'), COUNT(*) FROM people WHERE city = 'north'",
		"SELECT g, COUNT(*), SUM(n) FROM visits GROUP BY g",
		"SELECT /*+ SET_VAR(dp_group_by=separate) */ g, COUNT(*), SUM(n) FROM visits GROUP BY g",
		"SELECT g, AVG(n), VAR_POP(n), DP_COUNT(*, 'epsilon=0.1') FROM visits GROUP BY g",
		"SELECT h, COUNT(*), SUM(n) FROM visits GROUP BY h",
		"SELECT h, g, COUNT(*), DP_MEDIAN(n) FROM visits GROUP BY h, g",
		"SELECT COUNT(*) FROM visits v WHERE n > (SELECT AVG(w.n) FROM visits w WHERE w.g = v.g)",
		"SELECT (SELECT COUNT(*) FROM people WHERE age > 40) / COUNT(*) FROM people WHERE age > 20",
	} {
		var rho, delta float64
		for _, line := range ann.query("EXPLAIN " + query) {
			if m := costLine.FindStringSubmatch(line[0]); m != nil {
				rho, _ = strconv.ParseFloat(m[1], 64)
				delta, _ = strconv.ParseFloat("0"+m[2], 64)
			}
		}
		before := len(ann.query("SELECT DISTINCT id FROM dp.ledger"))
		if before != n {
			t.Fatalf("%s: EXPLAIN was charged, or a query was not: %d charges, want %d", query, before, n)
		}
		ann.query(query)
		got := ann.query("SELECT rho, delta FROM dp.ledger WHERE account_type = 'table' ORDER BY id DESC LIMIT 1")[0]
		for k, want := range []float64{rho, delta} {
			charged, err := strconv.ParseFloat(got[k], 64)
			if err != nil || math.Abs(charged-want) > 1e-5*want {
				t.Errorf("%s: EXPLAIN shows %v, the ledger %s", query, fmt.Sprint(rho, " ", delta), got)
			}
		}
	}
}
