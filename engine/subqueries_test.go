package engine

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// peopleWithOrders makes the entity c in schema q: customers, their orders, and items that are
// linked to these, with NULLs; and public parts. Schema x has the same rows in public tables, but
// for those that belong to nobody.
func peopleWithOrders(root *client) {
	var customers, orders, items, owned, of []string
	for c := range 900 {
		customers = append(customers, fmt.Sprintf("(%d, '%s', %d.25)", c, []string{"Oslo", "Rome", "Bern"}[c%3], c*7%400-100))
		for k := range c % 4 {
			o, nobody := 10*c+k, c%31 == 1 && k == 0
			row := func(owner string) string {
				return fmt.Sprintf("(%d, %s, %d.5, %d, '2024-%02d-%02d')", o, owner, (c*13+k*29)%100, (c+k)%2, 1+(c+k)%12, 1+c%28)
			}
			if nobody {
				orders = append(orders, row("NULL"))
			} else {
				orders, owned = append(orders, row(strconv.Itoa(c))), append(owned, row(strconv.Itoa(c)))
			}
			for j := range (c + k) % 5 {
				part := strconv.Itoa((c*3 + j*k) % 7)
				if c%23 == 5 && j == 1 {
					part = "NULL"
				}
				items = append(items, fmt.Sprintf("(%d, %d, %s, %d)", 10*o+j, o, part, (c+j*3)%12))
				if !nobody {
					of = append(of, items[len(items)-1])
				}
			}
		}
	}
	for schema, rows := range map[string][2][]string{"q": {orders, items}, "x": {owned, of}} {
		root.exec("CREATE DATABASE "+schema, "USE "+schema,
			"CREATE TABLE customers (id INT PRIMARY KEY, city VARCHAR(8), bal DECIMAL(10,2))",
			"CREATE TABLE orders (id INT PRIMARY KEY, customer INT, amount DECIMAL(10,2), late INT, day DATE)",
			"CREATE TABLE items (id INT PRIMARY KEY, order_id INT, part INT, qty INT)",
			"CREATE TABLE parts (part INT, brand VARCHAR(8), size INT)",
			"INSERT INTO customers VALUES "+strings.Join(customers, ", "), "INSERT INTO orders VALUES "+strings.Join(rows[0], ", "),
			"INSERT INTO items VALUES "+strings.Join(rows[1], ", "),
			"INSERT INTO parts VALUES (0, 'a', 3), (1, 'a', 8), (2, 'b', 5), (3, 'b', 1), (4, 'c', 9), (5, 'c', 2), (6, NULL, NULL)",
			"CALL dp_public('"+schema+".parts')")
	}
	root.exec("CALL dp_public('x.customers')", "CALL dp_public('x.orders')", "CALL dp_public('x.items')",
		"CALL dp_protect('q.customers', 'id', 'c')", "CALL dp_protect('q.orders', 'customer', 'c')", "CALL dp_link('q.items', 'order_id', 'q.orders', 'id')",
		"CALL dp_set_domain('q.customers', 'city', '[\"Oslo\",\"Rome\",\"Bern\"]')", "CALL dp_set_domain('q.orders', 'amount', '{\"min\":0,\"max\":100}')",
		"CALL dp_set_domain('q.customers', 'bal', '{\"min\":-100,\"max\":300}')", "CALL dp_set_domain('q.items', 'part', '{\"table\":\"q.parts\",\"column\":\"part\"}')",
		"CALL dp_set_domain('q.items', 'qty', '{\"min\":0,\"max\":12}')", "CALL dp_set_domain('q.orders', 'late', '[0,1]')")
	for _, table := range []string{"customers", "orders", "items"} {
		root.exec("CALL dp_set_budget('q." + table + "', '*', 1000000, 0.001, 'never')")
	}
}

// decided are statements in which a person's own rows, or public ones, decide.
var decided = []string{
	"SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT * FROM items i WHERE i.order_id = o.id AND i.qty > 6)",
	"SELECT late, COUNT(*) FROM orders o WHERE EXISTS (SELECT * FROM items i WHERE o.id = i.order_id AND i.qty > 6) GROUP BY late ORDER BY late",
	"SELECT COUNT(*) FROM orders o WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.id AND i.qty > 6)",
	"SELECT city, COUNT(*), SUM(bal) FROM customers WHERE bal > 0 AND NOT EXISTS (SELECT * FROM orders WHERE customer = customers.id) GROUP BY city ORDER BY city",
	"SELECT COUNT(*) FROM customers WHERE id IN (SELECT customer FROM orders WHERE amount > 50)",
	"SELECT COUNT(*) FROM customers WHERE id NOT IN (SELECT customer FROM orders WHERE amount > 50 AND customer IS NOT NULL)",
	"SELECT COUNT(*) FROM orders WHERE id NOT IN (SELECT order_id FROM items)",
	"SELECT COUNT(*) FROM items i WHERE part NOT IN (SELECT part FROM items j WHERE j.order_id = i.order_id AND j.qty < 4)",
	"SELECT COUNT(*) FROM items i WHERE (part IN (SELECT part FROM items j WHERE j.order_id = i.order_id AND j.qty < 4)) IS NULL",
	"SELECT COUNT(*) FROM items i WHERE (part, qty) IN (SELECT part, qty + 3 FROM items j WHERE j.order_id = i.order_id)",
	"SELECT COUNT(*) FROM items a WHERE EXISTS (SELECT * FROM items b WHERE b.order_id = a.order_id AND b.part <> a.part) AND NOT EXISTS (SELECT * FROM items d WHERE d.order_id = a.order_id AND d.part <> a.part AND d.qty > 8)",
	"SELECT SUM(qty) FROM customers c, orders o, items i WHERE o.id IN (SELECT order_id FROM items GROUP BY order_id HAVING SUM(qty) > 12) AND c.id = o.customer AND o.id = i.order_id",
	"SELECT COUNT(*) FROM orders o WHERE amount > (SELECT AVG(p.amount) FROM orders p WHERE p.customer = o.customer)",
	"SELECT COUNT(*) FROM orders o WHERE (SELECT COUNT(*) FROM items i WHERE i.order_id = o.id) = 0",
	"SELECT COUNT(*) FROM orders o WHERE 2 * (SELECT SUM(qty) FROM items i WHERE i.order_id = o.id) + 1 > amount",
	"SELECT COUNT(*) FROM items i WHERE EXISTS (SELECT 1 FROM parts p WHERE p.part = i.part AND p.size > i.qty)",
	"SELECT COUNT(*) FROM items WHERE qty > (SELECT AVG(size) FROM parts)",
	"SELECT COUNT(*) FROM items i WHERE qty > (SELECT MAX(size) FROM parts p WHERE p.part = i.part)",
	"SELECT COUNT(*) FROM items WHERE part NOT IN (SELECT part FROM parts WHERE brand = 'a')",
	"SELECT COUNT(*) FROM items WHERE part NOT IN (SELECT size FROM parts) OR qty < 3",
	"SELECT COUNT(*) FROM items WHERE part IN (SELECT size FROM parts) OR qty < 2",
	"SELECT AVG(busy) FROM (SELECT EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.id) AS busy FROM orders o WHERE customer IS NOT NULL) d",
	"SELECT AVG(t) FROM (SELECT order_id, SUM(qty) AS t FROM items GROUP BY order_id) d",
	"SELECT AVG(t) FROM (SELECT order_id, SUM(qty) AS t FROM items GROUP BY order_id) d JOIN orders o ON o.id = d.order_id WHERE amount > 20",
	"SELECT AVG(t) FROM orders o JOIN (SELECT order_id, SUM(qty) AS t FROM items GROUP BY order_id) d ON o.id = d.order_id JOIN (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) e ON e.customer = o.customer WHERE n > 1",
	"SELECT COUNT(*) FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND NOT EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.id AND i.qty > o.amount / 10))",
	"SELECT AVG(d) FROM (SELECT customer, amount - LAG(amount) OVER (PARTITION BY customer ORDER BY id) AS d FROM orders) w",
	"SELECT COUNT(*), SUM(amount) FROM (SELECT customer, amount, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount DESC, id) AS k FROM orders) w WHERE k <= 2",
	"SELECT COUNT(*) FROM (SELECT RANK() OVER (PARTITION BY order_id ORDER BY qty DESC) AS k, LEAD(qty, 2) OVER (PARTITION BY order_id ORDER BY id) AS p FROM items) w WHERE k = 1 OR p > 5",
	"SELECT COUNT(*) FROM customers c JOIN orders o ON o.customer = c.id AND EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.id)",
}

// answered are statements whose subqueries are private answers by themselves.
var answered = []string{
	"SELECT COUNT(*) FROM orders WHERE amount > (SELECT AVG(amount) FROM orders)",
	"SELECT late, COUNT(*), SUM(CASE WHEN amount < (SELECT 0.5 * AVG(amount) + 10 FROM orders WHERE late = 1) THEN 1 ELSE 0 END) FROM orders GROUP BY late ORDER BY late",
	"SELECT city, COUNT(*), SUM(bal) FROM customers c WHERE bal > (SELECT AVG(bal) FROM customers WHERE bal > 0) AND NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id) GROUP BY city ORDER BY city",
	"SELECT COUNT(*) FROM items WHERE qty * 400 > (SELECT COUNT(*) FROM orders)",
	"SELECT AVG(n) FROM (SELECT customer, COUNT(*) AS n FROM orders WHERE amount > (SELECT AVG(amount) FROM orders) GROUP BY customer) d",
	"SELECT part, SUM(qty) FROM items GROUP BY part HAVING SUM(qty) > (SELECT SUM(qty) * 0.14 FROM items) ORDER BY part",
	"WITH r AS (SELECT part, SUM(qty) AS t FROM items WHERE part IS NOT NULL GROUP BY part) SELECT COUNT(*) FROM r WHERE t >= (SELECT AVG(t) FROM r)",
	"SELECT COUNT(*) FROM orders o WHERE amount > (SELECT AVG(amount) FROM orders) OR EXISTS (SELECT 1 FROM items i WHERE i.order_id = o.id AND i.qty > (SELECT AVG(qty) + 0.4 FROM items))",
}

// answeredEach are statements whose subqueries are one private answer for each of the values that
// the rows around them have in public columns.
var answeredEach = []string{
	"SELECT COUNT(*), SUM(qty) FROM items i, parts p WHERE p.part = i.part AND p.brand = 'a' AND i.qty > (SELECT 0.81 * AVG(qty) FROM items WHERE part = p.part)",
	"SELECT COUNT(*) FROM orders o WHERE amount > (SELECT AVG(p.amount) FROM orders p WHERE p.late = o.late)",
	"SELECT late, COUNT(*) FROM orders o WHERE amount < (SELECT AVG(p.amount) + 0.2 * COUNT(*) / SUM(p.late + 1) FROM orders p WHERE p.late = o.late AND p.amount > 20) GROUP BY late ORDER BY late",
	"SELECT COUNT(*) FROM items i WHERE qty * 30 > (SELECT COUNT(*) FROM items j WHERE j.part = i.part) OR part IS NULL",
	"SELECT COUNT(*) FROM items i WHERE part IS NULL AND qty > (SELECT COUNT(*) FROM items j WHERE j.part = i.part)",
	"SELECT COUNT(*) FROM items i WHERE NOT qty > (SELECT SUM(j.qty) FROM items j WHERE j.part = i.part) OR qty > 10",
	"SELECT COUNT(*) FROM items i JOIN orders o ON o.id = i.order_id WHERE i.qty >= (SELECT AVG(j.qty) + 0.5 FROM items j JOIN orders p ON p.id = j.order_id WHERE j.part = i.part AND p.late = o.late)",
	"SELECT city, COUNT(*) FROM customers c WHERE bal > (SELECT AVG(d.bal) FROM customers d WHERE d.city = c.city AND d.bal > (SELECT AVG(bal) FROM customers)) GROUP BY city ORDER BY city",
	"SELECT COUNT(*) FROM items i JOIN parts p ON p.part = i.part WHERE i.qty > (SELECT AVG(j.qty) FROM items j JOIN parts k ON j.part = k.part WHERE k.brand = p.brand)",
	"SELECT AVG(n) FROM (SELECT customer, COUNT(*) AS n FROM orders o WHERE amount > (SELECT AVG(p.amount) FROM orders p WHERE p.late = o.late) GROUP BY customer) d",
	"SELECT part, brand, (SELECT SUM(qty) FROM items WHERE part = p.part) AS total, 2 * (SELECT COUNT(*) + 1 FROM items WHERE part = p.part AND qty > 5) AS n FROM parts p ORDER BY part",
	"SELECT part FROM parts p WHERE (SELECT COUNT(*) FROM items WHERE part = p.part) > 20 * size ORDER BY (SELECT SUM(qty) FROM items WHERE part = p.part) * 0, part DESC",
	"SELECT part FROM parts WHERE brand IN (SELECT p.brand FROM parts p WHERE p.part IN (SELECT part FROM parts WHERE size > 2) AND 60 * p.size > (SELECT 0.5 * SUM(qty) FROM items i JOIN orders o ON o.id = i.order_id WHERE i.part = p.part AND late = 1)) ORDER BY part",
	"SELECT brand, (SELECT COUNT(*) FROM items JOIN parts q ON q.part = items.part WHERE q.brand = p.brand) AS n FROM (SELECT DISTINCT brand FROM parts) p ORDER BY brand",
	"SELECT SUM(n) FROM (SELECT size, (SELECT COUNT(*) FROM items WHERE part = size) AS n FROM parts) d WHERE size < 6",
}

// TestAnswersOfEachAreValues: a private answer for each public value of columns around is compared
// with the rows that have the value. It is one charge with the statement around it, and replayed
// with it.
func TestAnswersOfEachAreValues(t *testing.T) {
	i := startWith(t, "", seeded(t, "answers of each", 1))
	root := i.root()
	peopleWithOrders(root)
	ann := i.analyst(root, "ann", "q")
	ann.exec("USE q", "SET dp_rho = 100")
	compared(t, root, ann, answeredEach, 0.05)

	charges := func() string {
		return root.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge' AND account_type = 'entity'")
	}
	ann.exec("SET dp_rho = 0.5")
	before := charges()
	value := ann.value(answeredEach[1])
	if was, _ := strconv.Atoi(before); charges() != strconv.Itoa(was+1) {
		t.Errorf("a statement of two releases made charges %s to %s, want one", before, charges())
	}
	if rho, _ := lastCharge(t, root).Float64(); rho < 0.49 || rho > 0.5001 {
		t.Errorf("the two releases cost %g, want 0.5", rho)
	}
	before = charges()
	if got := ann.value(answeredEach[1]); got != value || charges() != before {
		t.Errorf("asked again: %s after %s, charges %s to %s", got, value, before, charges())
	}
	none := "SELECT COUNT(*) FROM items i JOIN parts p ON p.part = i.part WHERE p.brand = 'none' AND i.qty > (SELECT AVG(j.qty) FROM items j WHERE j.part = p.part)"
	if got := ann.value(none); got != "0" && got != "NULL" {
		t.Errorf("got %s of the rows of a brand that is not there", got)
	}
	plan := fmt.Sprint(ann.query("EXPLAIN " + answeredEach[0]))
	for _, want := range []string{"public keys items.part  groups=2", "items.part: 2 values from the public table q.parts", "values of the answer AVG(items.qty) for each items.part  released before it"} {
		if !strings.Contains(plan, want) {
			t.Errorf("the plan does not tell %q: %s", want, plan)
		}
	}
}

// TestDatesAreValues: rows are compared with a private answer that is a date or a moment.
func TestDatesAreValues(t *testing.T) {
	i := startWith(t, "", seeded(t, "dates as values", 1))
	root := i.root()
	peopleWithOrders(root)
	ann := i.analyst(root, "ann", "q")
	ann.exec("USE q", "SET dp_rho = 100")
	compared(t, root, ann, []string{
		"SELECT COUNT(*) FROM orders WHERE day > (SELECT MIN(day) FROM orders WHERE late = 1) + INTERVAL 60 DAY",
		"SELECT COUNT(*) FROM orders WHERE day >= (SELECT MAX(day) - INTERVAL 3 MONTH FROM orders WHERE amount > 10)",
		"SELECT COUNT(*) FROM orders WHERE DATEDIFF((SELECT MAX(day) FROM orders WHERE amount > 10), day) < 100",
		"SELECT COUNT(*) FROM orders o WHERE day > (SELECT MIN(p.day) FROM orders p WHERE p.late = o.late) + INTERVAL 90 DAY",
	}, 0.1)
	if _, err := ann.try("SELECT COUNT(*) FROM orders WHERE day > (SELECT DP_INFO(AVG(amount)) FROM orders)"); err == nil || !strings.Contains(err.Error(), "protected rows are compared with numbers, dates and times") {
		t.Errorf("got %v of an answer that is a text", err)
	}
}

// TestAnswersAreValues: a private answer is a value of the rows around it. Both are one charge, of
// what the statement declares, and are replayed together.
func TestAnswersAreValues(t *testing.T) {
	i := startWith(t, "", seeded(t, "answers as values", 1))
	root := i.root()
	peopleWithOrders(root)
	ann := i.analyst(root, "ann", "q")
	ann.exec("USE q", "SET dp_rho = 100")
	compared(t, root, ann, answered, 0.05)

	charges := func() string {
		return root.value("SELECT COUNT(*) FROM dp.ledger WHERE entry = 'charge' AND account_type = 'entity'")
	}
	ann.exec("SET dp_rho = 0.5")
	before := charges()
	value := ann.value(answered[0])
	if was, _ := strconv.Atoi(before); charges() != strconv.Itoa(was+1) {
		t.Errorf("a statement of two releases made charges %s to %s, want one", before, charges())
	}
	if rho, _ := lastCharge(t, root).Float64(); rho < 0.49 || rho > 0.5001 {
		t.Errorf("the two releases cost %g, want 0.5", rho)
	}
	before = charges()
	if got := ann.value(answered[0]); got != value || charges() != before {
		t.Errorf("asked again: %s after %s, charges %s to %s", got, value, before, charges())
	}
	// of nobody there is no average, and nothing is above it
	if got := ann.value("SELECT COUNT(*) FROM orders WHERE amount > (SELECT AVG(amount) FROM orders WHERE amount > 1000) OR late = 2"); got != "0" && got != "NULL" {
		t.Errorf("got %s above an average of nobody", got)
	}
	if warnings := fmt.Sprint(ann.query("SHOW WARNINGS")); !strings.Contains(warnings, "AVG") {
		t.Errorf("no word on the average of nobody: %s", warnings)
	}
	if plan := fmt.Sprint(ann.query("EXPLAIN " + answered[0])); !strings.Contains(plan, "value of the answer AVG(orders.amount)") {
		t.Errorf("the plan does not tell of the value: %s", plan)
	}
}

// TestOwnRowsDecide: subqueries over a person's own rows and over public rows answer what the
// exact query does of the same rows, but for the noise. Rows of nobody decide nothing.
func TestOwnRowsDecide(t *testing.T) {
	i := startWith(t, "", seeded(t, "subqueries", 1))
	root := i.root()
	peopleWithOrders(root)
	ann := i.analyst(root, "ann", "q")
	ann.exec("USE q", "SET dp_rho = 100")
	compared(t, root, ann, decided, 0.03)
}

// compared asks statements of schema q, and of the public rows of schema x: numbers differ by no
// more than the share of the exact one, or 2.
func compared(t *testing.T, root, ann *client, statements []string, share float64) {
	t.Helper()
	root.exec("USE x")
	for _, q := range statements {
		got, err := ann.try(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
			continue
		}
		want := root.query(q)
		if len(got) != len(want) {
			t.Errorf("%s: got %v, want %v", q, got, want)
			continue
		}
		for r := range want {
			for c := range want[r] {
				a, err1 := strconv.ParseFloat(got[r][c], 64)
				b, err2 := strconv.ParseFloat(want[r][c], 64)
				if err1 != nil || err2 != nil {
					if got[r][c] != want[r][c] {
						t.Errorf("%s: row %d is %v, want %v", q, r, got[r], want[r])
					}
					continue
				}
				if d := max(a-b, b-a); d > max(share*max(b, -b), 2) {
					t.Errorf("%s: row %d is %v, want %v", q, r, got[r], want[r])
				}
			}
		}
	}
}

// TestUsesOfCommonTables: uses of a common table expression with and without an alias are tables of
// their own, whoever joins them.
func TestUsesOfCommonTables(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (id INT PRIMARY KEY)", "CALL dp_public('c.t')", "INSERT INTO t VALUES (1), (2)")
	for _, q := range []string{"SELECT 1 AS id UNION SELECT 2", "SELECT id FROM t", "SELECT id + JSON_LENGTH('[]') AS id FROM t"} {
		for rest, want := range map[string]string{
			"p.id, q.id FROM q p JOIN q ON q.id = p.id":                                   "1,1;2,2",
			"p.id, q.id FROM q p JOIN q ON p.id = q.id WHERE q.id > 1":                    "2,2",
			"p.id, q.id FROM q JOIN q p ON q.id = p.id WHERE q.id > 1":                    "2,2",
			"p.id, q.id FROM q p JOIN q ON JSON_LENGTH('[1]') = p.id":                     "1,1;1,2",
			"p.id, q.id FROM q p, q WHERE q.id > 1":                                       "1,2;2,2",
			"p.id, q.id FROM q p LEFT JOIN q ON q.id = p.id + 1":                          "1,2;2,NULL",
			"p.*, q.* FROM q p JOIN q ON q.id = p.id AND p.id > 0":                        "1,1;2,2",
			"p.id, r.id, q.id FROM q p JOIN q r JOIN q ON q.id = p.id AND r.id = p.id":    "1,1,1;2,2,2",
			"p.id, (SELECT MAX(q.id) FROM q WHERE q.id <= p.id), q.id FROM q p, q":        "1,1,1;1,1,2;2,2,1;2,2,2",
			"p.id, q.id FROM q p, q WHERE EXISTS (SELECT 1 FROM t WHERE t.id = q.id + 1)": "1,1;2,1",
		} {
			q := "WITH q AS (" + q + ") SELECT " + rest + " ORDER BY 1, 2"
			if strings.HasPrefix(rest, "p.id, (") {
				q += ", 3"
			}
			if got := rowsText(root.query(q)); got != want {
				t.Errorf("%s: %s, want %s", q, got, want)
			}
		}
	}
}

// TestJoinsOfTwoKeys: keys of several equations are hashed by their values, whatever their types.
func TestJoinsOfTwoKeys(t *testing.T) {
	root := start(t, "").root()
	root.exec("CREATE DATABASE c", "USE c", "CREATE TABLE t (i INT, d1 DECIMAL(3,1), d4 DECIMAL(8,4), f DOUBLE, s VARCHAR(9))", "CALL dp_public('c.t')",
		"INSERT INTO t VALUES (1, 1, 1, 1, '1'), (20, 20, 20, 20, '20.0')")
	for _, pair := range []string{"p.d1 = q.d4", "p.d4 = q.d1", "p.d1 = q.i", "p.i = q.d4", "p.f = q.d1", "p.d1 = q.s", "p.d1 * 5 = q.d4 * 5.00", "p.i / 2 = q.d4 * 0.5",
		"CAST(p.i AS JSON) = q.d4", "p.d1 = CAST(q.f AS JSON)", "(0, p.d1) = (p.i - q.i, q.d4)"} {
		for _, join := range []string{"JOIN", "LEFT JOIN"} {
			q := "SELECT p.i, q.i FROM t p " + join + " t q ON " + pair + " AND JSON_LENGTH('1') = q.d4 / q.i ORDER BY p.i"
			if got, want := rowsText(root.query(q)), "1,1;20,20"; got != want {
				t.Errorf("%s: %s, want %s", q, got, want)
			}
		}
	}
}
