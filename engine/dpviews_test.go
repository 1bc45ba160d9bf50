package engine

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"scrim/test/stattest"
)

// viewOrders are rows of customers, one to six of each, over regions, products and the days of a
// week.
func viewOrders(r *rand.Rand, customers int) []string {
	var rows []string
	for c := range customers {
		for range 1 + r.IntN(6) {
			rows = append(rows, fmt.Sprintf("(%d, %d, '%s', '%s', '2025-06-%02d', %d.50)", len(rows), c,
				[]string{"north", "south", "east"}[min(r.IntN(3), r.IntN(3))], []string{"tea", "coffee"}[r.IntN(2)], 1+r.IntN(7), r.IntN(40)))
		}
	}
	return rows
}

// viewShop makes the table of orders, whose customers are protected.
func viewShop(root *client, rows []string, more ...string) {
	root.exec("CREATE DATABASE shop",
		"CREATE TABLE shop.orders (id INT PRIMARY KEY, customer INT, region VARCHAR(8), product VARCHAR(8), placed DATE NOT NULL, amount DECIMAL(8,2))",
		"CALL dp_protect('shop.orders', 'customer', 'customer')",
		`CALL dp_set_domain('shop.orders', 'region', '["north","south","east"]')`,
		`CALL dp_set_domain('shop.orders', 'product', '["tea","coffee"]')`,
		`CALL dp_set_domain('shop.orders', 'placed', '{"min":"2025-06-01","max":"2025-06-07"}')`,
		"CALL dp_set_budget('shop.orders', '*', 100, 0.001, 'never')")
	root.exec(more...)
	root.exec("SET dp_raw = ON")
	root.insert("shop.orders", rows)
	root.exec("SET dp_raw = OFF")
}

const salesView = `CALL dp_create_view('shop.sales', 'SELECT region, product, DATE(placed) AS day, COUNT(*) AS n, SUM(amount) AS s FROM shop.orders GROUP BY 1, 2, 3', '{"epsilon": 2, "ways": 2}')`

// numberIn is the number that a text is.
func numberIn(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestViewIsAPublicTableOfOneCharge makes a view, and reads it as an analyst: rows for all cells,
// which add up, near the exact numbers, for one charge that names it.
func TestViewIsAPublicTableOfOneCharge(t *testing.T) {
	i := startWith(t, "", seeded(t, "a view", 1))
	root := i.root()
	viewShop(root, viewOrders(rand.New(stattest.Source(t, "orders")), 3000), `CALL dp_set_domain('shop.orders', 'amount', '{"min":0,"max":100}')`)
	made := root.query(salesView)
	// the columns may be NULL, but for the day
	if told := root.remarked(); !strings.Contains(told, "IN_NO_CELL: Rows on which one of orders.product, orders.region is NULL") {
		t.Errorf("remarks %s", told)
	}
	if len(made) != 1 || made[0][0] != "shop.sales" || made[0][2] != "42" || made[0][3] != "region, product, day" || made[0][5] != "2" || made[0][6] != "2" {
		t.Errorf("made %v", made)
	}
	charges := root.query("SELECT DISTINCT id FROM dp.ledger WHERE statement LIKE 'VIEW shop.sales AS SELECT%' AND entry = 'charge'")
	if len(charges) != 1 || charges[0][0] != made[0][12] {
		t.Errorf("the ledger has %v, and the view names %s", charges, made[0][12])
	}
	ann := i.analyst(root, "ann", "shop")
	spent := root.value("SELECT spent_rho FROM dp.budgets WHERE principal = '*' AND account = 'shop.orders'")
	if got := ann.value("SELECT COUNT(*) FROM shop.sales"); got != "42" {
		t.Errorf("%s cells", got)
	}
	root.exec("SET dp_raw = ON")
	exact := root.query("SELECT region, COUNT(*), SUM(amount) FROM shop.orders WHERE placed >= '2025-06-03' GROUP BY region ORDER BY region")
	root.exec("SET dp_raw = OFF")
	const asked = "SELECT region, SUM(n), SUM(s) FROM shop.sales WHERE day >= '2025-06-03' GROUP BY region"
	free := ann.query(asked + " ORDER BY region")
	for k, row := range free {
		if n, want := numberIn(t, row[1]), numberIn(t, exact[k][1]); math.Abs(n/want-1) > 0.1 {
			t.Errorf("%s has %v rows, of %v", row[0], n, want)
		}
		if s, want := numberIn(t, row[2]), numberIn(t, exact[k][2]); math.Abs(s/want-1) > 0.1 {
			t.Errorf("%s has a sum of %v, of %v", row[0], s, want)
		}
	}
	errors := ann.query("CALL dp_view_errors('" + strings.ReplaceAll(asked, "'", "''") + "', '0.9999')")
	if len(errors) != 6 {
		t.Fatalf("errors %v", errors)
	}
	for _, e := range errors {
		if se, low, high := numberIn(t, e[3]), numberIn(t, e[4]), numberIn(t, e[5]); !(se > 0) || low >= high {
			t.Errorf("an error of %v, from %v to %v", se, low, high)
		}
		for k, row := range exact {
			if want := numberIn(t, row[map[string]int{"n": 1, "s": 2}[e[1]]]); e[0] == `{"region": "`+row[0]+`"}` && (want < numberIn(t, e[4]) || want > numberIn(t, e[5])) {
				t.Errorf("%v does not hold %v", e, exact[k])
			}
		}
	}
	if all, parts := ann.value("SELECT SUM(n) FROM shop.sales"), ann.value("SELECT SUM(k) FROM (SELECT product, SUM(n) AS k FROM shop.sales GROUP BY product) t"); math.Abs(numberIn(t, all)-numberIn(t, parts)) > 1e-6 {
		t.Errorf("%s in all, %s by product", all, parts)
	}
	if got := ann.value("SELECT COUNT(*) FROM shop.sales WHERE n < 0 OR s < 0"); got != "0" {
		t.Errorf("%s cells are under 0", got)
	}
	if after := root.value("SELECT spent_rho FROM dp.budgets WHERE principal = '*' AND account = 'shop.orders'"); after != spent {
		t.Errorf("reading a view cost: %s, then %s", spent, after)
	}
	if got := ann.query("SELECT view_name, cells FROM dp.views"); len(got) != 1 {
		t.Errorf("an analyst sees %v", got)
	}
	if got := ann.query("SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'shop' AND table_name = 'sales' ORDER BY ordinal_position"); len(got) != 9 || got[2][1] != "date" || got[8][0] != "s_stderr" {
		t.Errorf("information_schema has %v", got)
	}
}

// viewNeighbours makes a view of a crowd's orders, and of those of its neighbours, in which
// customer 0 has the rows that others tell, with the same noisy answers, and returns the largest
// share of the charge that is lost.
func viewNeighbours(t *testing.T, relation string, others ...[]string) float64 {
	source := &recorders{t: t}
	i := startWith(t, "", source.next)
	root := i.root()
	var more []string
	if relation != "" {
		more = append(more, "CALL dp_set_neighbours('shop.orders', '"+relation+"')")
	}
	viewShop(root, viewOrders(rand.New(rand.NewPCG(7, 7)), 200), more...)
	made := 0
	create := func() {
		made++
		root.query(fmt.Sprintf("CALL dp_create_view('shop.v%d', 'SELECT region, product, COUNT(*) AS n, SUM(amount) AS s FROM shop.orders GROUP BY 1, 2', '{\"rho\": 4}')", made))
	}
	source.again(false)
	create()
	base := source.again(false)
	charged := lastCharge(t, root)
	if rho, _ := charged.Float64(); rho <= 3.9 || rho > 4 {
		t.Errorf("charged %v, of 4", rho)
	}
	most := 0.0
	for _, rows := range others {
		root.exec("SET dp_raw = ON", "DELETE FROM shop.orders WHERE customer = 0")
		if len(rows) > 0 {
			root.insert("shop.orders", rows)
		}
		root.exec("SET dp_raw = OFF")
		source.mu.Lock()
		source.list, source.replay = nil, base
		source.mu.Unlock()
		create()
		got := source.again(false)
		if len(got) != len(base) {
			t.Fatalf("%d noise sources, then %d", len(base), len(got))
		}
		share, _ := new(big.Rat).Quo(lossOf(t, base, got), charged).Float64()
		most = max(most, share)
	}
	return most
}

// TestViewsMoveByAtMostTheirLoss takes a customer away, or exchanges them for one who owns far more
// than all others, for NULLs, for rows outside of every domain, and for numbers as far away as they
// get. An exchange under add-remove is found out.
func TestViewsMoveByAtMostTheirLoss(t *testing.T) {
	row := func(id int, region string, amount string) string {
		return fmt.Sprintf("(%d, 0, %s, 'tea', '2025-06-01', %s)", 100000+id, region, amount)
	}
	var all, odd, far []string
	for k := range 5000 {
		all = append(all, row(k, "'"+[]string{"north", "south", "east"}[k%3]+"'", "999999.99"))
	}
	odd = append(odd, row(0, "NULL", "1"), row(1, "'nowhere'", "1"), row(2, "'north'", "NULL"))
	for k := range 50 {
		far = append(far, row(k, "'east'", "-999999.99"))
	}
	for relation, other := range map[string][][]string{"": {nil, odd}, "replace-one": {all, odd, far, {row(0, "'south'", "7")}}} {
		share := viewNeighbours(t, relation, other...)
		t.Logf("%q: %.3f of the charge", relation, share)
		if share > 1 || share == 0 {
			t.Errorf("%q: %v of the charge is lost", relation, share)
		}
	}
	if share := viewNeighbours(t, "", all, far); share <= 1 {
		t.Errorf("an exchange under add-remove loses %v of the charge, and is not found out", share)
	}
}

// TestViewsThatAreNone: what no view can be made of is refused beforehand, with what would do, and
// costs nothing; nobody writes into a view, and only a DBA makes one.
func TestViewsThatAreNone(t *testing.T) {
	i := start(t, "")
	root := i.root()
	viewShop(root, viewOrders(rand.New(rand.NewPCG(7, 7)), 500), "CREATE TABLE shop.plain (k INT)", "CALL dp_public('shop.plain')")
	make := func(query, options string) string {
		return "CALL dp_create_view('shop.v', '" + strings.ReplaceAll(query, "'", "''") + "', '" + options + "')"
	}
	const ok = "SELECT region, COUNT(*) AS n FROM shop.orders GROUP BY region"
	root.refusedFor(map[string]string{
		make("SELECT amount, COUNT(*) AS n FROM shop.orders GROUP BY amount", `{"epsilon": 1}`):                          "dp_set_domain",
		make("SELECT id % 1000 AS a, region, placed, COUNT(*) AS n FROM shop.orders GROUP BY 1, 2, 3", `{"epsilon": 1}`): "dp_set_domain",
		make("SELECT region, AVG(amount) AS a FROM shop.orders GROUP BY region", `{"epsilon": 1}`):                       "SUM(s) / SUM(n)",
		make("SELECT region, COUNT(DISTINCT customer) AS a FROM shop.orders GROUP BY region", `{"epsilon": 1}`):          "numbers of rows and sums",
		make("SELECT region, COUNT(*) + 1 AS n FROM shop.orders GROUP BY region", `{"epsilon": 1}`):                      "Leave out HAVING",
		make("SELECT region, COUNT(*) AS n FROM shop.orders GROUP BY region HAVING n > 3", `{"epsilon": 1}`):             "Leave out HAVING",
		make("SELECT region, COUNT(*) AS n FROM shop.orders GROUP BY region LIMIT 2", `{"epsilon": 1}`):                  "Leave out HAVING",
		make("SELECT COUNT(*) AS n FROM shop.orders GROUP BY region", `{"epsilon": 1}`):                                  "every column of its GROUP BY",
		make("SELECT COUNT(*) AS n FROM shop.orders", `{"epsilon": 1}`):                                                  "no dimension",
		make("SELECT k, COUNT(*) AS n FROM shop.plain GROUP BY k", `{"epsilon": 1}`):                                     "CREATE VIEW",
		make(ok, `{"epsilon": 1, "way": 1}`):                                                                             "JSON object",
		make(ok, `{"epsilon": 1, "marginals": [["place"]]}`):                                                             "does not name dimensions",
		make(ok, `{"epsilon": 1, "marginals": [["region"], ["REGION"]]}`):                                                "there twice",
		make(ok, `{"epsilon": 1, "marginals": [["region"]], "ways": 1}`):                                                 "not both",
		make(ok, `{}`):              "either epsilon or rho",
		make(ok, `{"epsilon": -1}`): "range",
		make("DELETE FROM shop.orders", `{"epsilon": 1}`):                      "begins with SELECT",
		"CALL dp_create_view('shop.orders', '" + ok + "', '{\"epsilon\": 1}')": "Choose another name",
		"CALL dp_create_view('nowhere.v', '" + ok + "', '{\"epsilon\": 1}')":   "CREATE DATABASE",
		"CALL dp_refresh_view('shop.v')":                                       "no view",
		"CALL dp_drop_view('shop.plain')":                                      "no view",
		"CALL dp_view_errors('SELECT k, SUM(k) FROM shop.plain GROUP BY k')":   "no view",
	})
	if got := root.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge'"); got != "0" {
		t.Errorf("%s charges for views that are none", got)
	}
	ann := i.analyst(root, "ann", "shop")
	ann.refusedFor(map[string]string{make(ok, `{"epsilon": 1}`): "DBA"})
	root.exec(make(ok, `{"epsilon": 1}`))
	root.refusedFor(map[string]string{
		"INSERT INTO shop.v VALUES ('north', 1, 1, 1)": "dp_refresh_view",
		"DROP TABLE shop.v":                            "dp_drop_view",
		make(ok, `{"epsilon": 1}`):                     "already",
		"CALL dp_view_errors('SELECT region, SUM(n) FROM shop.v GROUP BY region LIMIT 1')":              "plain SELECT",
		"CALL dp_view_errors('SELECT region, MAX(n) FROM shop.v GROUP BY region')":                      "SUM of a measure",
		"CALL dp_view_errors('SELECT SUM(n) FROM shop.v WHERE n > (SELECT COUNT(*) FROM shop.orders)')": "protected table",
	})
	i.client("ann", "pw-ann").query("CALL dp_view_errors('SELECT SUM(n) FROM shop.v', '0.5')")
	eve := i.analyst(root, "eve", "")
	if _, err := eve.try("CALL dp_view_errors('SELECT SUM(n) FROM shop.v')"); err == nil {
		t.Error("who may not read the view is told sums of it")
	}
	if got := eve.query("SELECT view_name FROM dp.views"); len(got) != 0 {
		t.Errorf("who may not read the view sees %v", got)
	}
}

// TestViewsAreRefreshedAndDropped: with the same data a refresh is the stored answer, for nothing;
// with others it charges again. A view is there after a restart, and its name is free when it was
// dropped.
func TestViewsAreRefreshedAndDropped(t *testing.T) {
	dir := t.TempDir() + "/data"
	i := start(t, dir)
	root := i.root()
	viewShop(root, viewOrders(rand.New(rand.NewPCG(7, 7)), 500))
	charges := func() string { return root.value("SELECT COUNT(DISTINCT id) FROM dp.ledger WHERE entry = 'charge'") }
	root.exec(salesView)
	first := root.query("SELECT * FROM shop.sales ORDER BY region, product, day")
	root.exec("CALL dp_refresh_view('shop.sales')")
	if again := root.query("SELECT * FROM shop.sales ORDER BY region, product, day"); fmt.Sprint(again) != fmt.Sprint(first) || charges() != "1" {
		t.Errorf("the same data have other cells, or %s charges", charges())
	}
	root.exec("SET dp_raw = ON", "INSERT INTO shop.orders VALUES (1000000, 1, 'north', 'tea', '2025-06-01', 1)", "SET dp_raw = OFF", "CALL dp_refresh_view('shop.sales')")
	next := root.query("SELECT * FROM shop.sales ORDER BY region, product, day")
	if fmt.Sprint(next) == fmt.Sprint(first) || charges() != "2" {
		t.Errorf("other data have the same cells, or %s charges", charges())
	}
	i.end()
	i = start(t, dir)
	root = i.root()
	if again := root.query("SELECT * FROM shop.sales ORDER BY region, product, day"); fmt.Sprint(again) != fmt.Sprint(next) {
		t.Error("a restart changes cells")
	}
	root.exec("CALL dp_drop_view('shop.sales')")
	if got := root.query("SELECT * FROM dp.views"); len(got) != 0 {
		t.Errorf("dropped, and there: %v", got)
	}
	if _, err := root.try("SELECT * FROM shop.sales"); err == nil {
		t.Error("dropped, and read")
	}
	root.exec(salesView) // the answer that is kept
	if charges() != "2" {
		t.Errorf("%s charges", charges())
	}
}

// TestTooLargeViewIsRefused names how many cells there are, and which dimension to coarsen.
func TestTooLargeViewIsRefused(t *testing.T) {
	i := start(t, "")
	root := i.root()
	viewShop(root, viewOrders(rand.New(rand.NewPCG(7, 7)), 10), `CALL dp_set_domain('shop.orders', 'id', '{"min":1,"max":20000}')`)
	root.refusedFor(map[string]string{
		"CALL dp_create_view('shop.v', 'SELECT region, id, product, COUNT(*) AS n FROM shop.orders GROUP BY 1, 2, 3', '{\"epsilon\": 1}')": "120000 cells; a view has at most 100000. Bring orders.id to 16666 values or fewer",
	})
}

// TestStatementsOfTheViewsPage runs the statements of docs/views.md, in their order.
func TestStatementsOfTheViewsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/views.md")
	if err != nil {
		t.Fatal(err)
	}
	i := start(t, "")
	root := i.root()
	viewShop(root, viewOrders(rand.New(rand.NewPCG(7, 7)), 2000))
	ran := 0
	for _, block := range regexp.MustCompile("(?ms)^```sql\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		for _, q := range strings.Split(block[1], ";\n") {
			if strings.TrimSpace(q) != "" {
				root.query(q)
				ran++
			}
		}
	}
	if ran < 7 {
		t.Errorf("%d statements", ran)
	}
}

// TestNamedMarginalsHaveLessNoise: a view that is for one roll-up has less noise in it than one
// that is for another.
func TestNamedMarginalsHaveLessNoise(t *testing.T) {
	i := start(t, "")
	root := i.root()
	viewShop(root, viewOrders(rand.New(rand.NewPCG(7, 7)), 2000))
	noise := func(name, marginals string) float64 {
		root.query("CALL dp_create_view('shop." + name + `', 'SELECT region, product, DATE(placed) AS day, COUNT(*) AS n FROM shop.orders GROUP BY 3, 1, 2', '{"epsilon": 2, "marginals": ` + marginals + `}')`)
		return numberIn(t, root.query("CALL dp_view_errors('SELECT day, SUM(n) FROM shop." + name + " GROUP BY day')")[0][3])
	}
	if days, products := noise("days", `[["day"]]`), noise("products", `[["region", "product"]]`); days > products/3 {
		t.Errorf("by day a noise of %v in a view for days, and of %v in one for regions and products", days, products)
	}
}

// TestViewOfOneRowAPerson: where the person is the row there is no clip of numbers of rows, and who
// is removed, or moved to another cell under replace-one, loses no more than the charge.
func TestViewOfOneRowAPerson(t *testing.T) {
	for relation, change := range map[string]string{"add-remove": "DELETE FROM club.people WHERE id = 7", "replace-one": "UPDATE club.people SET a = 1, b = 0, x = 1000 WHERE id = 7"} {
		source := &recorders{t: t}
		i := startWith(t, "", source.next)
		root := i.root()
		root.exec("CREATE DATABASE club", "CREATE TABLE club.people (id INT PRIMARY KEY, a INT NOT NULL, b INT NOT NULL, x INT NOT NULL)",
			"CALL dp_protect('club.people', 'id', 'member')", "CALL dp_set_neighbours('club.people', '"+relation+"')",
			`CALL dp_set_domain('club.people', 'a', '[0,1,2]')`, `CALL dp_set_domain('club.people', 'b', '[0,1]')`,
			"CALL dp_set_budget('club.people', '*', 100, 0.001, 'never')", "SET dp_raw = ON")
		var rows []string
		for k := range 300 {
			rows = append(rows, fmt.Sprintf("(%d, %d, %d, %d)", k, k%4%3, k%2, k%20))
		}
		root.insert("club.people", rows)
		root.exec("SET dp_raw = OFF")
		create := func(name string) []*stattest.Recorder {
			source.again(false)
			made := root.query("CALL dp_create_view('club." + name + "', 'SELECT a, b, COUNT(*) AS n, SUM(x) AS s FROM club.people GROUP BY a, b', '{\"rho\": 4}')")
			if !strings.Contains(made[0][4], `{"column":"n","clip":null,"cut_share":0,"cut_more":0}`) || strings.Contains(made[0][4], `"column":"s","clip":null`) {
				t.Errorf("%s: measures %s", relation, made[0][4])
			}
			return source.again(false)
		}
		base := create("v")
		charged := lastCharge(t, root)
		root.exec("SET dp_raw = ON", change, "SET dp_raw = OFF")
		source.mu.Lock()
		source.list, source.replay = nil, base
		source.mu.Unlock()
		root.query("CALL dp_create_view('club.w', 'SELECT a, b, COUNT(*) AS n, SUM(x) AS s FROM club.people GROUP BY a, b', '{\"rho\": 4}')")
		share, _ := new(big.Rat).Quo(lossOf(t, base, source.again(false)), charged).Float64()
		if t.Logf("%s: %.3f of the charge", relation, share); share > 1 || share < 0.2 {
			t.Errorf("%s: %v of the charge is lost", relation, share)
		}
	}
}
