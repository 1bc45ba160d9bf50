package planner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/planner/plan"
)

// TestSparedLinks compares scans of linked tables, whose joins to the unit are left out where the
// parent is joined as well, with the same sums over all joins. Rows without a parent, parents
// without rows, and rows of nobody are among them. joins is how many joins of tables a scan has.
func TestSparedLinks(t *testing.T) {
	h := newHarness(t)
	tables := "CREATE TABLE %[1]sorders (id BIGINT PRIMARY KEY, customer BIGINT);\nCREATE TABLE %[1]sitems (line BIGINT PRIMARY KEY, order_id BIGINT, price DECIMAL(10,2) NOT NULL);\n" +
		"CREATE TABLE %[1]sships (line_id BIGINT, days INTEGER NOT NULL);"
	if out := h.define(fmt.Sprintf(tables, "")); out != "ok" {
		t.Fatal(out)
	}
	for _, p := range []string{"protect shop.orders customer person", "link shop.items order_id shop.orders id", "link shop.ships line_id shop.items line"} {
		if out := h.declare(p); out != "ok" {
			t.Fatal(out)
		}
	}
	db := duckDB(t)
	r := rand.New(rand.NewPCG(5, 6))
	key := func(n, step int) string {
		if k := r.IntN(n + 1); k < n {
			return fmt.Sprint(k * step)
		}
		return "NULL"
	}
	var orders, items, ships []string
	for i := range 60 {
		orders = append(orders, fmt.Sprintf("(%d, %s)", i, key(9, 1)))
	}
	for i := range 300 {
		items = append(items, fmt.Sprintf("(%d, %s, %d.%02d)", i, key(35, 2), r.IntN(100), r.IntN(100)))
		ships = append(ships, fmt.Sprintf("(%s, %d)", key(330, 1), r.IntN(50)))
	}
	for _, q := range []string{"CREATE SCHEMA shop", fmt.Sprintf(tables, "shop."), "INSERT INTO shop.orders VALUES " + strings.Join(orders, ", "),
		"INSERT INTO shop.items VALUES " + strings.Join(items, ", "), "INSERT INTO shop.ships VALUES " + strings.Join(ships, ", ")} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	const line, ship = "shop.items l JOIN shop.orders p ON l.order_id = p.id", "shop.ships s JOIN shop.items q ON s.line_id = q.line JOIN shop.orders p ON q.order_id = p.id"
	for _, c := range []struct {
		from, all string
		joins     int
	}{
		{"items l", line, 1},
		{"items l JOIN orders o ON l.order_id = o.id", line + " JOIN shop.orders o ON l.order_id = o.id", 1},
		{"items l, orders o WHERE o.id = l.order_id", line + " JOIN shop.orders o ON l.order_id = o.id", 1},
		{"orders o JOIN items l ON l.order_id = o.id AND o.id > 7", line + " JOIN shop.orders o ON l.order_id = o.id AND o.id > 7", 1},
		{"items l LEFT JOIN orders o ON l.order_id = o.id AND o.id > 7", line + " LEFT JOIN shop.orders o ON l.order_id = o.id AND o.id > 7", 2},
		{"orders o LEFT JOIN items l ON l.order_id = o.id", "shop.orders p LEFT JOIN (shop.items l JOIN shop.orders o ON l.order_id = o.id) ON l.order_id = p.id", 2},
		{"items l JOIN orders o ON l.order_id = o.id JOIN items m ON m.order_id = o.id",
			line + " JOIN shop.orders o ON l.order_id = o.id JOIN shop.items m ON m.order_id = o.id", 2},
		{"items l JOIN items m ON m.order_id = l.order_id", line + " JOIN shop.items m ON m.order_id = l.order_id", 3},
		{"(SELECT id AS i FROM orders WHERE id > 7) o JOIN items l ON l.order_id = o.i", line + " JOIN (SELECT id AS i FROM shop.orders WHERE id > 7) o ON l.order_id = o.i", 1},
		{"orders o JOIN (SELECT order_id, price FROM items) l ON l.order_id = o.id", line + " JOIN shop.orders o ON l.order_id = o.id", 1},
		{"orders o JOIN (SELECT order_id, price + 1 AS price FROM items) l ON l.order_id = o.id",
			"(SELECT order_id, price + 1 AS price FROM shop.items) l JOIN shop.orders p ON l.order_id = p.id", 2},
		{"ships s JOIN items l ON s.line_id = l.line", ship + " JOIN shop.items l ON s.line_id = l.line", 2},
		{"ships s JOIN items l ON s.line_id = l.line JOIN orders o ON o.id = l.order_id",
			ship + " JOIN shop.items l ON s.line_id = l.line JOIN shop.orders o ON o.id = l.order_id", 2},
		{"items l JOIN orders o ON o.id = l.order_id JOIN ships s ON s.line_id = l.line",
			ship + " JOIN shop.items l ON s.line_id = l.line JOIN shop.orders o ON o.id = l.order_id", 2},
		{"orders o, ships s, items l WHERE l.order_id = o.id AND l.line = s.line_id",
			ship + " JOIN shop.items l ON s.line_id = l.line JOIN shop.orders o ON o.id = l.order_id", 2},
	} {
		s, n, err := h.plan("SELECT COUNT(*), COUNT(l.price), SUM(l.price) FROM " + c.from)
		if err != nil {
			t.Errorf("%s: %v", c.from, err)
			continue
		}
		if err := plan.Verify(sql.NewEmptyContext(), s, n); err != nil {
			t.Errorf("%s: %v", c.from, err)
		}
		sc := s.Releases[0].Scans[0]
		if joins := strings.Count(sc.SQL, `"shop".`) - 1; joins != c.joins {
			t.Errorf("%s: %d joins, want %d\n%s", c.from, joins, c.joins, sc.SQL)
		}
		var got []string
		for _, row := range runScan(t, db, sc) {
			text := ""
			list := s.Releases[0].Aggregates
			if len(list) == 2 { // no price is absent, so that both counts are one
				list = slices.Insert(slices.Clone(list), 0, list[0])
			}
			for _, a := range list {
				text += fmt.Sprint(row[a.Columns[len(a.Columns)-1]], " ")
			}
			got = append(got, text)
		}
		var want []string
		rows, err := db.Query("SELECT count(*) || ' ' || count(l.price) || ' ' || coalesce(CAST(sum(l.price * 100) AS BIGINT), 0) || ' ' FROM " + c.all +
			" WHERE p.customer IS NOT NULL GROUP BY p.customer")
		if err != nil {
			t.Fatalf("%s: %v", c.all, err)
		}
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				t.Fatal(err)
			}
			want = append(want, text)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v\n%s", c.from, got, want, sc.SQL)
		}
	}
}
