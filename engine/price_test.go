package engine

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestPriceTellsWhatHappens: dp_price charges nothing, and the number of queries that it says fit
// does fit.
func TestPriceTellsWhatHappens(t *testing.T) {
	i := startWith(t, "", seeded(t, "price", 1))
	root := i.root()
	people(t, root, 400)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d", "SET dp_epsilon = 0.5")
	root.exec("CALL dp_set_budget('d.people', 'ann@%', 1.6, 1e-6, 'never')")
	query := "SELECT COUNT(*), COUNT(DISTINCT id), DP_MEDIAN(age) FROM people WHERE age > "
	price := func(c *client, n string) map[string][]string {
		t.Helper()
		out := map[string][]string{}
		for _, r := range c.query("CALL dp_price('" + strings.ReplaceAll(query, "'", "''") + n + "')") {
			out[r[0]+" "+r[1]+" "+r[2]] = r
		}
		return out
	}
	first := price(ann, "1")
	own := first["budget d.people ann@%"]
	if own == nil || own[11] != "yes" {
		t.Fatalf("price %v", first)
	}
	fits, err := strconv.Atoi(own[10])
	if err != nil || fits < 2 {
		t.Fatalf("queries %q", own[10])
	}
	if shared := first["budget d.people *"]; shared == nil || shared[7] != "NULL" || shared[10] != "NULL" {
		t.Errorf("an analyst sees into the budget of all: %v", shared)
	}
	root.exec("USE d")
	if all := price(root, "1")["budget d.people *"]; all == nil || all[7] == "NULL" {
		t.Errorf("a DBA does not see the budget of all: %v", all)
	}
	sum := first["answer COUNT(DISTINCT people.id) NULL"]
	if e, err := strconv.ParseFloat(sum[12], 64); err != nil || !(e > 0) {
		t.Errorf("expected error of a count of persons: %v", sum)
	}
	if n := ann.value("SELECT COUNT(*) FROM dp.ledger"); n != "0" {
		t.Fatalf("pricing was charged %s times", n)
	}
	for n := range fits {
		ann.query(query + strconv.Itoa(n))
		left, _ := strconv.Atoi(price(ann, "99")["budget d.people ann@%"][10])
		if left != fits-n-1 {
			t.Errorf("after %d queries %d more fit, of %d", n+1, left, fits)
		}
	}
	if row := price(ann, "99")["budget d.people ann@%"]; row[11] != "no" {
		t.Errorf("used up: %v", row)
	}
	if _, err := ann.try(query + "99"); err == nil {
		t.Error("a query fits that the price says does not")
	}
	lines := ann.query("EXPLAIN " + query + "99")
	text := ""
	for _, l := range lines {
		text += l[0] + "\n"
	}
	if !strings.Contains(text, "budget d.people of ann@%") || !strings.Contains(text, "refuses") || !strings.Contains(text, "budget d.people of *  fits") {
		t.Errorf("EXPLAIN:\n%s", text)
	}
	for _, bad := range []string{"CALL dp_price('DROP TABLE d.people')", "CALL dp_price('SELECT')", "CALL dp_price('SELECT * FROM d.people')", "CALL dp_price('INSERT INTO d.people SELECT 1')"} {
		if _, err := ann.try(bad); err == nil {
			t.Errorf("%s was answered", bad)
		}
	}
	if got := ann.query("CALL dp_price('SELECT 1')"); len(got) != 1 || got[0][0] != "statement" {
		t.Errorf("no protected table: %v", got)
	}
}

// TestTargetErrorOverTheWire: a wanted error is paid for from what an earlier answer, or a pilot,
// tells.
func TestTargetErrorOverTheWire(t *testing.T) {
	i := startWith(t, "", seeded(t, "target", 1))
	root := i.root()
	people(t, root, 4000)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d")
	charges := func() (n int, last float64) {
		for _, r := range ann.query("SELECT rho FROM dp.ledger WHERE account_type = 'table' AND rho IS NOT NULL ORDER BY id") {
			n++
			last, _ = strconv.ParseFloat(r[0], 64)
		}
		return n, last
	}
	if _, err := ann.try("SELECT DP_MEAN(age, 'error=0.2') FROM people"); err == nil || !strings.Contains(err.Error(), "pilot") {
		t.Fatalf("nothing is known: %v", err)
	}
	if n, _ := charges(); n != 0 {
		t.Fatalf("a refusal was charged")
	}
	ann.query("SELECT DP_MEAN(age, 'epsilon=0.3') FROM people")
	_, first := charges()
	ann.query("SELECT DP_MEAN(age, 'error=0.2') FROM people")
	n, second := charges()
	if n != 2 || second == first {
		t.Fatalf("%d charges, %v then %v", n, first, second)
	}
	ann.query("SELECT DP_MEAN(age, 'error=0.1') FROM people")
	if _, third := charges(); math.Abs(third/(4*second)-1) > 0.6 {
		t.Errorf("half the error costs %v, after %v", third, second)
	}
	ann.exec("SET dp_pilot = 0.2", "SET dp_target_error = 0.3")
	ann.query("SELECT AVG(age) FROM people WHERE city = 'north'")
	if n, _ := charges(); n != 5 {
		t.Errorf("a pilot and its query are %d charges, not 2", n-3)
	}
	root.exec(`CALL dp_set_defaults('d.people', '{"max_epsilon": 1}')`)
	if _, err := ann.try("SELECT DP_COUNT(*, 'error=1') FROM people"); err == nil {
		t.Error("beyond the table's cap")
	}
}

// TestPriceTellsWhatIsNeeded: the persons that keys and values need are told beforehand, and are
// those that the warnings tell of afterwards.
func TestPriceTellsWhatIsNeeded(t *testing.T) {
	i := startWith(t, "", seeded(t, "needed", 1))
	root := i.root()
	people(t, root, 300)
	ann := i.analyst(root, "ann", "d")
	ann.exec("USE d")
	priced := func(item, query string) (persons, remark string) {
		t.Helper()
		for _, r := range ann.query("CALL dp_price('" + query + "')") {
			if r[0] == item {
				return r[13], r[14]
			}
		}
		t.Fatalf("%s: no line of %s", query, item)
		return "", ""
	}
	for _, c := range []struct{ item, query string }{
		{"keys", "SELECT age, COUNT(*) FROM people GROUP BY age"},
		{"answer", "SELECT AVG(age) FROM people WHERE id < 6"},
	} {
		persons, remark := priced(c.item, c.query)
		ann.query(c.query)
		_, texts := warned(t, ann)
		if n, err := strconv.Atoi(persons); err != nil || n < 10 || !strings.Contains(texts, persons+" persons") {
			t.Errorf("%s: %s persons are told before (%s), and after:\n%s", c.query, persons, remark, texts)
		}
	}
	if persons, _ := priced("answer", "SELECT city, COUNT(*), AVG(income) FROM people GROUP BY city"); persons == "0" {
		t.Error("a mean beside a count needs nobody")
	}
}
