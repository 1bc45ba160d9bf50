package engine

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scrim/test/testenv/clickhouse"
)

// declared serves with a ClickHouse server declared as "logs".
func declared(t *testing.T, c *clickhouse.Cluster) func(*Config) {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(cfg *Config) {
		cfg.Sources = "logs=clickhouse://scrim@" + c.Addr(0) + "?password=file:" + secret
	}
}

func attachRemote(as, table string) string {
	return "CALL dp_attach('" + as + `', 'clickhouse', '{"server": "logs", "database": "shop", "table": "` + table + `"}')`
}

// clickhouseOrders makes the orders of the tests on three servers, the rows of each customer on all
// of them.
func clickhouseOrders(t *testing.T, rows int) *clickhouse.Cluster {
	t.Helper()
	c := clickhouse.Start(t, 3)
	c.All("CREATE DATABASE shop", `CREATE TABLE shop.orders_local (id Int32, customer_id UInt64, region LowCardinality(String), amount Nullable(Decimal(10, 2)),
		weight Float64, day Date, parts Array(Int8)) ENGINE = MergeTree ORDER BY id`)
	c.Exec(0, "CREATE TABLE shop.orders AS shop.orders_local ENGINE = Distributed("+clickhouse.Name+", shop, orders_local, id)",
		fmt.Sprintf(`INSERT INTO shop.orders SELECT number, number * 7919 %% 400, arrayElement(['north', 'south', 'east'], 1 + number %% 3),
		if(number %% 11 = 0, NULL, toDecimal64(number * 31 %% 500, 2) / 4), if(number %% 17 = 0, nan, number %% 100 / 8), toDate('2025-04-01') + intDiv(number, 60), [] FROM numbers(%d)`, rows))
	return c
}

// TestClickHouseWithoutNoise asks of a table on three servers and of a table of the store with the
// same rows: without noise the answers are the same.
func TestClickHouseWithoutNoise(t *testing.T) {
	c := clickhouseOrders(t, 6000)
	i := startWith(t, "", silence, declared(t, c))
	dba := i.root()
	dba.exec("CREATE DATABASE lake", "CREATE DATABASE shop")
	columns := dba.query(attachRemote("lake.orders", "orders"))
	if got := fmt.Sprint(columns); !strings.Contains(got, "[parts Array(Int8) left out") || !strings.Contains(got, "[customer_id UBIGINT") {
		t.Errorf("columns: %s", got)
	}
	ann := sameAsOwn(t, i, dba, "lake.orders", append(slices.Clone(lakeQueries), randomQueries()...))
	plan := fmt.Sprint(ann.query("EXPLAIN SELECT COUNT(*) FROM lake.orders"))
	if !strings.Contains(plan, "clickhouse") || !strings.Contains(plan, "read once") {
		t.Errorf("EXPLAIN does not say what is of one moment: %s", plan)
	}
}

// TestClickHouseShards has one person's rows on all servers, and numbers whose sum wraps there.
func TestClickHouseShards(t *testing.T) {
	c := clickhouse.Start(t, 3)
	c.All("CREATE DATABASE shop", "CREATE TABLE shop.local (u UInt64, n Int64, big Int64) ENGINE = MergeTree ORDER BY u", "INSERT INTO shop.local SELECT number, 4, 4611686018427387904 FROM numbers(2000)")
	c.Exec(0, "CREATE TABLE shop.visits AS shop.local ENGINE = Distributed("+clickhouse.Name+", shop, local)")
	if got := c.Value(0, "SELECT sum(big) FROM shop.visits"); got != "0" {
		t.Errorf("ClickHouse's sum does not wrap: %s", got)
	}
	i := startWith(t, "", silence, declared(t, c))
	dba := i.root()
	dba.exec("CREATE DATABASE ch", "CREATE DATABASE own", attachRemote("ch.visits", "visits"), "CREATE TABLE own.visits (u BIGINT UNSIGNED, n BIGINT, big BIGINT)", "INSERT INTO own.visits SELECT u, n, big FROM ch.visits")
	for _, table := range []string{"ch.visits", "own.visits"} {
		dba.exec("CALL dp_protect('"+table+"', 'u', 'person')", "CALL dp_set_budget('"+table+"', '*', 'rho=1000000', 1e-3, 'never')", "CALL dp_set_budget('"+table+"', 'default', 'rho=1000000', 1e-3, 'never')")
	}
	ann := i.analyst(dba, "ann", "ch")
	dba.exec("GRANT SELECT ON own.* TO 'ann'@'%'")
	ann.exec("SET dp_rho = 1000")
	for q, want := range map[string]string{
		"SELECT DP_SUM(n, 'lower=0, upper=5') FROM @":                                   "", // whose own table has all rows of a person together
		"SELECT DP_SUM(n, 'lower=0, upper=1000') FROM @":                                "",
		"SELECT COUNT(DISTINCT u) FROM @":                                               "2000",
		"SELECT COUNT(*) FROM (SELECT u, SUM(n) AS t FROM @ GROUP BY u) q WHERE t = 12": "2000",
		"SELECT SUM(LEAST(t, 5)) FROM (SELECT u, SUM(n) AS t FROM @ GROUP BY u) q":      "10000", // a clamp on each server would give 24000
		"SELECT DP_SUM(big) FROM @":                                                     "",
	} {
		own, errOwn := ann.try(strings.ReplaceAll(q, "@", "own.visits"))
		got, err := ann.try(strings.ReplaceAll(q, "@", "ch.visits"))
		if fmt.Sprint(got, err != nil) != fmt.Sprint(own, errOwn != nil) {
			t.Errorf("%s: %v, %v; of the store's own table %v, %v", q, got, err, own, errOwn)
		}
		if want != "" && fmt.Sprint(got) != "[["+want+"]]" {
			t.Errorf("%s: %v (%v), want %s", q, got, err, want)
		}
	}
}

// TestClickHouseKilled ends a server at random moments of private statements: an answer is of all
// rows, or it is the fixed error and the charge stands, once.
func TestClickHouseKilled(t *testing.T) {
	const rows = 600_000
	c := clickhouseOrders(t, rows)
	i := startWith(t, "", silence, declared(t, c))
	dba := i.root()
	dba.exec("CREATE DATABASE lake", attachRemote("lake.orders", "orders"))
	dba.exec(protectOrders("lake.orders")...)
	ann := i.analyst(dba, "ann", "lake")
	ann.exec("SET dp_rho = 1")
	spent := func() string {
		return dba.value("SELECT ROUND(SUM(spent_rho)) FROM dp.budgets WHERE account = 'lake.orders' AND principal = '*'")
	}
	r := rand.New(rand.NewPCG(4, 2))
	want := fmt.Sprintf("[[%d]]", rows)
	failed := 0
	charges := 0
	for n := range 20 {
		victim, after := r.IntN(3), time.Duration(r.IntN(250))*time.Millisecond
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(after)
			c.Kill(victim)
		}()
		got, err := ann.try(fmt.Sprintf("SELECT COUNT(*) FROM lake.orders WHERE id > -%d AND customer_id >= 0 AND weight IS NULL OR weight IS NOT NULL", n+1))
		<-done
		c.Restart(victim)
		switch {
		case err == nil && fmt.Sprint(got) == want:
			charges++
		case err == nil:
			t.Errorf("an answer of a part of the rows: %v", got)
		case strings.Contains(err.Error(), "its charge stands"):
			charges, failed = charges+1, failed+1
		case !strings.Contains(err.Error(), "nothing was charged"):
			t.Errorf("another error: %v", err)
		}
		if now := spent(); now != fmt.Sprint(charges) {
			t.Errorf("spent %s after %d charges (%v)", now, charges, err)
		}
	}
	t.Logf("%d of 20 failed after their charge", failed)
	if failed == 0 {
		t.Error("no statement was ended in the middle")
	}
}
