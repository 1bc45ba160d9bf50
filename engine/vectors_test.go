package engine

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// profiles fills d.profiles, one row a person with vectors in every form, and d.clicks, several
// rows a person. Some rows hold what is no vector.
func profiles(t *testing.T, root *client, n int) {
	t.Helper()
	root.exec("CREATE DATABASE d",
		"CREATE TABLE d.profiles (id INT PRIMARY KEY, city VARCHAR(10), v VECTOR(3), doc JSON, note TEXT, age INT, h DOUBLE)",
		"CREATE TABLE d.clicks (id INT, page INT, v VECTOR(2))")
	var rows, clicks []string
	flush := func() {
		root.exec("INSERT INTO d.profiles VALUES "+strings.Join(rows, ","), "INSERT INTO d.clicks VALUES "+strings.Join(clicks, ","))
		rows, clicks = rows[:0], clicks[:0]
	}
	for p := range n {
		a, b := float64(p%7)-3, float64(p%11)-5
		v := fmt.Sprintf("'[%g, %g, %g]'", 10+a, b, -5+a+b)
		doc, note := v, v
		switch p % 10 {
		case 1:
			doc, note = `'[1, 2]'`, "'[1, 2'"
		case 2:
			doc, note = `'{"a": 1}'`, "NULL"
		case 3:
			doc, note = `'[1, null, 3]'`, "'none'"
		}
		rows = append(rows, fmt.Sprintf("(%d, '%s', %s, %s, %s, %d, %g)", p, []string{"north", "south"}[p%2], v, doc, note, 20+p%50, 1.5+a/10))
		for c := range 1 + p%3 {
			page := []any{c, 4, -1}[min(c, 2)]
			clicks = append(clicks, fmt.Sprintf("(%d, %v, '[%g, %d]')", p, page, a, c))
		}
		if len(rows) == 500 || p == n-1 {
			flush()
		}
	}
	root.exec(
		"CALL dp_protect('d.profiles', 'id', 'person')", "CALL dp_protect('d.clicks', 'id', 'person')",
		`CALL dp_set_domain('d.profiles', 'city', '["north","south"]')`,
		"CALL dp_set_budget('d.profiles', '*', 1000000, 1e-5, 'never')", "CALL dp_set_budget('d.profiles', 'default', 500000, 1e-5, 'never')",
		"CALL dp_set_budget('d.clicks', '*', 1000000, 1e-5, 'never')", "CALL dp_set_budget('d.clicks', 'default', 500000, 1e-5, 'never')",
	)
}

// nearVector compares a JSON array with what it should be near.
func nearVector(t *testing.T, what, got string, want []float64, within float64) {
	t.Helper()
	var v []float64
	if err := json.Unmarshal([]byte(got), &v); err != nil || len(v) != len(want) {
		t.Errorf("%s: got %s, want %v within %g", what, got, want, within)
		return
	}
	for j := range v {
		if math.Abs(v[j]-want[j]) > within {
			t.Errorf("%s: got %s, want %v within %g", what, got, want, within)
			return
		}
	}
}

// TestVectors asks for vectors in every form and type, over the wire.
func TestVectors(t *testing.T) {
	i := startWith(t, "", seeded(t, "vectors", 1)) // the answers are compared
	root := i.root()
	profiles(t, root, 6000)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_epsilon = 20")
	mean := []float64{10, 0, -5}

	for _, q := range []string{
		"SELECT DP_MEAN(v) FROM profiles", "SELECT AVG(v) FROM profiles", "SELECT DP_MEAN(v, 'method=clipped') FROM profiles",
		"SELECT DP_MEAN(v, 'method=shifted, rotate=on') FROM profiles", "SELECT DP_MEAN(v, 'method=plan, scale=pairs') FROM profiles",
		"SELECT DP_MEAN(v, 'method=plan, sigma=[2, 3, 4]') FROM profiles", "SELECT DP_MEAN(v, 'method=coinpress, radius=20, sigma_max=10') FROM profiles",
		"SELECT DP_MEAN(v, 'lower=-100, upper=100') FROM profiles",
		"SELECT DP_MEAN(doc, 'dimension=3') FROM profiles", "SELECT DP_MEAN(note, 'dimension=3') FROM profiles",
		"SELECT DP_MEAN(x) FROM (SELECT v AS x FROM profiles WHERE age > 25) d", "SELECT /*+ SET_VAR(dp_method=shifted) */ DP_MEAN(v) FROM profiles WHERE age > 20",
	} {
		nearVector(t, q, ann.value(q), mean, 1.5)
	}
	nearVector(t, "DP_VECTOR", ann.value("SELECT DP_MEAN(DP_VECTOR(age, h)) FROM profiles"), []float64{44.5, 1.5}, 4)
	nearVector(t, "DP_SUM", ann.value("SELECT DP_SUM(v) FROM profiles"), []float64{60000, 0, -30000}, 6000)
	nearVector(t, "DP_VARIANCE", ann.value("SELECT DP_VARIANCE(v) FROM profiles"), []float64{4, 10, 14}, 5)
	nearVector(t, "rows", ann.value("SELECT DP_MEAN(v) FROM clicks"), []float64{0, 0.5}, 1)
	nearVector(t, "DP_ONEHOT", ann.value("SELECT DP_MEAN(DP_ONEHOT(page, 'dimension=6')) FROM clicks"), []float64{1, 0, 0, 0, 0.667, 0}, 0.2)

	rows := ann.query("SELECT city, DP_MEAN(v) AS m, DP_VALUE(DP_MEAN(v), 1) AS first, COUNT(*) FROM profiles GROUP BY city HAVING DP_VALUE(m, 3) < 0 ORDER BY city")
	if len(rows) != 2 {
		t.Fatalf("got %v, want two cities", rows)
	}
	for _, r := range rows {
		nearVector(t, r[0], r[1], mean, 2)
		var v []float64
		if err := json.Unmarshal([]byte(r[1]), &v); err != nil || r[2] != fmt.Sprint(v[0]) {
			t.Errorf("DP_VALUE is %s, the vector %s", r[2], r[1])
		}
		near(t, "COUNT(*)", r[3], 3000, 200)
	}

	b := ann.value("SELECT DP_MEAN(v, 'answer=vector') FROM profiles")
	if len(b) != 12 {
		t.Fatalf("a VECTOR of 3 has %d bytes", len(b))
	}
	near(t, "VECTOR", fmt.Sprint(math.Float32frombits(binary.LittleEndian.Uint32([]byte(b)))), 10, 1.5)
	near(t, "DP_VALUE of a VECTOR", ann.value("SELECT DP_VALUE(DP_MEAN(v, 'answer=vector'), 1) FROM profiles"), 10, 1.5)
	if got := ann.value("SELECT DP_VALUE(DP_MEAN(v), 4) FROM profiles"); got != "NULL" {
		t.Errorf("coordinate 4 of 3: %s", got)
	}
	if got := ann.value("SELECT DP_MEAN(v) FROM profiles WHERE id < 5"); got != "NULL" {
		t.Errorf("the mean over five persons: got %s, want NULL", got)
	}
	if got := ann.value("SELECT DP_MEAN(v) FROM profiles WHERE 0 = 1"); got != "NULL" {
		t.Errorf("a zero-row probe: got %s", got)
	}
}

// TestVectorCosts: an answer asked again is free and the same, EXPLAIN is free, and refusals cost
// nothing.
func TestVectorCosts(t *testing.T) {
	i := startWith(t, "", seeded(t, "vector costs", 1), func(c *Config) { c.ReleaseMemory = 16 })
	root := i.root()
	profiles(t, root, 3000)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_epsilon = 5")
	first := ann.value("SELECT DP_MEAN(v) FROM profiles")
	spent := func() string {
		return fmt.Sprint(ann.query("SELECT account, spent_epsilon FROM dp.budgets ORDER BY account"))
	}
	before := spent()
	if again := ann.value("SELECT DP_MEAN(v) FROM profiles"); again != first {
		t.Errorf("asked again: got %s, want %s", again, first)
	}
	plan := fmt.Sprint(ann.query("EXPLAIN SELECT DP_MEAN(v), DP_VALUE(DP_MEAN(v), 1) FROM profiles"))
	if !strings.Contains(plan, "DP_MEAN(profiles.v)") {
		t.Errorf("got the plan %s", plan)
	}
	for _, q := range []string{
		"SELECT AVG(v) FROM clicks", "SELECT DP_MEAN(doc) FROM profiles", "SELECT DP_MEAN(v, 'dimension=4') FROM profiles", "SELECT DP_MEAN(v, 'method=clipped, rounds=3') FROM profiles",
		"SELECT DP_MEAN(note, 'dimension=100000') FROM profiles", "SELECT v FROM profiles", "SELECT DP_VALUE(v, 1) FROM profiles", "SELECT DP_ONEHOT(1, 'dimension=3')",
	} {
		ann.refused(1644, "", q)
	}
	if after := spent(); after != before {
		t.Errorf("replays, EXPLAIN and refusals cost something: %s, then %s", before, after)
	}
	root.exec(`CALL dp_set_defaults('d.profiles', '{"dp_method":"shifted","max_persons":1000000}')`)
	if plan := fmt.Sprint(ann.query("EXPLAIN SELECT DP_MEAN(v) FROM profiles WHERE age > 30")); !strings.Contains(plan, "persons' numbers spill to disk, up to ") {
		t.Errorf("the plan tells nothing of the disk that max_persons takes: %s", plan)
	}
}

// TestVectorsOfFew: with no, one or two persons, or with no vector in any row, every method answers
// NULL, never an error.
func TestVectorsOfFew(t *testing.T) {
	i := startWith(t, "", seeded(t, "few vectors", 1))
	root := i.root()
	root.exec("CREATE DATABASE d")
	for n, rows := range []string{
		"", "(1, '[1, 2]', '[1, 2]', 1)", "(1, '[1e300, -1e300]', '[1]', -1), (1, '[0, 0]', 'x', 99), (2, NULL, NULL, NULL)", "(1, NULL, 'x', -1), (2, NULL, '[1, null]', 99)",
	} {
		table := fmt.Sprintf("d.few%d", n)
		root.exec("CREATE TABLE " + table + " (id INT, v VECTOR(2), note TEXT, item INT)")
		if rows != "" {
			root.exec("INSERT INTO " + table + " VALUES " + rows)
		}
		root.exec("CALL dp_protect('"+table+"', 'id', 'person"+fmt.Sprint(n)+"')", "CALL dp_set_budget('"+table+"', '*', 1000, 1e-5, 'never')")
		for _, q := range []string{
			"DP_MEAN(v)", "DP_MEAN(v, 'method=clipped')", "DP_MEAN(v, 'method=shifted')", "DP_MEAN(v, 'method=plan')", "DP_MEAN(v, 'method=coinpress, sigma=1')",
			"DP_SUM(v)", "DP_VARIANCE(v)", "DP_MEAN(note, 'dimension=2')", "DP_MEAN(DP_VECTOR(item, id))", "DP_MEAN(DP_ONEHOT(item, 'dimension=3'))",
			"DP_SUM(DP_ONEHOT(item, 'dimension=3'))", "DP_STDDEV(DP_ONEHOT(item, 'dimension=3'))", "DP_VALUE(DP_MEAN(v), 1)",
		} {
			if got := root.value("SELECT " + q + " FROM " + table); got != "NULL" {
				t.Errorf("%s over %s: got %s, want NULL", q, table, got)
			}
		}
	}
}

// TestCopiesOfVectors: what CREATE TABLE … SELECT copies from a column of vectors is one, and can
// be asked for as such.
func TestCopiesOfVectors(t *testing.T) {
	i := startWith(t, "", seeded(t, "copies", 1))
	root := i.root()
	profiles(t, root, 1000)
	root.exec("SET dp_raw = ON", "CREATE TABLE d.copied AS SELECT id, v FROM d.profiles WHERE age > 0", "UPDATE d.copied SET v = STRING_TO_VECTOR('[10, 0, -5]') WHERE id < 500",
		"SET dp_raw = OFF, dp_epsilon = 20",
		"CALL dp_protect('d.copied', 'id', 'person')", "CALL dp_set_budget('d.copied', '*', 1000, 1e-5, 'never')")
	nearVector(t, "a copy", root.value("SELECT DP_MEAN(v) FROM d.copied"), []float64{10, 0, -5}, 1.5)
}

// TestScalesShapeTheNoise: declared standard deviations of a column are those that an option gives:
// in the plan, in the answer, and never in its price.
func TestScalesShapeTheNoise(t *testing.T) {
	i := startWith(t, "", seeded(t, "scales", 1))
	root := i.root()
	profiles(t, root, 3000)
	given := fmt.Sprint(root.query("EXPLAIN SELECT DP_MEAN(v, 'sigma=[2, 3, 4]') FROM d.profiles"))
	if without := fmt.Sprint(root.query("EXPLAIN SELECT DP_MEAN(v) FROM d.profiles")); strings.Contains(without, "spreads are declared") || !strings.Contains(given, "spreads are declared") {
		t.Fatalf("the option changes nothing: %s", given)
	}
	root.exec("CALL dp_set_scale('d.profiles', 'v', '[2, 3, 4]')")
	same := func(x string) string { return strings.ReplaceAll(x, ", 'sigma=[2, 3, 4]'", "") }
	if got := fmt.Sprint(root.query("EXPLAIN SELECT DP_MEAN(v) FROM (SELECT v FROM d.profiles) AS p")); !strings.Contains(got, "spreads are declared") {
		t.Errorf("through a subquery: %s", got)
	}
	if got := fmt.Sprint(root.query("EXPLAIN SELECT DP_MEAN(v) FROM d.profiles")); same(got) != same(given) {
		t.Errorf("got the plan %s, want that of the option: %s", got, given)
	}
	if got := root.value("SELECT scales FROM dp.scales WHERE table_name = 'd.profiles' AND column_name = 'v' AND size = 3"); got != "[2,3,4]" {
		t.Errorf("dp.scales shows %s", got)
	}
	root.refused(1644, "", "CALL dp_set_scale('d.profiles', 'v', '[2, -3]')")
	root.exec("CALL dp_set_scale('d.profiles', 'v', 'null')")
	if got := fmt.Sprint(root.query("EXPLAIN SELECT DP_MEAN(v) FROM d.profiles")); strings.Contains(got, "spreads are declared") {
		t.Errorf("the scales stay: %s", got)
	}
}
