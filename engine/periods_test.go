package engine

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"scrim/test/stattest"
)

// monthly makes a server with orders of some persons in the months of 2025, protected by month, and
// an analyst.
func monthly(t *testing.T, i *instance, persons int) (root, ann *client) {
	t.Helper()
	root = i.root()
	root.exec("CREATE DATABASE shop", "CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, region VARCHAR(10), placed DATETIME, qty INT NOT NULL)",
		"CREATE TABLE shop.items (item INT PRIMARY KEY, order_id INT, price INT NOT NULL)",
		`CALL dp_protect('shop.orders', 'customer', 'buyer', '{"period": "month", "of": "placed"}')`, "CALL dp_link('shop.items', 'order_id', 'shop.orders', 'id')",
		`CALL dp_set_domain('shop.orders', 'region', '["north", "south"]')`, `CALL dp_set_domain('shop.orders', 'qty', '{"min": 0, "max": 100}')`)
	var orders, items []string
	for p := range persons {
		for month := 5; month <= 8; month++ {
			id := 100*p + month
			orders = append(orders, fmt.Sprintf("(%d, %d, '%s', '2025-%02d-%02d 10:00:00', %d)", id, p, []string{"north", "south"}[(p+month)%2], month, 1+p%28, p%7))
			items = append(items, fmt.Sprintf("(%d, %d, %d)", id, id, p%50))
		}
	}
	root.exec("SET dp_raw = ON")
	root.insert("shop.orders", orders)
	root.insert("shop.items", items)
	ann = i.analyst(root, "ann", "shop")
	ann.exec("USE shop")
	return root, ann
}

// TestBudgetsByPeriod is the session of docs/dba.md: what June has spent leaves July its budget, a
// statement on every period finds June's, and the tables of dp and refusals say so.
func TestBudgetsByPeriod(t *testing.T) {
	i := start(t, "")
	root, ann := monthly(t, i, 60)
	root.exec("CALL dp_set_budget('shop.orders', '*', 'rho=1', 1e-6, 'never')", "CALL dp_set_budget('shop.items', '*', 'rho=10', 1e-6, 'never')", "CALL dp_set_budget('entity:buyer', '*', 'rho=1', 1e-6, 'never')")
	ann.exec("SET dp_rho = 0.75")
	const june = "placed >= '2025-06-01' AND placed < '2025-07-01'"
	ann.query("SELECT COUNT(*) FROM orders WHERE " + june)
	e := ann.refused(1644, "45013", "SELECT SUM(qty) FROM orders WHERE "+june)
	if !strings.Contains(e.Message, "2025-06-01 to 2025-06-30") {
		t.Errorf("the refusal names no period: %v", e)
	}
	ann.query("SELECT SUM(qty) FROM orders WHERE placed BETWEEN '2025-07-03' AND '2025-08-20'")
	ann.refused(1644, "45013", "SELECT COUNT(*) FROM orders")
	ann.refused(1644, "45013", "SELECT COUNT(*) FROM items i JOIN orders o ON o.id = i.order_id WHERE YEAR(o.placed) = 2025")
	ann.query("SELECT SUM(i.price) FROM items i JOIN orders o ON o.id = i.order_id WHERE YEAR(o.placed) = 2025 AND MONTH(o.placed) = 5")
	ann.exec("SET dp_rho = 0.25")
	ann.query("SELECT AVG(qty) FROM orders")
	want := "NULL|2025-04-30|NULL|0.25|0.75\n2025-05-01|2025-05-31|1|1|0\n2025-06-01|2025-06-30|1|1|0\n2025-07-01|2025-08-31|2|1|0\n2025-09-01|NULL|NULL|0.25|0.75"
	for _, of := range []string{"account_type = 'table' AND account = 'shop.orders'", "account_type = 'entity'"} {
		var lines []string
		for _, row := range root.query("SELECT first_day, last_day, periods, spent_rho, remaining_rho FROM dp.periods WHERE budget = '*' AND " + of + " ORDER BY first_day IS NOT NULL, first_day") {
			lines = append(lines, strings.Join(row, "|"))
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", of, got, want)
		}
	}
	if got := root.value("SELECT remaining_rho FROM dp.budgets WHERE budget = '*' AND account = 'shop.orders'"); got != "0" {
		t.Errorf("of every period %s remains", got)
	}
	if got := ann.query("SELECT first_day, last_day FROM dp.ledger WHERE entry = 'charge' AND account_type = 'entity' ORDER BY id LIMIT 1")[0]; strings.Join(got, " ") != "2025-06-01 2025-06-30" {
		t.Errorf("the ledger has the charge for %v", got)
	}
	if got := ann.query("SELECT COUNT(*) FROM dp.periods"); got[0][0] != "0" {
		t.Error("an analyst sees the periods of all")
	}
	// What was charged by the month stays so.
	root.exec("CALL dp_unprotect('shop.items')", "CALL dp_unprotect('shop.orders')")
	for _, call := range []string{"CALL dp_protect('shop.orders', 'customer', 'buyer')", `CALL dp_protect('shop.orders', 'customer', 'buyer', '{"period": "week", "of": "placed"}')`,
		"CALL dp_protect('shop.orders', 'customer', 'other')"} {
		if _, err := root.try(call); err == nil {
			t.Errorf("%s is taken", call)
		}
	}
	root.exec(`CALL dp_protect('shop.orders', 'customer', 'buyer', '{"period": "month", "of": "placed"}')`)
	for _, call := range []string{"CALL dp_set_neighbours('shop.orders', 'replace-one')", "ALTER TABLE shop.orders DROP COLUMN placed", "ALTER TABLE shop.orders RENAME COLUMN placed TO day"} {
		if _, err := root.try(call); err == nil {
			t.Errorf("%s is taken", call)
		}
	}
}

// TestBudgetOverAllPeriods is the session of docs/dba.md with a cap on what a person loses over all
// periods: a statement is granted where each of its blocks has room, and the cap has it for
// somebody who is in all periods that the statement is charged to.
func TestBudgetOverAllPeriods(t *testing.T) {
	dir := t.TempDir()
	i := start(t, dir)
	root, ann := monthly(t, i, 60)
	root.exec("USE shop", "SET dp_raw = OFF", "SET dp_rho = 0.25")
	const over, target = "buyer over all periods", "'entity:buyer over all periods'"
	root.exec("CALL dp_set_budget('shop.orders', '*', 'rho=100', 1e-3, 'never')", "CALL dp_set_budget('shop.items', '*', 'rho=100', 1e-3, 'never')", "CALL dp_set_budget('entity:buyer', '*', 'rho=1', 1e-3, 'never')")
	on := func(first, next string) string {
		return "SELECT COUNT(*) FROM orders WHERE placed >= '2025-" + first + "' AND placed < '2025-" + next + "'"
	}
	stands := func(want string) {
		t.Helper()
		if got := root.query("SELECT spent_rho, remaining_rho FROM dp.budgets WHERE account_type = 'person'"); len(got) != 1 || strings.Join(got[0], " ") != want {
			t.Errorf("over all periods stands %v, want %s", got, want)
		}
	}
	ann.exec("SET dp_rho = 0.25")
	ann.query(on("05-01", "06-01")) // before there is a cap
	root.exec("CALL dp_set_budget(" + target + ", '*', 'rho=4', 1e-6, 'never')")
	stands("0.25 3.75")
	ann.query(on("06-01", "07-01"))
	ann.query(on("07-01", "08-01"))
	stands("0.75 3.25")
	ann.query(on("07-03", "08-20")) // two months: four times as much
	stands("1.75 2.25")
	for query, says := range map[string]string{
		on("05-01", "09-01"):                                       "caps what one person of entity buyer loses over all periods|the query would cost rho 4|fewer periods",
		"SELECT COUNT(*) FROM orders":                              "no bound|first and a last day",
		"SELECT COUNT(*) FROM orders WHERE placed >= '2025-08-01'": "no bound",
		"SELECT i.price, COUNT(*) FROM items i JOIN orders o ON o.id = i.order_id WHERE YEAR(o.placed) = 2025 AND o.placed < '2025-03-01' GROUP BY i.price": "no bound|declared keys",
	} {
		e := ann.refused(1644, "45013", query)
		for part := range strings.SplitSeq(says, "|") {
			if !strings.Contains(e.Message, part) {
				t.Errorf("%s: %q is not in %v", query, part, e)
			}
		}
		if strings.Contains(e.Message, "2.25") {
			t.Errorf("the refusal tells what others leave: %v", e)
		}
	}
	stands("1.75 2.25")
	if got := root.value("SELECT MAX(spent_rho) FROM dp.periods WHERE account_type = 'entity'"); got != "0.5" {
		t.Errorf("refused statements were charged to blocks: %s", got)
	}

	// Both prices name which of the two refuses; an analyst sees no more than that.
	lines := func(c *client) (entity, person string) {
		for _, row := range c.query("EXPLAIN " + on("05-01", "09-01")) {
			for line := range strings.SplitSeq(row[0], "\n") {
				if _, budget, ok := strings.Cut(line, "budget entity buyer"); ok && strings.HasPrefix(budget, " over all periods") {
					person += budget
				} else if ok {
					entity += budget
				}
			}
		}
		return entity, person
	}
	if entity, person := lines(root); !strings.Contains(entity, "queries=") || !strings.Contains(person, "this=4  remaining=2.25  refuses") {
		t.Errorf("EXPLAIN tells %q and %q", entity, person)
	}
	if entity, person := lines(ann); entity != " of *  fits" || person != " over all periods of *  refuses" {
		t.Errorf("EXPLAIN tells an analyst %q and %q", entity, person)
	}
	fits := map[string]string{}
	for _, row := range ann.query("CALL dp_price(\"" + on("05-01", "09-01") + "\")") {
		fits[row[1]] = row[11]
	}
	if fits["entity:buyer"] != "yes" || fits["entity:"+over] != "no" {
		t.Errorf("dp_price tells %v", fits)
	}

	// What is spent is there after a restart, and what fits exactly is granted.
	i.end()
	i = start(t, dir)
	root, ann = i.root(), i.as("ann")
	ann.exec("USE shop", "SET dp_rho = 0.25")
	stands("1.75 2.25")
	ann.query(on("08-01", "11-01"))
	stands("4 0")
	ann.refused(1644, "45013", on("12-01", "12-31"))
	got := root.query("SELECT first_day, last_day, periods, spent_rho, remaining_rho FROM dp.periods WHERE account = '" + over + "'")
	if len(got) != 1 || strings.Join(got[0], "|") != "NULL|NULL|NULL|4|0" {
		t.Errorf("dp.periods tells %v", got)
	}
	if got := root.query("SELECT spent_rho, remark FROM dp.budgets WHERE account_type = 'person sum'"); len(got) != 1 || got[0][0] != "4" || !strings.Contains(got[0][1], "n² times") {
		t.Errorf("the sum of a person is %v", got)
	}
	if got := ann.query("SELECT rho FROM dp.ledger WHERE account_type = 'person' ORDER BY id"); fmt.Sprint(got) != "[[0.25] [0.25] [0.25] [1] [2.25]]" {
		t.Errorf("the ledger has the charges %v", got)
	}

	// A cap of one's own tells what remains of it, as other budgets do.
	root.exec("CALL dp_set_budget("+target+", '*', 'rho=100', 1e-6, 'never', 'room')", "CALL dp_set_budget("+target+", 'ann', 'rho=4.5', 1e-6, 'never')")
	if e := ann.refused(1644, "45013", on("12-01", "12-31")+" AND qty > 1 AND qty < 3 AND id > 7 OR qty = 3"); !strings.Contains(e.Message, "no bound") {
		t.Error(e)
	}
	if e := ann.refused(1644, "45013", on("10-01", "12-01")+" AND qty > 1"); !strings.Contains(e.Message, "rho 0.5 remains") {
		t.Error(e)
	}
	for _, call := range []string{"CALL dp_set_budget('entity:nobody over all periods', '*', 1, 1e-6, 'never')", "CALL dp_set_budget('entity:visitor over all periods', '*', 1, 1e-6, 'never')"} {
		root.exec("CREATE TABLE IF NOT EXISTS shop.visits (person INT)")
		if root.value("SELECT state FROM dp.policies WHERE table_name = 'shop.visits'") == "undeclared" {
			root.exec("CALL dp_protect('shop.visits', 'person', 'visitor')")
		}
		if _, err := root.try(call); err == nil {
			t.Errorf("%s is taken", call)
		}
	}
	root.exec("CALL dp_reset_budget(" + target + ", '*', 'a new year')")
	stands2 := root.value("SELECT spent_rho FROM dp.budgets WHERE account_type = 'person' AND budget = '*'")
	if stands2 != "0" {
		t.Errorf("after a reset %s is spent", stands2)
	}
}

// TestFiltersByPeriod: the periods that a statement is charged to are those that its condition on
// the day leaves, as far as it is recognised, and the rows of other periods decide nothing about
// its answer, whatever was recognised.
func TestFiltersByPeriod(t *testing.T) {
	source := &recorders{t: t}
	i := startWith(t, "", source.next)
	root, ann := monthly(t, i, 40)
	root.exec("CALL dp_set_budget('shop.orders', '*', 1000000, 0.001, 'never')")
	ann.exec("SET dp_rho = 30", "SET time_zone = '+09:00'")
	const may, june, july, august = 1, 2, 4, 8
	cases := []struct {
		where, first, last string
		of                 int // the months whose rows may decide about the answer
	}{
		{"placed >= '2025-06-10' AND placed < '2025-07-01'", "2025-06-01", "2025-06-30", june},
		{"placed >= '2025-06-10' AND placed <= '2025-07-01'", "2025-06-01", "2025-07-31", june | july},
		{"placed > '2025-05-31 23:59:59' AND placed < '2025-07-01 00:00:00'", "2025-05-01", "2025-06-30", may | june},
		{"placed BETWEEN '2025-07-01' AND '2025-07-31 23:59:59.5'", "2025-07-01", "2025-07-31", july},
		{"DATE(placed) = '2025-08-03'", "2025-08-01", "2025-08-31", august},
		{"'2025-07-15' <= placed AND '2025-08-01' > placed", "2025-07-01", "2025-07-31", july},
		{"YEAR(placed) = 2025 AND MONTH(placed) = 6 AND region = 'north'", "2025-06-01", "2025-06-30", june},
		{"YEAR(placed) = 2024", "2024-01-01", "2024-12-31", 0},
		{"YEAR(placed) >= 2025 AND placed < '2025-06-01'", "2025-01-01", "2025-05-31", may},
		{"placed < CAST('2025-06-01' AS DATETIME)", "NULL", "2025-05-31", may},
		{"placed > '2025-08-01'", "2025-08-01", "NULL", august},
		{"placed >= '2025-07-01' + INTERVAL 1 MONTH", "2025-08-01", "NULL", august},
		{"placed >= '2025-07-01' AND placed < '2025-06-01'", "NULL", "NULL", may | june | july | august},
		{"NOT (placed < '2025-07-01')", "NULL", "NULL", july | august},
		{"placed >= '2025-07-01' OR qty > 3", "NULL", "NULL", may | june | july | august},
		{"MONTH(placed) = 6", "NULL", "NULL", june},
		{"placed >= '20250701'", "NULL", "NULL", july | august},
		{"id IN (SELECT order_id FROM items) AND placed >= '2025-07-01'", "2025-07-01", "NULL", july | august},
	}
	recent := cases[0]
	recent.where, recent.of = "placed >= NOW() - INTERVAL 30 DAY", 0
	recent.first, recent.last = ann.value("SELECT DATE_FORMAT(NOW() - INTERVAL 30 DAY, '%Y-%m-01')"), "NULL"
	cases = append(cases, recent)
	runs, charged := map[string][]*stattest.Recorder{}, map[string]*big.Rat{}
	query := func(where string) string { return "SELECT COUNT(*), SUM(qty) FROM orders WHERE " + where }
	for _, c := range cases {
		source.again(false)
		if strings.Contains(c.where, "items") {
			root.exec("CALL dp_set_budget('shop.items', '*', 1000000, 0.001, 'never')")
		}
		q := query(c.where)
		if _, err := ann.try(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		runs[q], charged[q] = source.again(false), lastCharge(t, root)
		on := root.query("SELECT first_day, last_day FROM dp.ledger WHERE entry = 'charge' AND account_type = 'entity' ORDER BY id DESC LIMIT 1")[0]
		if on[0] != c.first || on[1] != c.last {
			t.Errorf("%s: charged to %v, want %s to %s", c.where, on, c.first, c.last)
		}
	}
	lost := 0
	for month := 5; month <= 8; month++ {
		saved := root.query(fmt.Sprintf("SELECT id, region, placed, qty FROM shop.orders WHERE customer = 9 AND MONTH(placed) = %d", month))[0]
		root.exec(fmt.Sprintf("DELETE FROM shop.orders WHERE customer = 9 AND MONTH(placed) = %d", month))
		shares := source.shares(runs, charged, func(q string) { ann.query(q) })
		for _, c := range cases {
			share := shares[query(c.where)]
			if share > 1 || share > 0 && c.of&(1<<(month-5)) == 0 {
				t.Errorf("%s: the rows of month %d lose %.3f", c.where, month, share)
			}
			if share > 0 {
				lost++
			}
		}
		root.exec(fmt.Sprintf("INSERT INTO shop.orders VALUES (%s, 9, '%s', '%s', %s)", saved[0], saved[1], saved[2], saved[3]))
	}
	if lost < 15 {
		t.Errorf("%d losses say little", lost)
	}
}

// TestPeriodNeighbours takes away what one person has in June: no statement loses more than it is
// charged, one on other months loses nothing, and somebody who goes with all months loses more.
func TestPeriodNeighbours(t *testing.T) {
	source := &recorders{t: t}
	i := startWith(t, "", source.next)
	root, ann := monthly(t, i, 150)
	root.exec("CALL dp_set_budget('shop.orders', '*', 1000000, 0.001, 'never')", "CALL dp_set_budget('shop.items', '*', 1000000, 0.001, 'never')")
	ann.exec("SET dp_rho = 30")
	queries := []string{
		"SELECT COUNT(*) FROM orders", "SELECT COUNT(DISTINCT customer) FROM orders", "SELECT SUM(qty) FROM orders", "SELECT AVG(qty), DP_MEDIAN(qty) FROM orders",
		"SELECT region, COUNT(*), SUM(qty) FROM orders GROUP BY region", "SELECT MONTH(placed), COUNT(*) FROM orders WHERE YEAR(placed) = 2025 GROUP BY MONTH(placed)",
		"SELECT SUM(i.price) FROM items i JOIN orders o ON o.id = i.order_id", "SELECT AVG(n) FROM (SELECT order_id, SUM(price) AS n FROM items GROUP BY order_id) x",
		"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.id AND i.price > 20)",
		"SELECT SUM(qty) FROM (SELECT qty FROM orders WHERE placed < '2025-06-01' UNION ALL SELECT qty FROM orders WHERE MONTH(placed) > 5) x",
		"SELECT AVG(n) FROM (SELECT qty - LAG(qty) OVER (PARTITION BY id ORDER BY placed) AS n FROM orders) x", "SELECT COUNT(*) FROM orders a JOIN orders b ON a.qty = b.qty AND a.id < b.id",
		"SELECT COUNT(*), SUM(qty) FROM orders WHERE placed >= '2025-07-01'", "SELECT region, AVG(qty) FROM orders WHERE MONTH(placed) = 5 AND YEAR(placed) = 2025 GROUP BY region",
	}
	runs, charged := map[string][]*stattest.Recorder{}, map[string]*big.Rat{}
	for _, q := range queries {
		source.again(false)
		ann.query(q)
		runs[q], charged[q] = source.again(false), lastCharge(t, root)
	}
	shares := func() map[string]float64 {
		return source.shares(runs, charged, func(q string) { ann.query(q) })
	}
	lost := 0
	for _, p := range []int{6, 13, 76, 149} {
		saved := root.query(fmt.Sprintf("SELECT id, region, placed, qty FROM shop.orders WHERE customer = %d", p))
		root.exec(fmt.Sprintf("DELETE FROM shop.orders WHERE customer = %d AND MONTH(placed) = 6", p))
		for q, share := range shares() {
			if share > 1 {
				t.Errorf("%s: the rows of June of person %d lose %.3f of the charge", q, p, share)
			}
			if share > 0.2 {
				lost++
			}
			if elsewhere := strings.Contains(q, "07-01") || strings.Contains(q, "= 5 AND"); elsewhere && share != 0 {
				t.Errorf("%s: the rows of June of person %d lose %.3f", q, p, share)
			}
		}
		root.exec(fmt.Sprintf("DELETE FROM shop.orders WHERE customer = %d", p))
		if share := shares()["SELECT SUM(qty) FROM orders"]; p == 6 && share <= 1 {
			t.Errorf("all months of person %d lose %.3f of the charge for one", p, share)
		}
		var rows []string
		for _, r := range saved {
			rows = append(rows, fmt.Sprintf("(%s, %d, '%s', '%s', %s)", r[0], p, r[1], r[2], r[3]))
		}
		root.insert("shop.orders", rows)
	}
	if lost < 8 {
		t.Errorf("%d losses say little", lost)
	}
}

// TestPersonNeighbours takes away all that one person has, in four months: no statement loses more
// than it is charged over all periods, and some lose more than the charges of their months add up
// to, which would be too little.
func TestPersonNeighbours(t *testing.T) {
	source := &recorders{t: t}
	i := startWith(t, "", source.next)
	root, ann := monthly(t, i, 150)
	root.exec("CALL dp_set_budget('shop.orders', '*', 1000000, 0.001, 'never')", "CALL dp_set_budget('shop.items', '*', 1000000, 0.001, 'never')")
	ann.exec("SET dp_rho = 30")
	const all, two = " WHERE placed >= '2025-05-01' AND placed < '2025-09-01'", " WHERE placed >= '2025-06-01' AND placed < '2025-08-01'"
	months := map[string]float64{
		"SELECT COUNT(*) FROM orders" + all: 4, "SELECT SUM(qty) FROM orders" + all: 4, "SELECT AVG(qty), DP_MEDIAN(qty) FROM orders" + all: 4,
		"SELECT region, COUNT(*), SUM(qty) FROM orders" + all + " GROUP BY region": 4, "SELECT COUNT(*), SUM(qty) FROM orders" + two: 2,
		"SELECT SUM(i.price) FROM items i JOIN orders o ON o.id = i.order_id" + strings.ReplaceAll(two, "placed", "o.placed"): 2,
		"SELECT COUNT(*), SUM(qty) FROM orders WHERE YEAR(placed) = 2025 AND MONTH(placed) = 6":                               1,
	}
	runs, charged := map[string][]*stattest.Recorder{}, map[string]*big.Rat{}
	for q, n := range months {
		source.again(false)
		ann.query(q)
		block := lastCharge(t, root)
		person, ok := new(big.Rat).SetString(root.value("SELECT rho FROM dp.ledger WHERE entry = 'charge' AND account_type = 'person' ORDER BY id DESC LIMIT 1"))
		if !ok || person.Cmp(new(big.Rat).Mul(block, new(big.Rat).SetFloat64(n*n))) != 0 {
			t.Fatalf("%s: a person is charged %v, and a month %v", q, person, block)
		}
		runs[q], charged[q] = source.again(false), person
	}
	more := 0
	for _, p := range []int{6, 13, 76, 149} {
		saved := root.query(fmt.Sprintf("SELECT id, region, placed, qty FROM shop.orders WHERE customer = %d", p))
		root.exec(fmt.Sprintf("DELETE FROM shop.orders WHERE customer = %d", p))
		for q, share := range source.shares(runs, charged, func(q string) { ann.query(q) }) {
			if share > 1 {
				t.Errorf("%s: person %d loses %.3f of the charge", q, p, share)
			}
			if n := months[q]; n > 1 && share > 1/n {
				more++
			}
		}
		var rows []string
		for _, r := range saved {
			rows = append(rows, fmt.Sprintf("(%s, %d, '%s', '%s', %s)", r[0], p, r[1], r[2], r[3]))
		}
		root.insert("shop.orders", rows)
	}
	if more < 4 {
		t.Errorf("%d statements lose more than their months' charges added up: the test says little", more)
	}
}
