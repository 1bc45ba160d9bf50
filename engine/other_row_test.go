package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// orders fills a table of 2,000 persons with two orders in one of four cities, one in a city of
// their own, and of each tenth one without a city.
func orders(t *testing.T, i *instance) (root, ann *client) {
	t.Helper()
	root = i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.orders (customer INT NOT NULL, city VARCHAR(10), zone INT NOT NULL, day DATE NOT NULL, n INT NOT NULL)",
		"CALL dp_protect('s.orders', 'customer', 'p')", "CALL dp_set_budget('s.orders', '*', 100000, 0.001, 'never')", "SET dp_raw = ON")
	var rows []string
	for p := range 2000 {
		rows = append(rows, fmt.Sprintf("(%d,'c%d',%d,'2024-01-0%d',%d),(%[1]d,'c%[2]d',%[3]d,'2024-01-0%[4]d',1)", p, p%4, p%4, 1+p%4, 1+p%7),
			fmt.Sprintf("(%d,'x%d',%d,DATE_ADD('1990-01-01', INTERVAL %d DAY),%d)", p, p, 100+p, p, 1+p%5))
		if p%10 == 0 {
			rows = append(rows, fmt.Sprintf("(%d,NULL,0,'2024-01-01',100)", p))
		}
	}
	root.exec("INSERT INTO s.orders VALUES "+strings.Join(rows, ","), "SET dp_raw = OFF")
	ann = i.analyst(root, "ann", "s")
	ann.exec("USE s", "SET dp_rho = 40", "SET dp_keys = 'keep'")
	return root, ann
}

// TestOtherRow: under dp_keys = 'keep' the rows of keys that are not selected, and those without a
// key, are one row more, the last, whose keys are NULL, whatever the types of the keys are, and
// with every aggregate; as one vector and each group by itself.
func TestOtherRow(t *testing.T) {
	i := startWith(t, "", seeded(t, "other row", 1))
	_, ann := orders(t, i)
	for _, c := range []struct {
		keys     string
		selected string
		other    []float64 // COUNT(*), SUM(n), persons, AVG(n), AVG by person, median of persons
	}{
		{"city", "c0 c1 c2 c3", []float64{2200, 6000 + 20000, 2000, 26000.0 / 2200, 7.95, 3}},
		{"zone", "0 1 2 3", []float64{2000, 6000, 2000, 3, 3, 3}},
		{"day", "2024-01-01 2024-01-02 2024-01-03 2024-01-04", []float64{2000, 6000, 2000, 3, 3, 3}},
		{"day, city", "2024-01-01 2024-01-01 2024-01-02 2024-01-03 2024-01-04", []float64{2000, 6000, 2000, 3, 3, 3}},
		{"city, zone", "NULL c0 c1 c2 c3", []float64{2000, 6000, 2000, 3, 3, 3}},
	} {
		for _, how := range []string{"vector", "separate"} {
			q := "SELECT /*+ SET_VAR(dp_group_by=" + how + ") */ " + c.keys + ", COUNT(*), SUM(n), COUNT(DISTINCT customer), AVG(n), DP_MEAN(n), DP_MEDIAN(n, 'lower=0, upper=128') FROM orders GROUP BY " + c.keys
			rows := ann.query(q)
			var first []string
			for _, r := range rows {
				first = append(first, r[0])
			}
			if got := strings.Join(first, " "); got != c.selected+" NULL" {
				t.Errorf("%s: the keys are %s", q, got)
				continue
			}
			last := rows[len(rows)-1]
			at := len(last) - len(c.other)
			for k := range at {
				if last[k] != "NULL" {
					t.Errorf("%s: got the key %s", q, last[k])
				}
			}
			for k, want := range c.other {
				near(t, fmt.Sprint(q, ", column ", k), last[at+k], want, 0.1*want+0.5)
			}
			if again := ann.query(q); fmt.Sprint(again) != fmt.Sprint(rows) {
				t.Errorf("%s: got %v, then %v", q, rows, again)
			}
		}
	}
}

// TestOtherRowInAStatement: the row is one of the answer's for all that is done with it; it has a
// note, in the place of that of keys left out, and costs nothing; where nothing is selected it
// holds everything, and where nothing is aggregated there is none.
func TestOtherRowInAStatement(t *testing.T) {
	i := startWith(t, "", seeded(t, "other row in a statement", 1))
	root, ann := orders(t, i)
	number := func(text string) float64 {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Errorf("got %q", text)
		}
		return f
	}
	for q, want := range map[string]string{
		"SELECT COALESCE(city, 'other') AS c FROM orders GROUP BY city ORDER BY COUNT(*) DESC LIMIT 1":                       "other",
		"SELECT zone FROM orders GROUP BY zone HAVING zone IS NOT NULL AND COUNT(*) > 10":                                    "0 1 2 3",
		"SELECT zone FROM orders GROUP BY zone HAVING zone IS NULL AND COUNT(*) > 10":                                        "NULL",
		"SELECT city FROM orders GROUP BY city":                                                                              "NULL c0 c1 c2 c3",
		"SELECT COALESCE(city, 'none') AS c FROM orders WHERE n <> 2 GROUP BY c HAVING COUNT(*) > 10":                        "c0 c1 c2 c3 none NULL",
		"SELECT x.zone FROM (SELECT zone, COUNT(*) AS c FROM orders GROUP BY zone) x WHERE x.c > 1500":                       "NULL",
		"SELECT CONCAT(GROUPING(zone), COALESCE(zone, 'x')) AS z FROM orders GROUP BY zone WITH ROLLUP HAVING COUNT(*) > 10": "0x 00 01 02 03 1x",
	} {
		var got []string
		for _, r := range ann.query(q) {
			got = append(got, r[0])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", q, got, want)
		}
	}
	spent := func() float64 {
		return number(root.value("SELECT rho FROM dp.ledger WHERE entry = 'charge' AND account_type = 'entity' ORDER BY id DESC LIMIT 1"))
	}
	const q = "SELECT city, COUNT(*), SUM(n) FROM orders GROUP BY city"
	ann.query(q)
	codes, texts := warned(t, ann)
	kept := spent()
	if codes != "Note KEYS_TOGETHER" || !strings.Contains(texts, "4 keys (orders.city)") || !strings.Contains(texts, "keys are NULL") {
		t.Errorf("got %s %s", codes, texts)
	}
	ann.exec("SET dp_keys = 'drop'")
	if rows := ann.query(q); len(rows) != 5 || rows[0][0] != "NULL" {
		t.Errorf("without the parameter: got %v", rows)
	}
	if codes, texts = warned(t, ann); codes != "Note KEYS_LEFT_OUT" || !strings.Contains(texts, "SET dp_keys = 'keep'") {
		t.Errorf("got %s %s", codes, texts)
	}
	if dropped := spent(); dropped != kept {
		t.Errorf("the row costs: %v with it, %v without", kept, dropped)
	}
	rows := ann.query("SELECT /*+ SET_VAR(dp_keys=keep) */ city, COUNT(*) FROM orders WHERE city LIKE 'x%' GROUP BY city")
	if len(rows) != 1 || rows[0][0] != "NULL" {
		t.Fatalf("nothing is selected: got %v", rows)
	}
	near(t, "all rows", rows[0][1], 2000, 100)
	if codes, _ := warned(t, ann); codes != "Note KEYS_TOGETHER" {
		t.Errorf("nothing is selected: got %s", codes)
	}
	for _, text := range []string{
		fmt.Sprint(ann.query("EXPLAIN SELECT /*+ SET_VAR(dp_keys=keep) */ city, COUNT(*) FROM orders GROUP BY city")),
		fmt.Sprint(ann.query("CALL dp_price('SELECT /*+ SET_VAR(dp_keys=keep) */ city, COUNT(*) FROM orders GROUP BY city')")),
	} {
		if !strings.Contains(text, "whose keys are NULL") {
			t.Errorf("got %s", text)
		}
	}
}
