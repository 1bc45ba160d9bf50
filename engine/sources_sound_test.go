package engine

import (
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/test/stattest"
	"scrim/test/testenv/ducklake"
	"scrim/test/testenv/iceberg"
)

// sourceQueries are statements on @orders of which neighbours are compared.
var sourceQueries = []string{
	"SELECT COUNT(*), SUM(amount), COUNT(weight) FROM @orders",
	"SELECT region, COUNT(*), AVG(amount), SUM(weight) FROM @orders GROUP BY region",
	"SELECT COUNT(DISTINCT customer_id), MAX(weight) FROM @orders WHERE day >= '2025-04-03'",
	"SELECT DP_MEDIAN(weight), VAR_POP(amount) FROM @orders WHERE id % 3 > 0",
	"SELECT AVG(n) FROM (SELECT customer_id, COUNT(*) AS n FROM @orders GROUP BY customer_id) t",
	"SELECT r.country, COUNT(*) FROM @orders o JOIN shop.regions r ON r.name = o.region GROUP BY r.country",
}

// without hands a source's table other rows: all that its copy has, but for those of customers in a
// list of SQL, which is never empty.
type without func(customers string)

// soundOver runs statements over an attached table of orders and over its neighbours, as
// TestReleasesMoveByAtMostTheirLoss does over the store's own. There are nine customers, so that no
// estimator has persons enough to part them by coins, which fall otherwise where rows come in
// another order. Customer 1 owns most rows. All but one at once are the broken variant.
func soundOver(t *testing.T, i *instance, source *recorders, attached string, rows without) {
	t.Helper()
	dba := i.root()
	dba.exec("CREATE DATABASE shop", "CREATE TABLE shop.regions (name VARCHAR(10) PRIMARY KEY, country VARCHAR(10))",
		"INSERT INTO shop.regions VALUES ('north','NO'),('south','SE'),('east','SE')", "CALL dp_public('shop.regions')",
		"CALL dp_set_domain('shop.regions', 'country', '[\"NO\",\"SE\"]')", "SET dp_rho = 2")
	dba.exec(protectOrders(attached)...)
	ask := func(q string) { dba.query(strings.ReplaceAll(q, "@orders", attached)) }
	runs, charged := map[string][]*stattest.Recorder{}, map[string]*big.Rat{}
	for _, q := range sourceQueries {
		source.again(false)
		ask(q)
		runs[q], charged[q] = source.again(false), lastCharge(t, dba)
	}
	const most = "1,2,3,4,5,6,7,8"
	for _, customers := range []string{"1", "7", "8", most} {
		rows(customers)
		largest := 0.0
		for q, share := range source.shares(runs, charged, ask) {
			if largest = max(largest, share); share > 1 && customers != most {
				t.Errorf("%s without %s: %.3f of the charge", q, customers, share)
			}
		}
		if customers == most && largest <= 1 {
			t.Error("most customers at once stay within the charge: the test cannot fail")
		}
		t.Logf("without %s: at most %.3f of the charge", customers, largest)
	}
}

// TestLakeSound, TestIcebergSound, TestDuckLakeSound, TestServerSound and TestClickHouseSound are
// soundOver each source.
func TestLakeSound(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	all, file := filepath.Join(root, "all.parquet"), filepath.Join(root, "orders", "rows.parquet")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	parquet(t, `COPY (SELECT i::INTEGER AS id, CASE WHEN i % 10 = 0 THEN 1 ELSE i * 7919 % 400 END::INTEGER AS customer_id, ['north', 'south', 'east'][1 + i % 3] AS region,
		(i * 31 % 500 / 4)::DECIMAL(10,2) AS amount, i % 100 / 8.0 AS weight, DATE '2025-04-01' + (i // 60)::INTEGER AS day FROM range(6000) r(i) WHERE customer_id < 10) TO '`+all+`' (FORMAT parquet)`)
	rows := func(customers string) {
		parquet(t, "COPY (SELECT * FROM read_parquet('"+all+"') WHERE customer_id NOT IN ("+customers+")) TO '"+file+"' (FORMAT parquet)")
	}
	rows("-1")
	source := &recorders{t: t}
	i := startWith(t, "", source.next, underLake(root))
	i.root().exec("CREATE DATABASE lake", "CALL dp_attach('lake.orders', 'parquet', '{\"path\": \""+root+"/orders/*.parquet\"}')")
	soundOver(t, i, source, "lake.orders", rows)
}

func TestServerSound(t *testing.T) {
	admin, _, declared := shopServer(t)
	withOrders(admin)
	admin.exec("USE shop", "UPDATE shop.orders SET customer_id = 1 WHERE id % 10 = 0", "DELETE FROM shop.orders WHERE customer_id > 9",
		"CREATE TABLE shop.whole AS SELECT * FROM shop.orders")
	source := &recorders{t: t}
	i := startWith(t, "", source.next, func(c *Config) { c.Sources = declared })
	i.root().exec("CREATE DATABASE far", attachFar)
	soundOver(t, i, source, "far.orders", func(customers string) {
		admin.exec("TRUNCATE shop.orders", "INSERT INTO shop.orders SELECT * FROM shop.whole WHERE customer_id NOT IN ("+customers+")")
	})
}

func TestClickHouseSound(t *testing.T) {
	c := clickhouseOrders(t, 6000)
	c.All("CREATE TABLE shop.whole AS shop.orders_local ENGINE = MergeTree ORDER BY id",
		"INSERT INTO shop.whole SELECT id, if(id % 10 = 0, 1, customer_id), region, amount, weight, day, parts FROM shop.orders_local WHERE id % 10 = 0 OR customer_id < 10")
	rows := func(customers string) {
		c.All("TRUNCATE TABLE shop.orders_local", "INSERT INTO shop.orders_local SELECT * FROM shop.whole WHERE customer_id NOT IN ("+customers+")")
	}
	rows("100000")
	source := &recorders{t: t}
	i := startWith(t, "", source.next, declared(t, c))
	i.root().exec("CREATE DATABASE lake", attachRemote("lake.orders", "orders"))
	soundOver(t, i, source, "lake.orders", rows)
}

// ordersWithout writes the orders of nine customers, less some, into a file whose columns have
// numbers, from the files of all orders in a directory.
func ordersWithout(t *testing.T, from, to, customers string) {
	t.Helper()
	parquet(t, "COPY (SELECT * FROM (SELECT * REPLACE (CASE WHEN id % 10 = 0 THEN 1 ELSE customer_id END AS customer_id) FROM read_parquet('"+from+"/[abc].parquet')) WHERE customer_id < 10 AND customer_id NOT IN ("+customers+`))
		TO '`+to+"' (FORMAT parquet, FIELD_IDS {id: 1, customer_id: 2, region: 3, amount: 4, weight: 5, day: 6, parts: {__duckdb_field_id: 7, a: 8}})")
}

func TestDuckLakeSound(t *testing.T) {
	l := lakeOf(t, "sqlite3")
	dir, state := filepath.Join(l.data, "main", "orders"), 0
	rows := func(customers string) {
		state++
		name := fmt.Sprintf("state%d", state)
		ordersWithout(t, dir, filepath.Join(dir, name+".parquet"), customers)
		l.Exec("UPDATE ducklake_data_file SET end_snapshot = 9")
		l.Add(ducklake.File{Path: name + ".parquet", Size: l.size(t, name)})
	}
	rows("-1")
	source := &recorders{t: t}
	i := startWith(t, "", source.next, l.serve)
	i.root().exec("CREATE DATABASE lake", l.attach("lake.orders"))
	soundOver(t, i, source, "lake.orders", rows)
}

func TestIcebergSound(t *testing.T) {
	root, w := icebergOrders(t)
	state := 0
	rows := func(customers string) {
		state++
		f := iceberg.File{Name: fmt.Sprintf("data/state%d.parquet", state), Status: 1}
		ordersWithout(t, filepath.Join(w.Dir, "data"), filepath.Join(w.Dir, f.Name), customers)
		w.Commit(t, f)
	}
	rows("-1")
	source := &recorders{t: t}
	i := startWith(t, "", source.next, underLake(root))
	i.root().exec("CREATE DATABASE lake", attachIceberg(w.Dir, "lake.orders"))
	soundOver(t, i, source, "lake.orders", rows)
}
