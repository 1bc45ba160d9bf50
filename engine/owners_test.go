package engine

import (
	"fmt"
	"strings"
	"testing"
)

// raters fills a table of persons who have rated some of many films each: person p the films p,
// p + 7, …, of which there are as many as persons, in town p mod 3, with stars from 1 to 5.
func raters(t *testing.T, i *instance, persons int) (root, ann *client) {
	t.Helper()
	root = i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.ratings (person INT NOT NULL, film INT, town INT NOT NULL, stars INT NOT NULL, gap INT NOT NULL, minutes DECIMAL(10,2))",
		"CALL dp_protect('s.ratings', 'person', 'p')", "CALL dp_set_budget('s.ratings', '*', 100000, 0.001, 'never')",
		"CALL dp_set_domain('s.ratings', 'town', '[0,1,2]')", "CALL dp_set_domain('s.ratings', 'stars', '{\"min\":1,\"max\":5}')", "SET dp_raw = ON")
	var rows []string
	for p := range persons {
		for k := range 1 + p%4 {
			rows = append(rows, fmt.Sprintf("(%d,%d,%d,%d,%d,%d.25)", p, (p+7*k)%persons, p%3, 1+(p+k)%5, (p+k)%5-2, p%9))
		}
	}
	for len(rows) > 0 {
		n := min(len(rows), 1000)
		root.exec("INSERT INTO s.ratings VALUES " + strings.Join(rows[:n], ","))
		rows = rows[n:]
	}
	root.exec("SET dp_raw = OFF")
	ann = i.analyst(root, "ann", "s")
	ann.exec("USE s", "SET dp_rho = 20")
	return root, ann
}

// TestSelfJoins: counts and sums of the pairs of persons that a join of a table with itself finds,
// off the unit, of all and by public groups.
func TestSelfJoins(t *testing.T) {
	i := startWith(t, "", seeded(t, "self-joins", 1))
	root, ann := raters(t, i, 900)
	root.exec("USE s", "SET dp_raw = ON")
	const pairs = "ratings a JOIN ratings b ON a.film = b.film AND a.person < b.person"
	for _, q := range []string{
		"COUNT(*) FROM " + pairs,
		"COUNT(*) FROM ratings a, ratings b WHERE a.film = b.film AND a.person <> b.person",
		"COUNT(*) FROM ratings a JOIN ratings b ON a.film = b.film",
		"COUNT(IF(a.stars > 2, b.stars, NULL)) FROM " + pairs,
		"SUM(a.stars + b.stars) FROM " + pairs + " WHERE a.town = 1",
		"SUM(a.minutes) FROM " + pairs,
		"COUNT(*) FROM (SELECT film, UPPER(CONCAT('film number ', film)) AS name FROM ratings) x JOIN ratings b ON b.film = x.film",
		"COUNT(*) FROM (SELECT person, town, COUNT(*) AS n FROM ratings GROUP BY person, town) x JOIN ratings b ON b.film = x.person AND b.town = x.town",
	} {
		want := float(t, root.value("SELECT "+q))
		near(t, q, ann.value("SELECT "+q), want, 0.15*want)
	}
	want := float(t, root.value("SELECT COUNT(*) FROM "+pairs))
	near(t, "with a cap", ann.value("SELECT DP_COUNT(a.film, 'cap=12') FROM "+pairs), want, 40)
	near(t, "by the error", ann.value("SELECT DP_COUNT(a.film, 'cap=12, error=20') FROM "+pairs), want, 150)
	near(t, "signed", ann.value("SELECT DP_SUM(a.gap, 'cap=24') FROM "+pairs), float(t, root.value("SELECT SUM(a.gap) FROM "+pairs)), 80)
	if got := float(t, ann.value("SELECT DP_COUNT(a.film, 'cap=1') FROM "+pairs)); got > 460 {
		t.Errorf("one result of each of 900 persons: %v", got)
	}
	rows := ann.query("SELECT a.town, COUNT(*), DP_LOW(COUNT(*)), DP_HIGH(COUNT(*)) FROM " + pairs + " GROUP BY a.town HAVING COUNT(*) > 10 ORDER BY a.town")
	if len(rows) != 3 {
		t.Errorf("%v", rows)
	}
	for _, r := range rows {
		want := float(t, root.value("SELECT COUNT(*) FROM "+pairs+" WHERE a.town = "+r[0]))
		near(t, "town "+r[0], r[1], want, 0.2*want)
		if low, high := float(t, r[2]), float(t, r[3]); !(low <= want && want <= high) {
			t.Errorf("town %s: [%v, %v] for %v", r[0], low, high, want)
		}
	}
	plan := fmt.Sprint(ann.query("EXPLAIN SELECT COUNT(*) FROM " + pairs))
	for _, part := range []string{"rows of two persons of p", "number of results", "l2=cap"} {
		if !strings.Contains(plan, part) {
			t.Errorf("no %q in\n%s", part, plan)
		}
	}
	for _, c := range []struct{ query, about string }{
		{"SELECT COUNT(*) FROM ratings a, ratings b, ratings c WHERE a.film = b.film AND b.film = c.film", "belong to 3 persons"},
		{"SELECT COUNT(*) FROM ratings a LEFT JOIN ratings b ON a.film = b.film", "outer join"},
		{"SELECT a.film, COUNT(*) FROM ratings a JOIN ratings b ON a.film = b.film GROUP BY a.film", "public keys only"},
		{"SELECT COUNT(DISTINCT a.film) FROM ratings a JOIN ratings b ON a.film = b.film", "no private form over rows that belong to two persons"},
		{"SELECT DP_MEDIAN(a.stars) FROM ratings a JOIN ratings b ON a.film = b.film", "no private form over rows that belong to two persons"},
		{"SELECT a.person, COUNT(*) FROM ratings a JOIN ratings b ON a.film = b.film GROUP BY a.person", "public keys only"},
		{"SELECT DP_COUNT(film, 'cap=3') FROM ratings", "rows that belong to two persons"},
	} {
		if _, err := ann.try(c.query); err == nil || !strings.Contains(fmt.Sprint(err), c.about) {
			t.Errorf("%s: %v, want %q", c.query, err, c.about)
		}
	}
}
