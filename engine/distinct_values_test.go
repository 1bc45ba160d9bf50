package engine

import (
	"fmt"
	"strings"
	"testing"
)

// readers fills a table of persons who have read some of many books each: person p the books p,
// p + 1, …, of which there are as many as persons, and in town p mod 3.
func readers(t *testing.T, i *instance, persons int) (root, ann *client) {
	t.Helper()
	root = i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.readings (person INT NOT NULL, book INT, title VARCHAR(20), town INT NOT NULL, price DOUBLE)",
		"CALL dp_protect('s.readings', 'person', 'p')", "CALL dp_set_budget('s.readings', '*', 100000, 0.001, 'never')",
		"CALL dp_set_domain('s.readings', 'town', '[0,1,2]')", "SET dp_raw = ON")
	var rows []string
	for p := range persons {
		for k := range 1 + p%5 {
			book := (p + k) % persons
			rows = append(rows, fmt.Sprintf("(%d,%d,'Book %d',%d,%g)", p, book, book, p%3, float64(book%7)/2))
		}
		rows = append(rows, fmt.Sprintf("(%d,NULL,NULL,%d,NULL)", p, p%3))
	}
	root.insert("s.readings", rows)
	root.exec("SET dp_raw = OFF")
	ann = i.analyst(root, "ann", "s")
	ann.exec("USE s", "SET dp_rho = 20")
	return root, ann
}

// TestDistinctValues: COUNT(DISTINCT x) of what is not the unit counts the values that persons
// have, each once, of a table and by groups; NULL is none.
func TestDistinctValues(t *testing.T) {
	i := startWith(t, "", seeded(t, "distinct values", 1))
	root, ann := readers(t, i, 900)
	root.exec("USE s", "SET dp_raw = ON")
	for _, q := range []string{
		"COUNT(DISTINCT book) FROM readings",
		"COUNT(DISTINCT title) FROM readings",
		"COUNT(DISTINCT price) FROM readings",
		"COUNT(DISTINCT book) FROM readings WHERE book < 300",
		"COUNT(DISTINCT book DIV 3) FROM readings",
		"COUNT(DISTINCT IF(price > 1, title, NULL)) FROM readings",
		"COUNT(DISTINCT title) FROM readings WHERE town = 1",
	} {
		want := float(t, root.value("SELECT "+q))
		near(t, q, ann.value("SELECT "+q), want, 0.12*want+3)
	}
	near(t, "with a cap", ann.value("SELECT DP_COUNT(DISTINCT title, 'values=5') FROM readings"), 900, 20)
	if low := float(t, ann.value("SELECT DP_COUNT(DISTINCT title, 'values=1') FROM readings WHERE person < 90")); low > 95 {
		t.Errorf("one value of each of 90 persons: %v", low)
	}
	near(t, "by the error", ann.value("SELECT DP_COUNT(DISTINCT title, 'values=5, error=30') FROM readings"), 900, 150)
	near(t, "persons", ann.value("SELECT DP_COUNT(DISTINCT person, 'error=30') FROM readings"), 900, 150)
	ann.refused(1644, "45006", "SELECT DP_COUNT(title, 'values=5') FROM readings")
	near(t, "DP_COUNT", ann.value("SELECT DP_COUNT(DISTINCT title, 'rho=10') FROM readings"), 900, 100)
	for _, q := range []string{
		"SELECT town, COUNT(DISTINCT book), COUNT(*), DP_LOW(COUNT(DISTINCT book)), DP_HIGH(COUNT(DISTINCT book)) FROM readings GROUP BY town",
		"SELECT /*+ SET_VAR(dp_keys=keep) */ town + 0 AS town, COUNT(DISTINCT book), COUNT(*), DP_LOW(COUNT(DISTINCT book)), DP_HIGH(COUNT(DISTINCT book)) FROM readings GROUP BY town + 0",
	} {
		rows := ann.query(q)
		if len(rows) < 3 {
			t.Errorf("%s: %v", q, rows)
		}
		for _, r := range rows {
			if r[0] == "NULL" {
				continue // nobody is in the row of what was left out
			}
			want := float(t, root.value("SELECT COUNT(DISTINCT book) FROM readings WHERE town = "+r[0]))
			near(t, "town "+r[0], r[1], want, 0.15*want)
			if low, high := float(t, r[3]), float(t, r[4]); !(low <= want && want <= high) {
				t.Errorf("town %s: [%v, %v] for %v", r[0], low, high, want)
			}
		}
	}
	plan := fmt.Sprint(ann.query("EXPLAIN SELECT COUNT(DISTINCT book) FROM readings"))
	for _, part := range []string{"COUNT(DISTINCT readings.book)", "number of values", "l2=cap"} {
		if !strings.Contains(plan, part) {
			t.Errorf("no %q in\n%s", part, plan)
		}
	}
	ann.exec("SET dp_rho = 0.0000001")
	ann.query("SELECT COUNT(DISTINCT book) FROM readings")
	if got := fmt.Sprint(ann.query("SHOW WARNINGS")); !strings.Contains(got, "WIDE_ERROR") {
		t.Errorf("at almost no loss: %s", got)
	}
}

// TestDistinctValuesByRelation: under replace-one, and at a pure loss.
func TestDistinctValuesByRelation(t *testing.T) {
	i := startWith(t, "", seeded(t, "distinct values by relation", 1))
	root, ann := readers(t, i, 900)
	root.exec("CREATE TABLE s.exchanged (person INT NOT NULL, book INT)", "SET dp_raw = ON", "INSERT INTO s.exchanged SELECT person, book FROM s.readings", "SET dp_raw = OFF",
		"CALL dp_protect('s.exchanged', 'person', 'q')", "CALL dp_set_neighbours('s.exchanged', 'replace-one')", "CALL dp_set_budget('s.exchanged', '*', 100000, 0, 'never')")
	ann.exec("SET dp_epsilon = 8")
	near(t, "pure, replace-one", ann.value("SELECT COUNT(DISTINCT book) FROM exchanged"), 900, 120)
	near(t, "some, pure, replace-one", ann.value("SELECT COUNT(DISTINCT book) FROM exchanged WHERE book < 500"), 500, 100)
}
