package bench

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"scrim/engine"
	"scrim/test/testenv/clickhouse"
)

var (
	benchPersons = flag.Int("bench.persons", 1_000_000, "persons of the benchmark of ClickHouse, of ten rows each")
	benchMemory  = flag.String("bench.memory", "", "memory of the store in the benchmark of ClickHouse, e.g. 4GiB (default: the server's)")
)

// BenchmarkClickHouse sizes SELECT g, COUNT(*), SUM(x) … GROUP BY g over 20 public groups of a
// table on three servers of ClickHouse, whose rows are copied for the statement, against what the
// same servers take for sums and counts by person and group, clamped: interleaved, medians. The
// first statement of each kind, after which files are in the machine's memory, does not count.
func BenchmarkClickHouse(b *testing.B) {
	cluster := clickhouse.Start(b, 3)
	cluster.All("CREATE DATABASE shop", "CREATE TABLE shop.local (person UInt64, g UInt8, x Int32) ENGINE = MergeTree ORDER BY person")
	cluster.Exec(0, "CREATE TABLE shop.visits AS shop.local ENGINE = Distributed("+clickhouse.Name+", shop, local)")
	const rows = `INSERT INTO shop.local SELECT intHash64(number * 3 + %d) %% %d AS unit, (unit + number %% 2) %% 20 AS g, toInt32(intHash32(number) %% 200) - 50
		FROM numbers(%d)`
	for i := range 3 {
		cluster.Exec(i, fmt.Sprintf(rows, i, *benchPersons, *benchPersons*10/3))
	}
	secret := filepath.Join(b.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		b.Fatal(err)
	}
	c := engine.DefaultConfig(filepath.Join(b.TempDir(), "data"))
	c.Listen, c.RootPassword, c.Threads, c.MemoryLimit = "127.0.0.1:0", password, 2, *benchMemory
	c.Sources = "logs=clickhouse://scrim@" + cluster.Addr(0) + "?password=file:" + secret
	srv := serve(b, c)
	b.Cleanup(srv.stop)
	private := connect(b, srv.addr, "", "CREATE DATABASE bench", `CALL dp_attach('bench.t', 'clickhouse', '{"server": "logs", "database": "shop", "table": "visits"}')`,
		"CALL dp_protect('bench.t', 'person', 'person')", `CALL dp_set_domain('bench.t', 'g', '{"min": 0, "max": 19}')`, "CALL dp_set_budget('bench.t', '*', 100000, 1e-6, 'never')",
		`CALL dp_set_defaults('bench.t', '{"dp_max_groups_contributed": 2}')`, "USE bench")
	const perPerson = "SELECT g, sum(least(s, 100)), sum(n) FROM (SELECT g, person, sum(x) AS s, count() AS n FROM shop.visits GROUP BY g, person) GROUP BY g"
	for b.Loop() {
		var ours, theirs []time.Duration
		for i := range *benchRuns + 1 {
			t := timed(func() { cluster.Value(0, perPerson) })
			q := fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=%.9f) */ g, COUNT(*), SUM(x) FROM t GROUP BY g", 1+float64(i)*1e-6)
			o := timed(func() { drain(b, private, q) })
			if i > 0 {
				ours, theirs = append(ours, o), append(theirs, t)
			}
		}
		o, t := median(ours), median(theirs)
		b.ReportMetric(o.Seconds(), "private-s")
		b.ReportMetric(t.Seconds(), "exact-s")
		b.ReportMetric(o.Seconds()/t.Seconds(), "private/exact")
		b.ReportMetric(peakGiB(), "peak-GiB")
	}
}
