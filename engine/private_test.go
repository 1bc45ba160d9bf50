package engine

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// people fills d.people with n persons of known values, and protects it with a large budget.
func people(t *testing.T, root *client, n int) {
	t.Helper()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.people (id INT, city VARCHAR(10), age INT, income DECIMAL(10,2), h DOUBLE)")
	var rows []string
	for p := range n {
		city := []string{"north", "south", "east"}[p%3]
		rows = append(rows, fmt.Sprintf("(%d,'%s',%d,%d.25,%g)", p, city, 20+p%50, 1000+p%100, 1.5+float64(p%10)/10))
		if len(rows) == 500 || p == n-1 {
			root.exec("INSERT INTO d.people VALUES " + strings.Join(rows, ","))
			rows = rows[:0]
		}
	}
	root.exec(
		"CALL dp_protect('d.people', 'id', 'person')",
		`CALL dp_set_domain('d.people', 'city', '["north","south","east","west"]')`,
		"CALL dp_set_budget('d.people', '*', 1000, 1e-5, 'never')",
		"CALL dp_set_budget('d.people', 'default', 500, 1e-5, 'never')",
	)
}

func near(t *testing.T, what, got string, want, within float64) {
	t.Helper()
	f, err := strconv.ParseFloat(got, 64)
	if err != nil || math.Abs(f-want) > within {
		t.Errorf("%s: got %s, want %g within %g", what, got, want, within)
	}
}

func TestPrivateQueries(t *testing.T) {
	i := startWith(t, "", seeded(t, "private", 1)) // the answers are compared
	root := i.root()
	people(t, root, 3000)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_epsilon = 5")

	near(t, "COUNT(*)", ann.value("SELECT COUNT(*) FROM people"), 3000, 60)
	near(t, "DP_COUNT(*)", ann.value("SELECT DP_COUNT(*) FROM people"), 3000, 60)
	near(t, "AVG", ann.value("SELECT AVG(age) FROM people"), 44.5, 3)
	near(t, "prepared", ann.value("SELECT COUNT(*) FROM people WHERE age < ?", 45), 1500, 60)
	rows := ann.query("SELECT city, COUNT(*) AS n, AVG(income) AS m FROM people GROUP BY city ORDER BY city")
	if len(rows) != 4 || rows[3][0] != "west" {
		t.Fatalf("got %v, want the four cities of the domain", rows)
	}
	for _, r := range rows[:3] {
		near(t, r[0], r[1], 1000, 60)
		near(t, r[0], r[2], 1049.75, 40)
	}
	near(t, "west", rows[3][1], 0, 60)
	near(t, "post-processing", ann.value("SELECT SUM(n) FROM (SELECT city, COUNT(*) AS n FROM people GROUP BY city) x"), 3000, 200)

	if got := ann.value("SELECT DP_MEAN(age) FROM people WHERE id < 5"); got != "NULL" {
		t.Errorf("the mean over five persons: got %s, want NULL", got)
	}
	if w := ann.query("SHOW WARNINGS"); len(w) != 1 || w[0][1] != "1644" || !strings.Contains(w[0][2], "persons") {
		t.Errorf("got warnings %v, want one that gives the number of persons needed", w)
	}

	before := ann.value("SELECT spent_epsilon FROM dp.budgets WHERE account = 'd.people'")
	again := ann.query("SELECT city, COUNT(*) AS n, AVG(income) AS m FROM people GROUP BY city ORDER BY city")
	if fmt.Sprint(again) != fmt.Sprint(rows) {
		t.Errorf("asked again: got %v, want the stored answer %v", again, rows)
	}
	ann.query("EXPLAIN SELECT AVG(age) FROM people WHERE age > 30")
	if got := ann.query("SELECT COUNT(*) FROM people WHERE 0 = 1"); len(got) != 1 {
		t.Errorf("a zero-row probe: got %v, want one row", got)
	}
	ann.query("SELECT * FROM people LIMIT 0")
	if after := ann.value("SELECT spent_epsilon FROM dp.budgets WHERE account = 'd.people'"); after != before {
		t.Errorf("replays, EXPLAIN and probes cost something: %s, then %s", before, after)
	}
	if n := len(ann.query("SELECT * FROM dp.ledger")); n < 6 {
		t.Errorf("got %d lines of the ledger, want a line for each charge", n)
	}
}

func TestNothingElseLeaves(t *testing.T) {
	i := start(t, "")
	root := i.root()
	people(t, root, 300)
	root.exec("CREATE TABLE d.other (id INT, x INT)", "INSERT INTO d.other VALUES (1, 1)")
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d")
	for _, c := range []struct{ state, query string }{
		{"45001", "SELECT * FROM other"},
		{"45001", "SELECT COUNT(*) FROM other"},
		{"45002", "SELECT * FROM people"},
		{"45002", "SELECT age FROM people WHERE id = 3"},
		{"45002", "SELECT DISTINCT id FROM people"},
		{"45005", "SELECT BIT_OR(age) FROM people"},
		{"45005", "SELECT GROUP_CONCAT(city) FROM people"},
		{"45010", "SELECT COUNT(*) FROM people INTO @x"},
		{"45010", "SET @x = (SELECT COUNT(*) FROM people)"},
		{"45010", "EXPLAIN ANALYZE SELECT COUNT(*) FROM people"},
		{"45007", "SET dp_epsilon = 0"},
		{"45007", "SET dp_epsilon = -1"},
		{"45007", "SET dp_epsilon = 1e308"},
		{"45007", "SET dp_epsilon = NULL"},
		{"45007", "SELECT /*+ SET_VAR(dp_epsilon=0) */ COUNT(*) FROM people"},
		{"45014", "SET dp_raw = ON"},
	} {
		ann.refused(1644, c.state, c.query)
	}
	// MySQL's own words for a value of the wrong type
	ann.refused(1231, "42000", "SET dp_epsilon = 'text'")
	for _, q := range []string{
		"INSERT INTO other SELECT id, age FROM people", "CREATE TABLE copy AS SELECT * FROM people",
		"UPDATE people SET age = 1", "DELETE FROM people", "SELECT x FROM other WHERE x IN (SELECT age FROM people)",
		"SELECT id FROM people UNION SELECT 1", "SELECT EXISTS (SELECT 1 FROM people WHERE id = 3)",
	} {
		if rows, err := ann.try(q); err == nil {
			t.Errorf("%s: got %v, want a refusal", q, rows)
		}
	}
	for _, q := range []string{
		"SELECT table_name, table_rows FROM information_schema.tables WHERE table_schema = 'd'",
		"SHOW TABLE STATUS FROM d", "SHOW INDEX FROM d.people", "SHOW CREATE TABLE d.people", "DESCRIBE d.people",
		"SELECT * FROM information_schema.statistics WHERE table_schema = 'd'",
		"SELECT * FROM information_schema.partitions WHERE table_schema = 'd'",
	} {
		for _, r := range ann.query(q) {
			for _, v := range r {
				if v == "300" {
					t.Errorf("%s shows the number of rows: %v", q, r)
				}
			}
		}
	}
	if n := len(ann.query("SELECT * FROM dp.ledger")); n != 0 {
		t.Errorf("refusals were charged: %d lines in the ledger", n)
	}
	// A DBA is treated like anyone, until raw access is switched on, which is on record.
	root.refused(1644, "45002", "SELECT age FROM d.people")
	root.exec("SET dp_raw = ON")
	if got := root.value("SELECT COUNT(*) FROM d.people"); got != "300" {
		t.Errorf("raw access: got %s, want 300", got)
	}
	if got := root.query("SELECT * FROM dp.ledger WHERE outcome = 'dp_raw'"); len(got) != 1 {
		t.Errorf("got %v in the ledger, want one note of raw access", got)
	}
	fresh := i.root()
	fresh.refused(1644, "45002", "SELECT age FROM d.people")
}

func TestBudgetsHold(t *testing.T) {
	dir := t.TempDir() + "/data"
	i := start(t, dir)
	root := i.root()
	people(t, root, 300)
	ann := i.analyst(root, "ann", "d")
	root.exec("CALL dp_set_budget('d.people', 'ann@%', 2.5, 1e-6, 'never')")
	ann.exec("SET dp_epsilon = 1")
	answered := 0
	for n := range 20 {
		if _, err := ann.try(fmt.Sprintf("SELECT COUNT(*) FROM d.people WHERE age > %d", n)); err != nil {
			ann.refused(1644, "45013", fmt.Sprintf("SELECT COUNT(*) FROM d.people WHERE age > %d", n))
			break
		}
		answered++
	}
	if answered == 0 || answered > 12 {
		t.Errorf("got %d answers of epsilon 1 from a budget of 2.5", answered)
	}
	ann.exec("BEGIN", "ROLLBACK")
	ann.refused(1644, "45013", "SELECT COUNT(*) FROM d.people WHERE age > 99")
	root.exec("DROP USER 'ann'@'%'")
	ann = i.analyst(root, "ann", "d")
	ann.refused(1644, "45013", "SELECT /*+ SET_VAR(dp_epsilon=1) */ COUNT(*) FROM d.people WHERE age > 98")
	i.end()
	i = start(t, dir)
	i.client("ann", "pw-ann").refused(1644, "45013", "SELECT /*+ SET_VAR(dp_epsilon=1) */ COUNT(*) FROM d.people WHERE age > 97")
}

func TestTransactionsOverTheWire(t *testing.T) {
	i := start(t, "")
	root, other := i.root(), i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.t (id INT)", "CALL dp_public('d.t')")
	count := func(c *client) string { return c.value("SELECT COUNT(*) FROM d.t") }
	root.exec("BEGIN", "INSERT INTO d.t VALUES (1), (2)")
	if a, b := count(root), count(other); a != "2" || b != "0" {
		t.Errorf("inside a transaction: got %s and %s outside, want 2 and 0", a, b)
	}
	root.exec("ROLLBACK")
	if got := count(root); got != "0" {
		t.Errorf("after ROLLBACK: got %s, want 0", got)
	}
	root.exec("START TRANSACTION", "INSERT INTO d.t VALUES (1)", "COMMIT")
	root.exec("SET autocommit = 0", "INSERT INTO d.t VALUES (2)")
	if a, b := count(root), count(other); a != "2" || b != "1" {
		t.Errorf("under autocommit = 0: got %s and %s outside, want 2 and 1", a, b)
	}
	root.exec("SET autocommit = 1")
	if got := count(other); got != "2" {
		t.Errorf("after autocommit = 1: got %s, want 2", got)
	}
}

func TestReplaysSurviveARestart(t *testing.T) {
	dir := t.TempDir() + "/data"
	i := start(t, dir)
	root := i.root()
	people(t, root, 300)
	const query = "SELECT city, COUNT(*) FROM d.people GROUP BY city"
	first := i.analyst(root, "ann", "d").query(query)
	i.end()
	i = start(t, dir)
	ann := i.client("ann", "pw-ann")
	if again := ann.query(query); fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("after a restart: got %v, want the stored answer %v", again, first)
	}
	i.root().exec("INSERT INTO d.people VALUES (1000, 'west', 30, 1, 1)")
	const charges = "SELECT DISTINCT id FROM dp.ledger WHERE entry = 'charge'"
	if n := len(ann.query(charges)); n != 1 {
		t.Errorf("got %d charges, want one", n)
	}
	ann.query(query)
	if n := len(ann.query(charges)); n != 2 {
		t.Errorf("got %d charges after a write, want two", n)
	}
}
