package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"scrim/internal/stattest"
)

// viewOrders are rows of customers, one to six of each, over regions, products and the days of a week.
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
	i := startWith(t, "", seeded(t, "view", 1))
	root := i.root()
	viewShop(root, viewOrders(rand.New(stattest.Source(t, "orders")), 3000))
	made := root.query(salesView)
	if len(made) != 1 || made[0][0] != "shop.sales" || made[0][2] != "42" || made[0][3] != "region, product, day" || made[0][5] != "2" || made[0][6] != "2" {
		t.Errorf("made %v", made)
	}
	charges := root.query("SELECT DISTINCT id FROM dp.ledger WHERE statement LIKE 'VIEW shop.sales AS SELECT%' AND outcome = 'answered'")
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
	if got := ann.value("SELECT COUNT(*) FROM shop.sales WHERE n < 0"); got != "0" {
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
