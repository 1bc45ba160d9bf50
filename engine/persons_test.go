package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// ward makes c.people, c.visits linked to it, with a number and a vector of each visit, and
// c.sized, whose number of persons is public. The numbers of visits differ; person p's numbers lie
// about 50, the coordinates of vectors about 10 and −5.
func ward(root *client, persons int) {
	root.exec("CREATE DATABASE c", "CREATE TABLE c.people (id INT PRIMARY KEY, ward VARCHAR(8))",
		"CREATE TABLE c.visits (person INT, x INT NOT NULL, y DOUBLE, v VECTOR(2))", "CREATE TABLE c.sized (person INT, x INT NOT NULL)")
	r := rand.New(rand.NewPCG(31, 32))
	var people, visits, sized []string
	for p := range persons {
		people = append(people, fmt.Sprintf("(%d, '%s')", p, []string{"east", "west"}[p%2]))
		for range 5 + p%20 {
			x := 50 + 10*r.NormFloat64()
			visits = append(visits, fmt.Sprintf("(%d, %d, %g, '[%g, %g]')", p, int(math.Round(x)), x/100, 10+r.NormFloat64(), -5+2*r.NormFloat64()))
		}
		if p < 300 {
			for range 4 {
				sized = append(sized, fmt.Sprintf("(%d, %d)", p, int(math.Round(50+10*r.NormFloat64()))))
			}
		}
	}
	for table, rows := range map[string][]string{"people": people, "visits": visits, "sized": sized} {
		for len(rows) > 0 {
			n := min(len(rows), 2000)
			root.exec("INSERT INTO c." + table + " VALUES " + strings.Join(rows[:n], ", "))
			rows = rows[n:]
		}
	}
	root.exec("CALL dp_protect('c.people', 'id', 'patient')", "CALL dp_link('c.visits', 'person', 'c.people', 'id')", "CALL dp_protect('c.sized', 'person', 'sized')",
		"CALL dp_set_neighbours('c.sized', 'replace-one')", `CALL dp_set_domain('c.people', 'ward', '["east","west"]')`,
		"CALL dp_set_budget('c.people', '*', 'rho=1000', 1e-4, 'never')", "CALL dp_set_budget('c.visits', '*', 'rho=1000', 1e-4, 'never')",
		"CALL dp_set_budget('c.sized', '*', 1000, 0, 'never')")
}

// TestPersonLevelMeans asks for means by the person-level methods, over numbers and vectors,
// through a link, in groups, and on the pure account.
func TestPersonLevelMeans(t *testing.T) {
	i := startWith(t, "", seeded(t, "persons", 1))
	root := i.root()
	ward(root, 3000)
	root.exec("USE c", "SET dp_epsilon = 4")
	near := func(what, got string, want, within float64) {
		t.Helper()
		if v, err := strconv.ParseFloat(got, 64); err != nil || math.Abs(v-want) > within {
			t.Errorf("%s: got %s, want %v within %v", what, got, want, within)
		}
	}
	for _, q := range []string{
		"DP_MEAN(x, 'method=person')", "DP_MEAN(x, 'method=person, moment=4, stages=single')", "DP_MEAN(x, 'moment=8, sigma=10, rows=5')", "DP_MEAN(x, 'method=person, stages=threaded, split=persons')",
		"100 * DP_MEAN(y, 'method=person, radius=10')", "DP_MEAN(x, 'method=person, lower=0, upper=100')", "DP_MEAN(x, 'method=person, histogram=stability')",
	} {
		near(q, root.value("SELECT "+q+" FROM visits"), 50, 1)
	}
	for _, q := range []string{"DP_MEAN(v, 'method=person')", "DP_MEAN(v, 'method=person, moment=4, sigma=2')", "DP_MEAN(v, 'method=friendly, sigma=[0.4, 0.8]')", "DP_MEAN(v, 'method=friendly')"} {
		nearVector(t, q, root.value("SELECT "+q+" FROM visits"), []float64{10, -5}, 0.3)
	}
	for _, row := range root.query("SELECT ward, DP_MEAN(x, 'method=person'), DP_MEAN(v, 'method=person') FROM people JOIN visits ON id = person GROUP BY ward") {
		near(row[0], row[1], 50, 2)
		nearVector(t, row[0], row[2], []float64{10, -5}, 0.6)
	}
	root.exec("SET dp_method = 'person'")
	if plan := fmt.Sprint(root.query("EXPLAIN SELECT DP_MEAN(x) FROM visits")); !strings.Contains(plan, "coarse") {
		t.Errorf("dp_method=person plans %s", plan)
	}
	root.exec("SET dp_method = 'auto'")
	if plan := fmt.Sprint(root.query("EXPLAIN SELECT DP_MEAN(x) FROM visits")); strings.Contains(plan, "coarse") {
		t.Errorf("without a method: %s", plan)
	}

	// On the pure account: person by itself, cover where it is asked for and its facts are known.
	near("pure", root.value("SELECT DP_MEAN(x) FROM sized"), 50, 6)
	near("pure person", root.value("SELECT DP_MEAN(x, 'method=person, sigma=10, radius=1000') FROM sized"), 50, 6)
	near("pure cover", root.value("SELECT DP_MEAN(x, 'method=cover, persons=300, sigma_k=14, radius=1000, rows=4') FROM sized"), 50, 6)
	for q, word := range map[string]string{
		"DP_MEAN(x, 'method=cover, sigma_k=14') FROM visits":                                  "cannot be answered",
		"DP_MEAN(x, 'method=cover, sigma_k=14, persons=300, radius=1e9, error=1') FROM sized": "cannot be answered",
		"DP_MEAN(x, 'method=friendly') FROM visits":                                           "vectors",
		"DP_MEAN(x, 'method=person, weight=row') FROM visits":                                 "person",
		"DP_VARIANCE(x, 'method=person') FROM visits":                                         "mean of vectors",
	} {
		if e := root.refused(1644, "", "SELECT "+q); !strings.Contains(e.Message, word) {
			t.Errorf("%s: got %s, want a word on %s", q, e.Message, word)
		}
	}
}
