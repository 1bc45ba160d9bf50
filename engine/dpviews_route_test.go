package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"scrim/test/stattest"
)

// explained is what EXPLAIN says of a statement.
func (c *client) explained(query string) string {
	c.t.Helper()
	return fmt.Sprint(c.query("EXPLAIN " + query))
}

// fromView reports whether a statement would be answered from DP views, by EXPLAIN.
func (c *client) fromView(query string) bool {
	c.t.Helper()
	return strings.Contains(c.explained(query), "answered from DP views")
}

// remarked returns the messages that the last statement left.
func (c *client) remarked() string { return fmt.Sprint(c.query("SHOW WARNINGS")) }

// TestStatementsAreAnsweredFromAView asks the base table, and is answered by the view: with its
// numbers, under the types and rows of the statement's own answer, for nothing.
func TestStatementsAreAnsweredFromAView(t *testing.T) {
	i := startWith(t, "", seeded(t, "view", 1))
	root := i.root()
	viewShop(root, viewOrders(rand.New(stattest.Source(t, "orders")), 3000), `CALL dp_set_domain('shop.orders', 'amount', '{"min":0,"max":100}')`)
	ann := i.analyst(root, "ann", "shop")
	const before = "SELECT product, COUNT(*) FROM shop.orders WHERE placed >= '2025-06-03' AND region IS NOT NULL GROUP BY product"
	stored := fmt.Sprint(ann.query(before))
	id := root.query(salesView)[0][12]
	charges := func() string { return root.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge'") }
	paid := charges()

	const asked = "SELECT region, COUNT(*), SUM(amount) FROM shop.orders WHERE product = 'tea' GROUP BY region ORDER BY region"
	got := ann.query(asked)
	if told := ann.remarked(); !strings.Contains(told, "FROM_VIEW") || !strings.Contains(told, "shop.sales") || !strings.Contains(told, "seconds old") {
		t.Errorf("remarks %s", told)
	}
	want := ann.query("SELECT region, CAST(ROUND(SUM(n)) AS SIGNED), CAST(SUM(s) AS DECIMAL(20,2)) FROM shop.sales WHERE product = 'tea' GROUP BY region ORDER BY region")
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("answered %v, and the view has %v", got, want)
	}
	if prepared := ann.query(strings.Replace(asked, "'tea'", "?", 1), "tea"); fmt.Sprint(prepared) != fmt.Sprint(want) {
		t.Errorf("prepared it is answered %v, want %v", prepared, want)
	}
	if last := ann.query("SELECT entry, replay_of, rho, statement FROM dp.last_cost"); len(last) != 0 && (last[0][0] != "replay" || last[0][1] != id) || len(last) == 0 {
		t.Errorf("the last cost is %v, want a replay of %s", last, id)
	}
	text := ann.explained(asked)
	for _, part := range []string{"answered from DP views  costs nothing", "view shop.sales  released at ", "charged in ledger entry " + id, "COUNT(*)  of n  expected error="} {
		if !strings.Contains(text, part) {
			t.Errorf("EXPLAIN has no %q: %s", part, text)
		}
	}
	price := ann.query("CALL dp_price('" + strings.ReplaceAll(asked, "'", "''") + "')")
	if len(price) != 3 || price[0][1] != "DP view shop.sales" || price[0][11] != "yes" || !strings.HasPrefix(price[0][14], "costs nothing") || !(numberIn(t, price[1][12]) > 0) {
		t.Errorf("the price is %v", price)
	}
	if charges() != paid {
		t.Error("an answer from a view was charged")
	}
	root.query("SELECT COUNT(*) FROM shop.orders WHERE amount > 3") // what is written with a charge is read
	if replays := root.query("SELECT DISTINCT principal, replay_of, statement FROM dp.ledger WHERE entry = 'replay'"); len(replays) != 1 || replays[0][1] != id {
		t.Errorf("the ledger has the replays %v", replays)
	}

	// Intervals are those of dp_view_errors, about the numbers without bias.
	errors := ann.query("CALL dp_view_errors('SELECT region, SUM(n), SUM(s) FROM shop.sales WHERE product = ''tea'' GROUP BY region')")
	bars := ann.query("SELECT region, COUNT(*) AS k, DP_LOW(k), DP_HIGH(k), DP_STDERR(k), SUM(amount) AS t, DP_LOW(t), DP_HIGH(t), DP_STDERR(t) FROM shop.orders WHERE product = 'tea' GROUP BY region")
	if told := ann.remarked(); !strings.Contains(told, "FROM_VIEW") || len(bars) != 3 {
		t.Errorf("bars %v, remarks %s", bars, told)
	}
	for _, row := range bars {
		for _, e := range errors {
			at := map[string]int{"n": 1, "s": 5}[e[1]]
			if e[0] != fmt.Sprintf(`{"region": "%s"}`, row[0]) {
				continue
			}
			low, high, se := numberIn(t, row[at+1]), numberIn(t, row[at+2]), numberIn(t, row[at+3])
			if math.Abs(low-numberIn(t, e[4])) > 1 || math.Abs(high-numberIn(t, e[5])) > 1 || math.Abs(se-numberIn(t, e[3])) > 1e-6*se {
				t.Errorf("%v, and dp_view_errors has %v", row, e)
			}
		}
	}

	// What a session has been answered before stays its answer, unless it wants the view's.
	if again := fmt.Sprint(ann.query(before)); again != stored || strings.Contains(ann.remarked(), "FROM_VIEW") {
		t.Errorf("stored %s, then %s", stored, again)
	}
	if again := fmt.Sprint(ann.query(strings.Replace(before, "SELECT", "SELECT /*+ SET_VAR(dp_views='always') */", 1))); again == stored || !strings.Contains(ann.remarked(), "FROM_VIEW") {
		t.Errorf("stored %s, and by the view %s", stored, again)
	}
}

// TestWhatFollowsFromTheCells: statements are answered from the view if and only if its cells tell
// the answer.
func TestWhatFollowsFromTheCells(t *testing.T) {
	i := startWith(t, "", seeded(t, "cells", 1))
	root := i.root()
	root.exec("CREATE DATABASE shop",
		"CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT NOT NULL, region VARCHAR(8), product VARCHAR(8) NOT NULL, placed DATETIME NOT NULL, amount INT NOT NULL, tip INT, grade INT NOT NULL, price DECIMAL(4,1) NOT NULL, day DATE NOT NULL)",
		"CREATE TABLE shop.kinds (product VARCHAR(8) PRIMARY KEY, kind VARCHAR(8) NOT NULL)", "INSERT INTO shop.kinds VALUES ('tea', 'leaf'), ('coffee', 'bean')", "CALL dp_public('shop.kinds')",
		"CALL dp_protect('shop.orders', 'customer', 'customer')",
		`CALL dp_set_domain('shop.orders', 'region', '["north","south","east"]')`,
		`CALL dp_set_domain('shop.orders', 'product', '["tea","coffee"]')`,
		`CALL dp_set_domain('shop.orders', 'placed', '{"min":"2025-06-01","max":"2025-06-30"}')`,
		`CALL dp_set_domain('shop.orders', 'amount', '{"min":0,"max":100}')`,
		`CALL dp_set_domain('shop.orders', 'grade', '[1, 2, 3]')`, `CALL dp_set_domain('shop.orders', 'price', '[1.5, 2]')`, `CALL dp_set_domain('shop.orders', 'day', '{"min":"2025-06-01","max":"2025-06-03"}')`,
		"CALL dp_set_budget('shop.orders', '*', 100, 0.001, 'never')", "SET dp_raw = ON")
	r := rand.New(stattest.Source(t, "orders"))
	var rows []string
	for k := range 3000 {
		rows = append(rows, fmt.Sprintf("(%d, %d, '%s', '%s', '2025-06-%02d %02d:00:00', %d, 1, %d, %s, '2025-06-0%d')", k, k/2, []string{"north", "south", "east"}[r.IntN(3)], []string{"tea", "coffee"}[r.IntN(2)], 1+r.IntN(30), r.IntN(24), r.IntN(40), 1+r.IntN(3), []string{"1.5", "2"}[r.IntN(2)], 1+r.IntN(3)))
	}
	root.insert("shop.orders", rows)
	root.exec("SET dp_raw = OFF", "USE shop")
	root.query(`CALL dp_create_view('shop.sales', 'SELECT region, product, DATE(placed) AS day, COUNT(*) AS n, SUM(amount) AS s FROM orders GROUP BY 1, 2, 3', '{"epsilon": 2, "ways": 2}')`)
	root.query(`CALL dp_create_view('shop.kinds_of', 'SELECT k.kind, COUNT(*) AS n FROM shop.orders o JOIN shop.kinds k ON k.product = o.product WHERE o.amount > 5 GROUP BY 1', '{"epsilon": 2}')`)
	root.query(`CALL dp_create_view('shop.plain', 'SELECT grade, price, day, COUNT(*) AS n FROM shop.orders GROUP BY 1, 2, 3', '{"epsilon": 2}')`)
	root.query(`CALL dp_create_view('shop.taken', 'SELECT COALESCE(region, "north") AS r, grade, COUNT(*) AS n FROM shop.orders GROUP BY 1, 2', '{"epsilon": 2}')`)
	root.exec("SET dp_views = 'always'", "CREATE DATABASE other", "USE other")
	for _, q := range []string{
		"SELECT region, COUNT(*) FROM shop.orders WHERE product = 'tea' GROUP BY region",
		"SELECT o.region, SUM(o.amount) FROM shop.orders AS o GROUP BY o.region HAVING SUM(o.amount) > 5 ORDER BY 2 DESC LIMIT 1",
		"SELECT CONCAT(region, '!'), COUNT(*) FROM shop.orders GROUP BY 1",
		"SELECT DATE(placed), region, COUNT(*) FROM shop.orders WHERE region <> 'east' GROUP BY 1, 2",
		"SELECT WEEK(placed), COUNT(*) FROM shop.orders WHERE region IN ('north', 'south', 'east') GROUP BY 1",
		"SELECT MONTH(placed), SUM(amount) / COUNT(*), AVG(amount) FROM shop.orders WHERE region IS NOT NULL GROUP BY 1",
		"SELECT product, COUNT(*) FROM shop.orders WHERE region = 'north' AND placed >= '2025-06-03' AND placed < '2025-06-10' GROUP BY product",
		"SELECT COUNT(*) FROM shop.orders WHERE (region = 'north' OR region = 'south') AND NOT product = 'tea'",
		"SELECT COUNT(*) FROM shop.orders WHERE region = 'nowhere'",
		"SELECT COUNT(*) + 1, (SELECT SUM(amount) FROM shop.orders WHERE region = 'east') FROM shop.orders WHERE region = 'north'",
		"SELECT region, COUNT(*) FROM shop.orders GROUP BY region UNION ALL SELECT product, COUNT(*) FROM shop.orders WHERE region > 'a' GROUP BY product",
		"SELECT region, product, COUNT(*) FROM shop.orders WHERE region < 'z' GROUP BY region, product WITH ROLLUP",
		"SELECT region, AVG(n) FROM (SELECT region, product, COUNT(*) AS n FROM shop.orders GROUP BY region, product) t GROUP BY region",
		"SELECT COUNT(*) FROM shop.orders p JOIN shop.kinds q ON q.product = p.product WHERE p.amount > 5 AND q.kind = 'leaf'",
		"SELECT COUNT(*) FROM shop.orders",
		"SELECT COUNT(*) FROM shop.orders WHERE grade > 1 AND price < 1.75 AND day <> '2025-06-02'",
		"SELECT day, price, grade, COUNT(*) FROM shop.orders GROUP BY day, price, grade",
		"SELECT grade DIV 2, price * 2, COUNT(*) FROM shop.orders GROUP BY 1, 2",
	} {
		if !root.fromView(q) {
			t.Errorf("not from a view: %s", q)
		}
		root.query(q)
	}
	for _, q := range []string{
		"SELECT product, COUNT(*) FROM shop.orders GROUP BY product", // rows whose region is NULL are in no cell
		"SELECT COUNT(*) FROM shop.orders WHERE tip = 1",
		"SELECT region, COUNT(*) FROM shop.orders WHERE amount <= 100 GROUP BY region", // which the range says of all
		"SELECT grade, COUNT(*) FROM shop.orders WHERE region > '' GROUP BY grade",     // of all regions, and not of NULL
		"SELECT COUNT(*) FROM shop.orders WHERE region = 'north' AND grade = 1",        // nor is what is taken for it
		"SELECT region, COUNT(*) FROM shop.orders WHERE amount > 10 GROUP BY region",
		"SELECT region, COUNT(*) FROM shop.orders WHERE product = 'tea' AND amount > 10 GROUP BY region",
		"SELECT region, COUNT(*) FROM shop.orders WHERE placed >= '2025-06-03 12:00:00' GROUP BY region",
		"SELECT region, COUNT(*) FROM shop.orders WHERE placed > '2025-06-03' GROUP BY region", // midnight
		"SELECT HOUR(placed), COUNT(*) FROM shop.orders WHERE region = 'north' GROUP BY 1",
		"SELECT region, SUM(amount + 1) FROM shop.orders GROUP BY region",
		"SELECT region, COUNT(tip) FROM shop.orders GROUP BY region",
		"SELECT region, COUNT(DISTINCT customer) FROM shop.orders GROUP BY region",
		"SELECT region, COUNT(*), VARIANCE(amount) FROM shop.orders GROUP BY region",
		"SELECT region, DP_SUM(amount, 'lower=0, upper=50') FROM shop.orders GROUP BY region",
		"SELECT region, COUNT(*) FROM shop.orders o JOIN shop.kinds k ON k.product = o.product GROUP BY region",
		"SELECT COUNT(*) FROM shop.orders p JOIN shop.kinds q ON q.product = p.product WHERE q.kind = 'leaf'",
		"SELECT COUNT(*) FROM shop.orders p LEFT JOIN shop.kinds q ON q.product = p.product WHERE p.amount > 5 AND q.kind = 'leaf'",
		"SELECT region, COUNT(*) FROM shop.orders GROUP BY region UNION ALL SELECT 'all', COUNT(*) FROM shop.orders WHERE product <> 'tea'",
		"SELECT AVG(t) FROM (SELECT customer, SUM(amount) AS t FROM shop.orders WHERE region = 'north' GROUP BY customer) x",
	} {
		if text := root.explained(q); strings.Contains(text, "answered from DP views") || !strings.Contains(text, "  not taken: ") {
			t.Errorf("from a view, or without a reason why not: %s\n%s", q, text)
		}
	}
	// One statement agrees with another, and with itself.
	sum := func(q string) (total float64) {
		for _, row := range root.query(q) {
			total += numberIn(t, row[len(row)-1])
		}
		return total
	}
	plain, ones := root.query("SELECT day, COUNT(*) FROM shop.orders WHERE grade = 1 GROUP BY day ORDER BY day"), root.query("SELECT day, ROUND(SUM(n)) FROM shop.plain WHERE grade = 1 GROUP BY day ORDER BY day")
	if fmt.Sprint(plain) != fmt.Sprint(ones) || len(plain) != 3 {
		t.Errorf("answered %v, and the view has %v", plain, ones)
	}
	all := sum("SELECT COUNT(*) FROM shop.orders WHERE region > ''")
	for q, rounded := range map[string]float64{
		"SELECT region, COUNT(*) FROM shop.orders GROUP BY region":                                                                                1.5,
		"SELECT DATE(placed), COUNT(*) FROM shop.orders WHERE region > '' GROUP BY 1":                                                             15,
		"SELECT (SELECT COUNT(*) FROM shop.orders WHERE region = 'north') + (SELECT COUNT(*) FROM shop.orders WHERE region IN ('east', 'south'))": 1,
	} {
		if got := sum(q); math.Abs(got-all) > rounded+0.5 {
			t.Errorf("%v in all, %v by %s", all, got, q)
		}
	}
	// The interval of 99.99 % is 4 to 10 wide, by the noise of the clip that the view learnt.
	mean := root.query("SELECT AVG(amount) AS m, DP_LOW(m, 0.9999), DP_HIGH(m, 0.9999) FROM shop.orders WHERE region > ''")[0]
	if told := root.remarked(); !strings.Contains(told, "FROM_VIEW") || numberIn(t, mean[1]) > 19.5 || numberIn(t, mean[2]) < 19.5 || numberIn(t, mean[2])-numberIn(t, mean[1]) > 20 {
		t.Errorf("a mean of 19.5 is answered by %v: %s", mean, told)
	}
	if got := root.query("SELECT region, COUNT(*) FROM shop.orders WHERE product = 'milk' GROUP BY region"); fmt.Sprint(got) != "[[north 0] [south 0] [east 0]]" {
		t.Errorf("of no product %v", got)
	}
}

// TestAnswersFromAViewAreThoseOfTheTable: random statements, answered from a view of little noise,
// are near the exact answers, in all groups, wherever EXPLAIN says that they follow. One person in
// eight has a NULL region, which is one of the domain's or is not. At 8 standard errors a value has
// a chance of 1e-15, and what is put into a wrong group, or left out, is many of them.
func TestAnswersFromAViewAreThoseOfTheTable(t *testing.T) {
	some, all := answersOfAView(t, `["north","south","east"]`), answersOfAView(t, `["north","south","east",null]`)
	if some < 6 || some >= all || all > 27 {
		t.Errorf("%d of 30 statements follow from the view, and %d where NULL is a region", some, all)
	}
}

// answersOfAView compares answers, and returns how many of 30 statements follow.
func answersOfAView(t *testing.T, regions string) (followed int) {
	i := start(t, "")
	root := i.root()
	root.exec("CREATE DATABASE club", "CREATE TABLE club.people (id INT PRIMARY KEY, region VARCHAR(8), grade INT NOT NULL, joined DATETIME NOT NULL, x INT NOT NULL)",
		"CALL dp_protect('club.people', 'id', 'member')",
		"CALL dp_set_domain('club.people', 'region', '"+regions+"')", `CALL dp_set_domain('club.people', 'grade', '[1, 2, 3, 4]')`,
		`CALL dp_set_domain('club.people', 'joined', '{"min":"2025-01-01","max":"2025-03-31"}')`, `CALL dp_set_domain('club.people', 'x', '{"min":0,"max":20}')`,
		"CALL dp_set_budget('club.people', '*', 1000, 0.001, 'never')", "SET dp_raw = ON")
	r := rand.New(stattest.Source(t, "people"))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	var rows []string
	for k := range 4000 {
		rows = append(rows, fmt.Sprintf("(%d, %s, %d, '2025-%02d-%02d %02d:30:00', %d)", k, pick("NULL", "'north'", "'north'", "'north'", "'south'", "'south'", "'east'", "'east'"),
			1+r.IntN(4), 1+r.IntN(3), 1+r.IntN(28), r.IntN(24), r.IntN(21)))
	}
	root.insert("club.people", rows)
	root.exec("SET dp_raw = OFF")
	root.query(`CALL dp_create_view('club.v', 'SELECT region, grade, DATE(joined) AS day, COUNT(*) AS n, SUM(x) AS s FROM club.people WHERE grade > 1 GROUP BY 1, 2, 3', '{"epsilon": 80}')`)
	root.query(`CALL dp_create_view('club.w', 'SELECT grade, COUNT(*) AS n, SUM(x) AS s FROM club.people GROUP BY grade', '{"epsilon": 80}')`)
	root.exec("SET dp_views = 'always'")
	values := 0
	for range 30 {
		conds := []string{"grade > 1"}
		for range r.IntN(3) {
			conds = append(conds, pick("region = 'north'", "region <> 'south'", "region IN ('east', 'south')", "grade < 4", "NOT grade = 3", "MONTH(joined) = 2",
				"joined >= '2025-02-10'", "joined >= '2025-02-10 12:00:00'", "DAY(joined) > 14", "joined BETWEEN '2025-01-05' AND '2025-02-20 23:59:59'", "region IS NOT NULL", "x > 3", "HOUR(joined) < 12"))
		}
		r.Shuffle(len(conds), func(a, b int) { conds[a], conds[b] = conds[b], conds[a] })
		key := pick("region", "grade", "MONTH(joined)", "region, grade MOD 2", "CASE WHEN grade > 2 THEN 'high' ELSE 'low' END, region", "DATE(joined) < '2025-02-15'")
		from := " FROM club.people WHERE " + strings.Join(conds, " AND ") + " GROUP BY " + key
		q := "SELECT CONCAT_WS('|', " + key + ") AS k, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a, DP_STDERR(n), DP_STDERR(s), COALESCE(DP_STDERR(a), 1e9)" + from
		if !root.fromView(q) {
			continue
		}
		followed++
		got := root.query(q)
		root.exec("SET dp_raw = ON")
		exact := map[string][]string{}
		for _, row := range root.query("SELECT CONCAT_WS('|', " + key + ") AS k, COUNT(*), SUM(x), AVG(x)" + from) {
			exact[row[0]] = row[1:]
		}
		root.exec("SET dp_raw = OFF")
		for _, row := range got {
			want := exact[row[0]]
			if want == nil {
				want = []string{"0", "0", "0"}
			}
			for c := range 3 {
				if row[1+c] == "NULL" { // a mean of no rows
					continue
				}
				values++
				if off, se := math.Abs(numberIn(t, row[1+c])-numberIn(t, want[c])), numberIn(t, row[4+c]); off > 8*se+0.5 || c == 0 && se > 6 {
					t.Errorf("%s: %v with errors of %v, want %v", q, row[:4], row[4:], want)
				}
			}
		}
	}
	t.Logf("%d statements, %d values", followed, values)
	return followed
}

// TestWhoIsAnsweredFromAView: with SELECT on the view only, under dp_views, and by default not any
// more once something was written to the table.
func TestWhoIsAnsweredFromAView(t *testing.T) {
	i := start(t, "")
	root := i.root()
	viewShop(root, viewOrders(rand.New(rand.NewPCG(7, 7)), 2000))
	root.query(salesView)
	const asked = "SELECT region, COUNT(*) FROM shop.orders WHERE product IN ('tea', 'coffee') GROUP BY region"
	ann := i.analyst(root, "ann", "shop")
	root.exec("CREATE USER bob IDENTIFIED BY 'a-long-password'", "GRANT SELECT ON shop.orders TO bob")
	bob := i.client("bob", "a-long-password")
	if !ann.fromView(asked) || bob.fromView(asked) {
		t.Errorf("ann is answered from the view: %v, and bob, who may not read it: %v", ann.fromView(asked), bob.fromView(asked))
	}
	root.exec("GRANT SELECT ON shop.sales TO bob")
	if !bob.fromView(asked) {
		t.Error("bob may read the view, and is not answered from it")
	}
	off := strings.Replace(asked, "SELECT", "SELECT /*+ SET_VAR(dp_views=off) */", 1)
	if ann.fromView(off) {
		t.Error("from a view under dp_views = off")
	}
	large := strings.Replace(asked, "SELECT", "SELECT /*+ SET_VAR(dp_epsilon=50) */", 1)
	if text := ann.explained(large); !strings.Contains(text, "not taken: the error of COUNT(*) would be") {
		t.Errorf("a statement of a far smaller error is answered from the view: %s", text)
	}
	root.exec("SET dp_raw = ON", "INSERT INTO shop.orders VALUES (1000000, 1, 'north', 'tea', '2025-06-01', 1)", "SET dp_raw = OFF")
	always := strings.Replace(asked, "SELECT", "SELECT /*+ SET_VAR(dp_views='always') */", 1)
	if ann.fromView(asked) || !ann.fromView(always) || strings.Contains(ann.explained(always), "nothing written since") {
		t.Errorf("after a change: %v, always %v\n%s", ann.fromView(asked), ann.fromView(always), ann.explained(always))
	}
	if text := ann.explained(asked); !strings.Contains(text, "not taken: something was written to its tables") {
		t.Errorf("after a change EXPLAIN says %s", text)
	}
	ann.query(always)
	if told := ann.remarked(); !strings.Contains(told, "The tables may have changed since") {
		t.Errorf("remarks %s", told)
	}
	root.query("CALL dp_refresh_view('shop.sales')")
	if !ann.fromView(asked) {
		t.Error("not from the view that was refreshed")
	}
	root.exec(`CALL dp_set_domain('shop.orders', 'region', '["north","south"]')`)
	if ann.fromView(always) {
		t.Error("from a view of other cells than the domains have now")
	}
}

// TestSuggestedView: what an analyst was charged for tells a view, which answers it from then on.
func TestSuggestedView(t *testing.T) {
	dir := t.TempDir()
	i := start(t, dir)
	root := i.root()
	viewShop(root, viewOrders(rand.New(rand.NewPCG(7, 7)), 2000), "CREATE TABLE shop.plain (k INT)", "CALL dp_public('shop.plain')")
	ann := i.analyst(root, "ann", "shop")
	if got := ann.query("CALL dp_suggest_view()"); len(got) != 1 || got[0][0] != "NULL" || got[0][2] != "0" {
		t.Errorf("of nothing %v", got)
	}
	ann.exec("USE shop")
	asked := []string{
		"SELECT region, COUNT(*) FROM orders WHERE product = 'tea' GROUP BY region",
		"SELECT region, COUNT(*) AS n FROM shop.orders AS o WHERE o.product IN ('tea', 'coffee') GROUP BY 1 HAVING COUNT(*) > 3",
		"SELECT WEEK(placed) AS w, SUM(amount) FROM shop.orders WHERE region = 'north' AND product = 'tea' AND placed BETWEEN '2025-06-02' AND '2025-06-05' GROUP BY w",
		"SELECT product, AVG(amount) FROM orders WHERE region = 'east' GROUP BY product",
		"SELECT product, SUM(amount) AS s, DP_LOW(s), DP_HIGH(s, 0.9) FROM orders WHERE region = 'north' GROUP BY product",
		"SELECT product, SUM(amount) / COUNT(*) AS r, DP_LOW(r), DP_HIGH(r), DP_LOW(COUNT(*)) FROM orders WHERE region = 'north' GROUP BY product",
	}
	others := []string{
		"SELECT COUNT(*) FROM orders WHERE amount > 10",
		"SELECT STDDEV(amount) FROM orders",
		"SELECT COUNT(*) FROM (SELECT region FROM orders) t",
	}
	for _, q := range append(others, asked...) {
		ann.query(q)
	}
	got := ann.query("CALL dp_suggest_view()")
	if len(got) != 1 || got[0][1] != "6" || got[0][2] != "9" || got[0][5] != "2" || !(numberIn(t, got[0][3]) > 0.05) || !(numberIn(t, got[0][4]) > 1) {
		t.Fatalf("suggested %v", got)
	}
	if dba := root.query("CALL dp_suggest_view('ann')"); fmt.Sprint(dba) != fmt.Sprint(got) {
		t.Errorf("a DBA is told %v", dba)
	}
	ann.refusedFor(map[string]string{"CALL dp_suggest_view('root@%')": "told to a DBA"})
	if lines := root.query("CALL dp_price('" + strings.ReplaceAll(got[0][0], "'", "''") + "')"); len(lines) < 2 || lines[0][0] != "budget" || lines[0][11] != "yes" || root.value("SELECT COUNT(*) FROM dp.views") != "0" {
		t.Errorf("the price of %s: %v", got[0][0], lines)
	}
	root.refusedFor(map[string]string{"CALL dp_price('CALL dp_create_view(''shop.v'', ''SELECT 1'', ''{}'')')": "", "CALL dp_price('CALL dp_drop_view(''shop.v'')')": "dp_price wants"})
	root.query(got[0][0])
	for _, q := range asked {
		if always := strings.Replace(q, "SELECT", "SELECT /*+ SET_VAR(dp_views='always') */", 1); !ann.fromView(always) {
			t.Errorf("%s does not answer %s", got[0][0], q)
		}
	}
	// A server that starts again knows of which data its views are.
	i.end()
	root = start(t, dir).root()
	always := "SELECT /*+ SET_VAR(dp_views='always') */ COUNT(*) FROM shop.orders WHERE region = 'east' AND product = 'tea'"
	if text := root.explained(always); !strings.Contains(text, "nothing written since") {
		t.Errorf("after a restart EXPLAIN says %s", text)
	}
	root.exec("SET dp_raw = ON", "DELETE FROM shop.orders WHERE id = 3", "SET dp_raw = OFF")
	if text := root.explained(always); !strings.Contains(text, "answered from DP views") || strings.Contains(text, "nothing written since") {
		t.Errorf("after a restart and a change EXPLAIN says %s", text)
	}
}

// TestMeansComeFromTheBetterOne: a mean is answered from a view where the view's error is expected
// to be the smaller one, as counts and sums are.
func TestMeansComeFromTheBetterOne(t *testing.T) {
	root := startWith(t, "", seeded(t, "means of views", 1)).root()
	viewShop(root, viewOrders(rand.New(rand.NewPCG(9, 9)), 3000), `CALL dp_set_domain('shop.orders', 'amount', '{"min":0,"max":100}')`)
	root.query("CALL dp_create_view('shop.means', 'SELECT region, product, DATE(placed) AS day, COUNT(amount) AS n, SUM(amount) AS s FROM shop.orders GROUP BY 1, 2, 3', '{\"epsilon\": 0.5}')")
	const mean = "SELECT AVG(amount) FROM shop.orders WHERE region = 'north' AND product = 'tea'"
	root.exec("SET dp_rho = 20")
	if told := root.explained(mean); strings.Contains(told, "answered from DP views") || !strings.Contains(told, "the error of AVG(orders.amount) would be") {
		t.Errorf("at a large loss EXPLAIN says %s", told)
	}
	root.exec("SET dp_rho = 0.001")
	if !root.fromView(mean) {
		t.Errorf("at a small loss EXPLAIN says %s", root.explained(mean))
	}
}
