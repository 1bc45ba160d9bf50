package engine

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"scrim/test/stattest"
)

// oneGroup lists queries by whether each person is in one of their groups by what is declared: keys
// that follow from the person, through joins, derived tables and public tables found by their
// primary key.
var oneGroup = map[bool][]string{
	true: {
		"SELECT c.region, COUNT(*), AVG(o.n) FROM s.orders o JOIN s.customers c ON c.id = o.customer GROUP BY c.region",
		"SELECT c.region, COUNT(*), AVG(o.n) FROM s.orders o, s.customers c WHERE o.customer = c.id AND o.n > 1 GROUP BY c.region",
		"SELECT c.region, COUNT(i.price), DP_MEDIAN(i.price) FROM s.items i JOIN s.orders o ON i.o = o.id JOIN s.customers c ON o.customer = c.id GROUP BY c.region",
		"SELECT CASE WHEN c.age > 40 THEN 'old' ELSE 'young' END AS k, SUM(o.n) FROM s.customers c LEFT JOIN s.orders o ON c.id = o.customer AND o.n > 1 GROUP BY k",
		"SELECT n.name, COUNT(*) FROM s.nations n JOIN s.customers c ON n.id = c.nation JOIN s.orders o ON o.customer = c.id GROUP BY n.name",
		"SELECT z.name, COUNT(*) FROM s.zones z, s.nations n, s.customers c, s.orders o WHERE z.id = n.zone AND c.nation = n.id AND c.id = o.customer GROUP BY z.name",
		"SELECT d.k, COUNT(*) FROM (SELECT customer, MIN(n) AS k FROM s.orders GROUP BY customer) d JOIN s.orders o ON o.customer = d.customer GROUP BY d.k",
		"SELECT d.decade, COUNT(*) FROM (SELECT id, age DIV 10 AS decade FROM s.customers) d JOIN s.orders o ON o.customer = d.id GROUP BY d.decade",
		"SELECT c.region, c.age, COUNT(*) FROM s.orders o JOIN s.customers c ON c.id = o.customer GROUP BY c.region, c.age",
		"SELECT region, COUNT(*) FROM s.customers GROUP BY region",
	},
	false: {
		"SELECT o.n, COUNT(*) FROM s.orders o JOIN s.customers c ON c.id = o.customer GROUP BY o.n",
		"SELECT c.region, o.n, COUNT(*) FROM s.orders o JOIN s.customers c ON c.id = o.customer GROUP BY c.region, o.n",
		"SELECT c.age + o.n AS k, COUNT(*) FROM s.orders o JOIN s.customers c ON c.id = o.customer GROUP BY k",
		"SELECT c.region, COUNT(*) FROM s.orders o LEFT JOIN s.customers c ON c.id = o.customer AND o.n > 1 GROUP BY c.region",
		"SELECT r.region, COUNT(*) FROM (SELECT id, region FROM s.customers UNION ALL SELECT id, nation FROM s.customers) r GROUP BY r.region",
		// not by the primary key
		"SELECT n.name, COUNT(*) FROM s.nations n JOIN s.customers c ON n.zone = c.nation GROUP BY n.name",
		// of an order
		"SELECT n.name, COUNT(*) FROM s.nations n JOIN s.orders o ON n.id = o.n GROUP BY n.name",
		"SELECT n.name, COUNT(*) FROM s.customers c LEFT JOIN s.nations n ON n.id = c.nation AND n.zone > 1 JOIN s.orders o ON o.customer = c.id GROUP BY n.name",
		// texts may be equal and not the same
		"SELECT w.name, COUNT(*) FROM s.words w JOIN s.customers c ON w.word = c.word GROUP BY w.name",
		"SELECT n.name, COUNT(*) FROM s.nations n JOIN s.customers c ON n.id >= c.nation GROUP BY n.name",
		"SELECT d.k, COUNT(*) FROM (SELECT customer, n AS k, COUNT(*) FROM s.orders GROUP BY customer, n) d GROUP BY d.k",
	},
}

// TestKeysThatFollowFromThePerson: EXPLAIN says that each person is in one group where that follows
// from keys and links, and nowhere else. No loss is divided then, and a person still moves the
// answers by no more than what is charged.
func TestKeysThatFollowFromThePerson(t *testing.T) {
	source := &recorders{t: t}
	i := startWith(t, "", source.next)
	root := i.root()
	root.exec("CREATE DATABASE s", "CREATE TABLE s.customers (id INT PRIMARY KEY, region INT, age INT, nation INT, word VARCHAR(9))", "CREATE TABLE s.orders (id INT PRIMARY KEY, customer INT, n INT)",
		"CREATE TABLE s.items (o INT, price INT)", "CREATE TABLE s.nations (id INT PRIMARY KEY, zone INT, name VARCHAR(9))", "CREATE TABLE s.zones (id INT PRIMARY KEY, name VARCHAR(9))",
		"CREATE TABLE s.words (word VARCHAR(9) PRIMARY KEY, name VARCHAR(9))",
		"INSERT INTO s.zones VALUES (1, 'z1'), (2, 'z2')", "INSERT INTO s.nations VALUES (1, 1, 'n1'), (2, 1, 'n2'), (3, 2, 'n3')", "INSERT INTO s.words VALUES ('a', 'x'), ('b', 'y')",
		"CALL dp_public('s.nations')", "CALL dp_public('s.zones')", "CALL dp_public('s.words')",
		"CALL dp_protect('s.customers', 'id', 'p')", "CALL dp_protect('s.orders', 'customer', 'p')", "CALL dp_link('s.items', 'o', 's.orders', 'id')",
		"CALL dp_set_domain('s.customers', 'region', '[0, 1, 2, null]')", "CALL dp_set_domain('s.orders', 'n', '{\"min\":0,\"max\":4}')",
		"CALL dp_set_budget('s.customers', '*', 1000000, 0.001, 'never')", "CALL dp_set_budget('s.orders', '*', 1000000, 0.001, 'never')", "CALL dp_set_budget('s.items', '*', 1000000, 0.001, 'never')",
		"SET dp_raw = ON")
	const persons = 24
	put := func(p int) {
		region := fmt.Sprint(p % 3)
		if p%5 == 0 {
			region = "NULL"
		}
		root.exec(fmt.Sprintf("INSERT INTO s.customers VALUES (%d, %s, %d, %d, '%c')", p, region, 20+p, 1+p%4, 'a'+rune(p%2)))
		for j := range 1 + p%4 {
			root.exec(fmt.Sprintf("INSERT INTO s.orders VALUES (%d, %d, %d)", p*10+j, p, (p+j)%5), fmt.Sprintf("INSERT INTO s.items VALUES (%d, %d), (%d, %d)", p*10+j, p, p*10+j, j))
		}
	}
	for p := range persons {
		put(p)
	}
	root.exec("SET dp_raw = OFF", "SET dp_rho = 4", "SET dp_group_by = 'separate'")
	for one, queries := range oneGroup {
		for _, q := range queries {
			if plan := fmt.Sprint(root.query("EXPLAIN " + q)); strings.Contains(plan, "each person in one group") != one {
				t.Errorf("%s: each person in one group is to be %v in the plan %s", q, one, plan)
			}
		}
	}

	// With the keys of customers, which are public, the whole of a charge is one group's.
	sound := []string{oneGroup[true][0], oneGroup[true][1], oneGroup[true][2], oneGroup[true][9]}
	runs, charged := map[string][]*stattest.Recorder{}, map[string]*big.Rat{}
	for _, q := range sound {
		source.again(false)
		root.query(q)
		runs[q], charged[q] = source.again(false), lastCharge(t, root)
	}
	most := map[string]float64{}
	move := func() (exceeded bool) {
		for _, q := range sound {
			source.mu.Lock()
			source.list, source.replay = nil, runs[q]
			source.mu.Unlock()
			root.query(q)
			share, _ := new(big.Rat).Quo(lossOf(t, runs[q], source.again(false)), charged[q]).Float64()
			most[q] = max(most[q], share)
			exceeded = exceeded || share > 1
		}
		return exceeded
	}
	remove := func(p int) {
		root.exec("SET dp_raw = ON", fmt.Sprintf("DELETE FROM s.items WHERE o DIV 10 = %d", p), fmt.Sprintf("DELETE FROM s.orders WHERE customer = %d", p), fmt.Sprintf("DELETE FROM s.customers WHERE id = %d", p), "SET dp_raw = OFF")
	}
	for p := range 8 {
		remove(p)
		if move() {
			t.Errorf("without person %d: %v of the charge", p, most)
		}
		root.exec("SET dp_raw = ON")
		put(p)
		root.exec("SET dp_raw = OFF")
	}
	for q, share := range most {
		t.Logf("%.3f of the charge: %s", share, q)
	}
	for _, p := range []int{1, 2, 4, 7} { // of every region
		remove(p)
	}
	if !move() {
		t.Errorf("four persons at once stay within the charge: %v", most)
	}
}
