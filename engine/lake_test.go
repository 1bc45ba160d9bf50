package engine

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/marcboeker/go-duckdb/v2"
)

// lakeDays and lakeFiles are how many directories the orders of the tests lie in, and how many
// files each has.
const lakeDays, lakeFiles = 100, 10

// parquet runs statements in a DuckDB of its own, which writes files.
func parquet(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, q := range statements {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// ordersOf writes one file of orders.
func ordersOf(path string, from, to int) string {
	return fmt.Sprintf(`COPY (SELECT i::INTEGER AS id, (i * 7919 %% 400)::INTEGER AS customer_id, ['north', 'south', 'east'][1 + i %% 3] AS region,
		CASE WHEN i %% 11 = 0 THEN NULL ELSE (i * 31 %% 500)::DECIMAL(10,2) / 4 END::DECIMAL(10,2) AS amount,
		CASE WHEN i %% 17 = 0 THEN 'nan'::DOUBLE ELSE i %% 100 / 8.0 END AS weight, {'a': i} AS parts
		FROM range(%d, %d) r(i)) TO '%s' (FORMAT parquet)`, from, to, path)
}

func day(d int) string {
	return time.Date(2025, 4, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, d).Format("2006-01-02")
}

// ordersLake writes the orders below a new root.
func ordersLake(t *testing.T, days, files int) (root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var statements []string
	for d := range days {
		dir := filepath.Join(root, "orders", "day="+day(d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for f := range files {
			n := (d*files + f) * 6
			statements = append(statements, ordersOf(filepath.Join(dir, fmt.Sprintf("part-%d.parquet", f)), n, n+6))
		}
	}
	parquet(t, statements...)
	return root
}

func underLake(root string) func(*Config) { return func(c *Config) { c.Lake = root } }

func attachOrders(root, as string) string {
	return "CALL dp_attach('" + as + `', 'parquet', '{"path": "` + root + `/orders/**/*.parquet", "hive": true}')`
}

// protectOrders declares a table of orders, whatever holds it, with a budget that no statement of a
// test exhausts.
func protectOrders(table string) []string {
	return []string{
		"CALL dp_protect('" + table + "', 'customer_id', 'customer')",
		"CALL dp_set_domain('" + table + `', 'region', '["north","south","east"]')`,
		"CALL dp_set_domain('" + table + `', 'amount', '{"min":0,"max":256}')`,
		"CALL dp_set_domain('" + table + `', 'weight', '{"min":0,"max":16}')`,
		"CALL dp_set_budget('" + table + "', '*', 'rho=1000000', 1e-3, 'never')",
		"CALL dp_set_budget('" + table + "', 'default', 'rho=1000000', 1e-3, 'never')",
	}
}

// TestLakeWithoutNoise asks of 1,000 Parquet files and of a table of the store with the same rows:
// without noise the answers are the same.
func TestLakeWithoutNoise(t *testing.T) {
	root := ordersLake(t, lakeDays, lakeFiles)
	i := startWith(t, "", silence, underLake(root))
	dba := i.root()
	dba.exec("CREATE DATABASE lake", "CREATE DATABASE shop")
	columns := dba.query(attachOrders(root, "lake.orders"))
	if got := fmt.Sprint(columns); !strings.Contains(got, "[parts STRUCT(a BIGINT) left out") || !strings.Contains(got, "[day DATE NULL]") {
		t.Errorf("columns: %s", got)
	}
	if got := dba.value("SELECT CONCAT(kind, ' ', files, ' ', status) FROM dp.sources"); got != "parquet 1000 attached" {
		t.Errorf("dp.sources: %s", got)
	}
	ann := sameAsOwn(t, i, dba, "lake.orders", lakeQueries)
	if rows := ann.query("SELECT * FROM dp.sources"); len(rows) > 0 {
		t.Errorf("an analyst sees %v", rows)
	}
	ann.refused(1644, "45002", "SELECT * FROM lake.orders")
}

// TestLakeOfOtherTypes: times in nanoseconds and shapes are columns, and variants are left out.
func TestLakeOfOtherTypes(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	parquet(t, "COPY (SELECT 1 AS id, CAST('12:34:56.1234567' AS TIME_NS) AS moment, CAST('POINT (1 2)' AS GEOMETRY) AS shape, CAST(5 AS VARIANT) AS doc) TO '"+filepath.Join(root, "t.parquet")+"'")
	i := startWith(t, "", silence, underLake(root))
	dba := i.root()
	dba.exec("CREATE DATABASE lake")
	columns := dba.query("CALL dp_attach('lake.t', 'parquet', '{\"path\": \"" + root + "/t.parquet\"}')")
	if got := fmt.Sprint(columns); got != "[[id INTEGER NULL] [moment TIME NULL] [shape BLOB NULL] [doc VARIANT left out: no column here has this type]]" {
		t.Errorf("columns: %s", got)
	}
	dba.exec("CALL dp_public('lake.t')")
	if got := fmt.Sprint(dba.query("SELECT id, moment, HEX(shape) FROM lake.t")); got != "[[1 12:34:56.123457 0101000000000000000000F03F0000000000000040]]" {
		t.Errorf("rows: %s", got)
	}
}

// sameAsOwn copies 6,000 attached orders to a table of the store, protects both, and asks
// statements of both as an analyst, whom it returns.
func sameAsOwn(t *testing.T, i *instance, dba *client, attached string, statements []string) (ann *client) {
	t.Helper()
	dba.exec("CREATE TABLE shop.regions (name VARCHAR(10) PRIMARY KEY, country VARCHAR(10))",
		"INSERT INTO shop.regions VALUES ('north','NO'),('south','SE'),('east','SE')", "CALL dp_public('shop.regions')", "SET dp_raw = ON",
		"CREATE TABLE shop.orders (id INT, customer_id INT, region VARCHAR(10), amount DECIMAL(10,2), weight DOUBLE, day DATE)",
		"INSERT INTO shop.orders SELECT id, customer_id, region, amount, weight, day FROM "+attached)
	for _, table := range []string{attached, "shop.orders"} {
		if got, want := fmt.Sprint(dba.query("SELECT COUNT(*), SUM(id), SUM(customer_id), COUNT(amount), SUM(amount), SUM(CASE WHEN id % 17 <> 0 THEN weight END), COUNT(DISTINCT day) FROM "+table)), ordersTold(); got != want {
			t.Fatalf("%s has %s, want %s", table, got, want)
		}
	}
	dba.exec(protectOrders(attached)...)
	dba.exec(protectOrders("shop.orders")...)
	schema, _, _ := strings.Cut(attached, ".")
	ann = i.analyst(dba, "ann", schema)
	dba.exec("GRANT SELECT ON shop.* TO 'ann'@'%'")
	ann.exec("SET dp_rho = 1000", "SET dp_max_groups_contributed = 1000")
	for _, q := range statements {
		compareOrders(t, ann, q, attached)
	}
	return ann
}

// ordersTold are totals of the 6000 orders that every source of the tests has.
func ordersTold() string {
	var ids, customers, amounts, cents int
	var weights float64
	for n := range 6000 {
		ids, customers = ids+n, customers+n*7919%400
		if n%11 != 0 {
			amounts, cents = amounts+1, cents+n*31%500*25
		}
		if n%17 != 0 {
			weights += float64(n%100) / 8
		}
	}
	return fmt.Sprintf("[[6000 %d %d %d %d.%02d %v 100]]", ids, customers, amounts, cents/100, cents%100, weights)
}

// lakeQueries are statements on @orders.
var lakeQueries = []string{
	"SELECT COUNT(*) FROM @orders",
	"SELECT region, COUNT(*), SUM(amount) FROM @orders GROUP BY region ORDER BY region",
	"SELECT region, COUNT(*), SUM(amount) FROM @orders WHERE day >= '2025-06-01' GROUP BY region ORDER BY region",
	"SELECT AVG(amount) FROM @orders WHERE day BETWEEN '2025-05-01' AND '2025-05-31'",
	"SELECT COUNT(DISTINCT customer_id) FROM @orders",
	"SELECT COUNT(*) FROM @orders WHERE weight > 3",
	"SELECT COUNT(*) FROM @orders WHERE weight <= 3",
	"SELECT SUM(weight) FROM @orders WHERE id % 2 = 0",
	"SELECT COUNT(amount) FROM @orders WHERE amount IS NOT NULL AND region <> 'east'",
	"SELECT SUM(CASE WHEN amount > 20 THEN 1 ELSE 0 END) FROM @orders",
	"SELECT r.country, COUNT(*) FROM @orders o JOIN shop.regions r ON r.name = o.region GROUP BY r.country ORDER BY 1",
	"SELECT COUNT(*) FROM (SELECT customer_id, COUNT(*) AS n FROM @orders GROUP BY customer_id) q WHERE n > 14",
	"SELECT region, AVG(weight) FROM @orders WHERE amount > 10 GROUP BY region ORDER BY region",
	"SELECT COUNT(*) FROM @orders WHERE day = '2025-04-03'",
	"SELECT SUM(amount) FROM @orders WHERE MONTH(day) = 5",
}

// TestLakeExpressions asks random conditions of files and of a copy of them.
func TestLakeExpressions(t *testing.T) {
	i, dba, _ := smallLake(t)
	dba.exec("SET dp_raw = ON", "CREATE DATABASE shop", "CREATE TABLE shop.orders (id INT, customer_id INT, region VARCHAR(10), amount DECIMAL(10,2), weight DOUBLE, day DATE)",
		"INSERT INTO shop.orders SELECT id, customer_id, region, amount, weight, day FROM lake.orders")
	dba.exec(protectOrders("shop.orders")...)
	ann := i.analyst(dba, "ann", "lake")
	dba.exec("GRANT SELECT ON shop.* TO 'ann'@'%'")
	ann.exec("SET dp_rho = 1000", "SET dp_max_groups_contributed = 1000")
	for _, q := range randomQueries() {
		compareOrders(t, ann, q, "lake.orders")
	}
}

// compareOrders asks a statement on @orders of the store's own table and of another one: answers,
// warnings and costs are the same.
func compareOrders(t *testing.T, c *client, q, other string) {
	t.Helper()
	ask := func(table string) (string, error) {
		rows, err := c.try(strings.ReplaceAll(q, "@orders", table))
		told := fmt.Sprint(rows, c.query("SHOW WARNINGS"), c.query("SELECT account_type, rho, pure_epsilon, delta FROM dp.last_cost"))
		return strings.ReplaceAll(told, table, "@orders"), err
	}
	want, err := ask("shop.orders")
	if err != nil {
		t.Errorf("%s: %v", q, err)
		return
	}
	if got, err := ask(other); err != nil || got != want {
		t.Errorf("%s: got %s (%v), want %s", q, got, err, want)
	}
}

// randomQueries are 30 statements on @orders with random conditions.
func randomQueries() (list []string) {
	r := rand.New(rand.NewPCG(3, 5))
	pick := func(xs ...string) string { return xs[r.IntN(len(xs))] }
	for range 30 {
		term := func() string {
			switch r.IntN(5) {
			case 0:
				return fmt.Sprintf("amount %s %d", pick("<", ">=", "<>"), r.IntN(130))
			case 1:
				return fmt.Sprintf("weight %s %d.5", pick("<", ">", "<="), r.IntN(12))
			case 2:
				return "region " + pick("=", "<>") + " '" + pick("north", "south", "east") + "'"
			case 3:
				return "day " + pick("<", ">=", "=") + " '" + day(r.IntN(6)) + "'"
			}
			return fmt.Sprintf("id %% %d = %d", 2+r.IntN(5), r.IntN(3))
		}
		list = append(list, "SELECT "+pick("COUNT(*)", "SUM(amount)", "SUM(weight)", "COUNT(amount)")+" FROM @orders WHERE "+
			pick("", "NOT ")+"("+term()+pick(" AND ", " OR ")+term()+")"+pick(" AND ", " OR ")+term())
	}
	return list
}
