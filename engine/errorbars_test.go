package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sales makes d.sales, one row a person, and an analyst who may ask: 3000 persons in two regions,
// and a third region that has nobody. It returns the persons' ages.
func sales(i *instance) (root, ann *client, ages []float64) {
	root = i.root()
	root.exec("CREATE DATABASE d", "CREATE TABLE d.sales (id INT PRIMARY KEY, region VARCHAR(8) NOT NULL, age INT NOT NULL, amount DECIMAL(8,2) NOT NULL, score DOUBLE NOT NULL, m INT, city INT)")
	r := rand.New(rand.NewPCG(31, 32))
	var rows []string
	for id := range 3000 {
		ages = append(ages, float64(20+r.IntN(50)))
		rows = append(rows, fmt.Sprintf("(%d, '%s', %v, %d.%02d, %v, 1, %d)", id, []string{"north", "south"}[id%2], ages[id], 30+r.IntN(40), r.IntN(100), r.NormFloat64(), r.IntN(3)))
	}
	root.exec("INSERT INTO d.sales VALUES "+strings.Join(rows, ","), "CALL dp_protect('d.sales', 'id', 'person')",
		`CALL dp_set_domain('d.sales', 'region', '["north","south","west"]')`, `CALL dp_set_domain('d.sales', 'age', '{"min":0,"max":100}')`,
		"CALL dp_set_budget('d.sales', '*', 100000, 1e-4, 'never')", "CALL dp_set_budget('d.sales', 'default', 50000, 1e-4, 'never')")
	return root, i.analyst(root, "ann", "d"), ages
}

// floats reads numbers; NULL is not one.
func floats(t *testing.T, texts ...string) []float64 {
	t.Helper()
	out := make([]float64, len(texts))
	for k, text := range texts {
		var err error
		if out[k], err = strconv.ParseFloat(text, 64); err != nil {
			t.Fatalf("column %d of %v: %v", k, texts, err)
		}
	}
	return out
}

// TestErrorBarsCoverAndAreFree asks for the bars of every aggregate at a level that is missed once
// in 10^8, alone and by alias: each covers the exact answer, and what is asked for after the answer
// itself costs nothing.
func TestErrorBarsCoverAndAreFree(t *testing.T) {
	root, ann, ages := sales(start(t, ""))
	n, sum, squares := float64(len(ages)), 0.0, 0.0
	for _, x := range ages {
		sum, squares = sum+x, squares+x*x
	}
	variance := squares/n - sum/n*sum/n
	spent := func() string {
		return root.value("SELECT spent_rho FROM dp.budgets WHERE account = 'd.sales' AND principal = '*'")
	}
	for _, q := range []struct {
		aggregate string
		exact     float64
	}{
		{"COUNT(*)", n}, {"DP_COUNT(DISTINCT id)", n}, {"SUM(age)", sum}, {"DP_SUM(age, 'lower=0, upper=100')", sum}, {"AVG(age)", sum / n},
		{"DP_MEAN(age)", sum / n}, {"VAR_SAMP(age)", variance * n / (n - 1)}, {"STDDEV(age)", math.Sqrt(variance)},
		{"DP_STDDEV(age)", math.Sqrt(variance * n / (n - 1))},
	} {
		plain := floats(t, ann.value("SELECT "+q.aggregate+" FROM d.sales"))[0]
		before := spent()
		row := ann.query("SELECT " + q.aggregate + " AS a, DP_LOW(a, 0.99999999), DP_HIGH(" + q.aggregate + ", 0.99999999), DP_LOW(a), DP_HIGH(a, 0.95), DP_STDERR(a) FROM d.sales")[0]
		x := floats(t, row...)
		if x[0] != plain || spent() != before {
			t.Errorf("%s: asked again the answer is %v, not %v, and spent goes from %s to %s", q.aggregate, x[0], plain, before, spent())
		}
		if !(x[1] <= q.exact && q.exact <= x[2] && x[1] <= x[3] && x[3] < x[0] && x[0] < x[4] && x[4] <= x[2] && x[5] > 0) {
			t.Errorf("%s = %v: %v", q.aggregate, q.exact, x)
		}
		// A mean's interval allows on both sides for what a clip takes.
		if w := (x[4] - x[3]) / x[5] / 3.92; w < 0.9 || w > 1.4 && q.exact != sum/n {
			t.Errorf("%s: the interval is %v times as wide as the standard error asks for", q.aggregate, w)
		}
	}
}

// TestErrorBarsAnywhere: in HAVING and ORDER BY, over derived tables and common table expressions,
// in views and in prepared statements, with public and with selected keys.
func TestErrorBarsAnywhere(t *testing.T) {
	root, ann, _ := sales(start(t, ""))
	rows := ann.query("SELECT region, COUNT(*) AS c, DP_LOW(c), DP_HIGH(c), AVG(amount) AS a, DP_LOW(a), DP_HIGH(a) FROM d.sales GROUP BY region HAVING DP_HIGH(c) > 500 ORDER BY DP_LOW(c)")
	if len(rows) != 2 {
		t.Fatalf("got %v", rows)
	}
	for _, r := range rows {
		if x := floats(t, r[1:]...); !(x[1] < x[0] && x[0] < x[2] && x[4] < x[3] && x[3] < x[5] && x[2]-x[1] < 600 && x[5]-x[4] < 20) {
			t.Errorf("got %v", r)
		}
	}
	nobody := ann.query("SELECT COUNT(*) AS c, DP_LOW(c, 0.999999999), AVG(amount) AS a, DP_LOW(a), DP_HIGH(a), DP_STDERR(a) FROM d.sales GROUP BY region HAVING region = 'west'")
	if len(nobody) != 1 || nobody[0][1] != "0" || strings.Join(nobody[0][2:], " ") != "NULL NULL NULL NULL" {
		t.Errorf("a group of nobody: %v", nobody)
	}
	for _, r := range ann.query("SELECT city, COUNT(*) AS c, DP_LOW(c, 0.5), DP_HIGH(c, 0.5) FROM d.sales GROUP BY city") {
		if x := floats(t, r[1:]...); !(x[1] <= x[0] && x[0] <= x[2]) {
			t.Errorf("got %v", r)
		}
	}
	for _, q := range []string{
		"SELECT hi - lo FROM (SELECT DP_SUM(age) AS s, DP_LOW(s) AS lo, DP_HIGH(s) AS hi FROM d.sales) x",
		"WITH c AS (SELECT DP_HIGH(DP_SUM(age)) - DP_LOW(DP_SUM(age)) AS w FROM d.sales) SELECT w FROM c",
		"SELECT (SELECT DP_HIGH(DP_SUM(age)) FROM d.sales) - (SELECT DP_LOW(DP_SUM(age)) FROM d.sales)",
	} {
		if x := floats(t, ann.value(q))[0]; !(x > 0 && x < 100000) {
			t.Errorf("%s: %v", q, x)
		}
	}
	root.exec("CREATE VIEW d.wide AS SELECT DP_MEAN(age) AS m2, DP_HIGH(m2) - DP_LOW(m2) AS w FROM d.sales")
	if x := floats(t, ann.value("SELECT w FROM d.wide"))[0]; !(x > 0 && x < 50) {
		t.Errorf("a view: %v", x)
	}
	narrow, wide := ann.value("SELECT DP_HIGH(DP_MEAN(age), ?) FROM d.sales", 0.5), ann.value("SELECT DP_HIGH(DP_MEAN(age), ?) FROM d.sales", 0.999)
	if x := floats(t, narrow, wide); !(x[0] < x[1]) {
		t.Errorf("prepared: %v", x)
	}
}

// TestErrorBarsOfVectors: arrays of one entry a coordinate, the radius, and means that are answered
// as one vector.
func TestErrorBarsOfVectors(t *testing.T) {
	_, ann, _ := sales(start(t, ""))
	list := func(text string) (out []*float64) {
		t.Helper()
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return out
	}
	row := ann.query("SELECT DP_MEAN(DP_VECTOR(age, amount)) AS v, DP_LOW(v), DP_HIGH(v), DP_STDERR(v), DP_RADIUS(v, 0.9), DP_VALUE(DP_LOW(v), 2) FROM d.sales")[0]
	v, lo, hi, s := list(row[0]), list(row[1]), list(row[2]), list(row[3])
	if len(v) != 2 || len(lo) != 2 || len(hi) != 2 || len(s) != 2 {
		t.Fatalf("got %v", row)
	}
	for j := range v {
		if !(*lo[j] < *v[j] && *v[j] < *hi[j] && *s[j] > 0) {
			t.Errorf("coordinate %d of %v", j, row)
		}
	}
	if x := floats(t, row[4:]...); !(x[0] > *s[0]) || x[1] != *lo[1] {
		t.Errorf("radius and second coordinate: %v of %v", x, row)
	}
	row = ann.query("SELECT DP_QUANTILES(age, '[0.25, 0.5]') AS q, DP_LOW(q), DP_HIGH(q, 0.5), DP_STDERR(q), DP_LOW(DP_MEDIAN(age)) FROM d.sales")[0]
	if lo, hi := list(row[1]), list(row[2]); len(lo) != 2 || len(hi) != 2 || lo[1] == nil || hi[1] == nil || *lo[1] > *hi[1] || row[3] != "[null, null]" && row[3] != "[null,null]" {
		t.Errorf("quantiles: %v", row)
	}
	row = ann.query("SELECT AVG(age) AS a, AVG(amount) AS b, AVG(score) AS c, DP_LOW(a), DP_HIGH(a), DP_LOW(b), DP_HIGH(b), DP_LOW(c), DP_HIGH(c) FROM d.sales WHERE city >= 0")[0]
	for j, x := 0, floats(t, row...); j < 3; j++ {
		if !(x[3+2*j] < x[j] && x[j] < x[4+2*j]) {
			t.Errorf("mean %d of %v", j, row)
		}
	}
}

// TestIntervalsOfQuantiles: they hold the exact quantile, are one release with the answer wherever
// they stand, and cost no more than the answer; an answer without one is no replay. The risk is
// 10^-6 an interval.
func TestIntervalsOfQuantiles(t *testing.T) {
	root, ann, ages := sales(start(t, ""))
	slices.Sort(ages)
	spent := func() float64 {
		return floats(t, root.value("SELECT spent_rho FROM dp.budgets WHERE account = 'd.sales' AND principal = '*'"))[0]
	}
	ann.query("SELECT DP_QUANTILE(age, 0.3) FROM d.sales")
	alone := spent()
	if ann.query("SELECT DP_QUANTILE(age, 0.3) AS x, DP_LOW(x) FROM d.sales"); spent() < 2*alone*(1-1e-9) {
		t.Error("the interval of a quantile was made of an answer that has none")
	}
	numbers := func(text string) []float64 {
		return floats(t, strings.Fields(strings.ReplaceAll(strings.Trim(text, "[]"), ",", " "))...)
	}
	for _, q := range []struct {
		text string
		at   []float64
	}{
		{"SELECT DP_MEDIAN(age) AS x, DP_LOW(x, 0.999999), DP_HIGH(x, 0.999999), DP_STDERR(x) FROM d.sales", []float64{0.5}},
		{"SELECT x, (SELECT DP_LOW(DP_QUANTILE(age, 0.7), 0.999999) FROM d.sales), h, NULL FROM (SELECT DP_QUANTILE(age, 0.7) AS x, DP_HIGH(DP_QUANTILE(age, 0.7), 0.999999) AS h FROM d.sales) s", []float64{0.7}},
		{"SELECT DP_QUANTILES(age, '[0.2, 0.6]') AS x, DP_LOW(x, 0.999999), DP_HIGH(x, 0.999999), NULL FROM d.sales", []float64{0.2, 0.6}},
		{"SELECT DP_MEDIAN(age, 'quantile=search') AS x, DP_LOW(x, 0.999999), DP_HIGH(x, 0.999999), DP_STDERR(x) FROM d.sales", []float64{0.5}},
	} {
		before := spent()
		row := ann.query(q.text)[0]
		x, lo, hi := numbers(row[0]), numbers(row[1]), numbers(row[2])
		for i, at := range q.at {
			if exact := ages[int(math.Ceil(at*float64(len(ages))))-1]; !(lo[i] <= min(exact, x[i]) && max(exact, x[i]) <= hi[i]) || row[3] != "NULL" {
				t.Errorf("%s: %v, exactly %v", q.text, row, exact)
			}
		}
		if cost := spent() - before; math.Abs(cost-alone) > 1e-9 {
			t.Errorf("%s: cost %v, a quantile alone %v", q.text, cost, alone)
		}
	}
}

// TestErrorBarsAreNullWhereNothingIsKnown: too few persons.
func TestErrorBarsAreNullWhereNothingIsKnown(t *testing.T) {
	_, ann, _ := sales(start(t, ""))
	if row := ann.query("SELECT DP_MEAN(amount) AS x, DP_LOW(x), DP_HIGH(x), DP_STDERR(x) FROM d.sales WHERE age = 21 AND amount > 68")[0]; strings.Join(row, " ") != "NULL NULL NULL NULL" {
		t.Errorf("too few persons: %v", row)
	}
	if row := ann.query("SELECT DP_COUNT(*), DP_LOW(DP_COUNT(*)), DP_STDERR(DP_COUNT(*)) FROM d.sales WHERE 0 = 1")[0]; strings.Join(row, " ") != "0 0 0" {
		t.Errorf("no rows: %v", row)
	}
}

// TestErrorBarsAreRefused: what is not one aggregate, in words.
func TestErrorBarsAreRefused(t *testing.T) {
	root, ann, _ := sales(start(t, ""))
	for q, words := range map[string]string{
		"SELECT DP_MEAN(amount) AS m, DP_LOW(m) FROM d.sales":                   "DP_LOW(m) is about the column m",
		"SELECT DP_MEAN(amount) AS x, DP_SUM(age) AS x, DP_LOW(x) FROM d.sales": "the alias x is given 2 times",
		"SELECT DP_LOW(age) FROM d.sales":                                       "age is neither",
		"SELECT DP_STDERR(DP_MEAN(age) + 1) FROM d.sales":                       "one DP aggregate by itself",
		"SELECT DP_LOW(DP_MEAN(age), 95) FROM d.sales":                          "between 0 and 1",
		"SELECT DP_RADIUS(DP_MEAN(age)) FROM d.sales":                           "is of vectors",
		"SELECT DP_LOW(BIT_OR(age)) FROM d.sales":                               "BIT_OR is none",
		"SELECT DP_MEAN(DP_LOW(m)) AS m FROM d.sales":                           "",
		"SELECT DP_MEAN(DP_LOW(b)) AS a, DP_SUM(DP_HIGH(a)) AS b FROM d.sales":  "",
	} {
		if _, err := ann.try(q); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: got %v, want %q", q, err, words)
		}
	}
	if rows := root.query("SELECT name FROM dp.functions WHERE function_type = 'error bar' ORDER BY name"); fmt.Sprint(rows) != "[[DP_HIGH] [DP_INFO] [DP_LOW] [DP_RADIUS] [DP_STDERR]]" {
		t.Errorf("dp.functions has %v", rows)
	}
	plan := fmt.Sprint(ann.query("EXPLAIN SELECT DP_SUM(amount) AS s, DP_LOW(s, 0.9) FROM d.sales"))
	if !strings.Contains(plan, "low level=0.9  free  covers the noise, and by an estimate the clip of persons' sums") {
		t.Errorf("EXPLAIN does not say what is covered:\n%s", plan)
	}
}

// TestInfoTellsWhatAnErrorIsMadeOf asks DP_INFO of a count whose clip is searched for, of one whose
// clip is public, of a group that nobody is in, and of a count by an alias.
func TestInfoTellsWhatAnErrorIsMadeOf(t *testing.T) {
	i := startWith(t, "", seeded(t, "info", 1))
	root := i.root()
	clinic(t, root, 4000)
	root.exec("CALL dp_set_budget('c.visits', '*', 1000, 1e-3, 'never')")
	ann := i.analyst(root, "ann", "c")
	ann.exec("USE c", "SET dp_epsilon = 2")
	info := func(query string) map[string]any {
		t.Helper()
		row := ann.query(query)[0]
		var out map[string]any
		if err := json.Unmarshal([]byte(row[len(row)-1]), &out); err != nil {
			t.Fatalf("%s: %v in %v", query, err, row)
		}
		return out
	}
	rows := info("SELECT COUNT(*) AS n, DP_INFO(n) FROM visits")
	for _, key := range []string{"noise", "clip", "persons", "share_cut", "without_persons_above"} {
		if x, ok := rows[key].(float64); !ok || x < 0 {
			t.Errorf("%s of a count: got %v in %v", key, rows[key], rows)
		}
	}
	if rows["low"] != "noise" || rows["high"] != "noise and clip" {
		t.Errorf("ends of a count: got %v", rows)
	}
	persons := info("SELECT COUNT(DISTINCT patient), DP_INFO(COUNT(DISTINCT patient)) FROM visits")
	if persons["low"] != "noise" || persons["high"] != "noise" || persons["clip"] != nil {
		t.Errorf("persons: got %v", persons)
	}
	few := info("SELECT COUNT(*), DP_INFO(COUNT(*)) FROM visits WHERE days > 1000000")
	if needed, ok := few["persons_needed"].(float64); !ok || needed < 2 || few["noise"] != nil {
		t.Errorf("nobody: got %v", few)
	}
}
