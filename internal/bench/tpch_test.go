package bench

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scrim/engine"
	"scrim/engine/datadir/fileimport"
	"scrim/internal/bench/tpch"
)

var benchScale = flag.Float64("bench.scale", 1, "scale factor of the TPC-H benchmarks; 1 is six million rows of lineitem")

// tpchQuery is a query of TPC-H as an analyst writes it, and the exact query that adds up the same
// per person: its inner GROUP BY has the group keys and the customer. Both hold a place for a hint
// or a condition.
type tpchQuery struct{ name, private, exact string }

// revenue is what four of the queries add up.
const revenue = "SUM(l_extendedprice * (1 - l_discount))"

// What the queries select, with TPC-H's validation parameters.
const (
	q1Rows = "l_shipdate <= DATE '1998-12-01' - INTERVAL 90 DAY"
	q5Rows = "c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey " +
		"AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1994-01-01' + INTERVAL 1 YEAR"
	q6Rows = "l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL 1 YEAR AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 " +
		"AND l_quantity < 24"
	q14Rows = "l_partkey = p_partkey AND l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-09-01' + INTERVAL 1 MONTH"
	q14Part = "SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)"
	q19Rows = "(p_partkey = l_partkey AND p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG') AND l_quantity >= 1 " +
		"AND l_quantity <= 1 + 10 AND p_size BETWEEN 1 AND 5 AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON') OR " +
		"(p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK') AND l_quantity >= 10 " +
		"AND l_quantity <= 10 + 10 AND p_size BETWEEN 1 AND 10 AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON') OR " +
		"(p_partkey = l_partkey AND p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG') AND l_quantity >= 20 " +
		"AND l_quantity <= 20 + 10 AND p_size BETWEEN 1 AND 15 AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')"
)

var tpchQueries = []tpchQuery{
	{"Q1",
		"SELECT %s l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price, " + revenue + " AS sum_disc_price, " +
			"SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge, AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, " +
			"AVG(l_discount) AS avg_disc, COUNT(*) AS count_order FROM lineitem WHERE " + q1Rows +
			" GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus",
		"SELECT l_returnflag, l_linestatus, SUM(a), SUM(b), SUM(c), SUM(d), SUM(a) / SUM(n), SUM(b) / SUM(n), SUM(e) / SUM(n), SUM(n) FROM " +
			"(SELECT l_returnflag, l_linestatus, o_custkey, SUM(l_quantity) AS a, SUM(l_extendedprice) AS b, " + revenue + " AS c, " +
			"SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS d, SUM(l_discount) AS e, COUNT(*) AS n FROM lineitem, orders " +
			"WHERE l_orderkey = o_orderkey AND " + q1Rows + " AND l_orderkey > -%d GROUP BY l_returnflag, l_linestatus, o_custkey) AS p " +
			"GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus"},
	{"Q5",
		"SELECT %s n_name, " + revenue + " AS revenue FROM customer, orders, lineitem, supplier, nation, region WHERE " + q5Rows +
			" GROUP BY n_name ORDER BY revenue DESC",
		"SELECT n_name, SUM(a) AS revenue FROM (SELECT n_name, o_custkey, " + revenue + " AS a FROM customer, orders, lineitem, supplier, nation, region WHERE " +
			q5Rows + " AND l_orderkey > -%d GROUP BY n_name, o_custkey) AS p GROUP BY n_name ORDER BY revenue DESC"},
	{"Q6",
		"SELECT %s SUM(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE " + q6Rows,
		"SELECT SUM(a) AS revenue FROM (SELECT o_custkey, SUM(l_extendedprice * l_discount) AS a FROM lineitem, orders WHERE l_orderkey = o_orderkey AND " +
			q6Rows + " AND l_orderkey > -%d GROUP BY o_custkey) AS p"},
	{"Q14",
		"SELECT %s 100.00 * " + q14Part + " / " + revenue + " AS promo_revenue FROM lineitem, part WHERE " + q14Rows,
		"SELECT 100.00 * SUM(a) / SUM(b) AS promo_revenue FROM (SELECT o_custkey, " + q14Part + " AS a, " + revenue + " AS b FROM lineitem, orders, part " +
			"WHERE l_orderkey = o_orderkey AND " + q14Rows + " AND l_orderkey > -%d GROUP BY o_custkey) AS p"},
	{"Q19",
		"SELECT %s " + revenue + " AS revenue FROM lineitem, part WHERE " + q19Rows,
		"SELECT SUM(a) AS revenue FROM (SELECT o_custkey, " + revenue + " AS a FROM lineitem, orders, part WHERE l_orderkey = o_orderkey AND (" + q19Rows +
			") AND l_orderkey > -%d GROUP BY o_custkey) AS p"},
}

// serveTPCH serves a directory with TPC-H's tables, none of them declared yet.
func serveTPCH(b testing.TB, scale float64) (addr string) {
	b.Helper()
	c := engine.DefaultConfig(filepath.Join(b.TempDir(), "data"))
	c.Listen, c.RootPassword, c.Threads = "127.0.0.1:0", password, 2
	dir := b.TempDir()
	if err := tpch.Write(context.Background(), dir, tpch.Options{Scale: scale, Seed: 1}); err != nil {
		b.Fatal(err)
	}
	srv := serve(b, c)
	connect(b, srv.addr, "", "CREATE DATABASE tpch")
	for _, t := range tpch.Tables() {
		connect(b, srv.addr, "tpch", "CREATE TABLE "+t.Name+" ("+t.Columns+")")
	}
	srv.stop()
	for _, t := range tpch.Tables() {
		file := tpch.FileOf(dir, t.Name)
		if _, err := fileimport.Load(context.Background(), c.Place(), file, "tpch."+t.Name, fileimport.Append, nil, nil); err != nil {
			b.Fatal(err)
		}
		if err := os.Remove(file); err != nil {
			b.Fatal(err)
		}
	}
	srv = serve(b, c)
	b.Cleanup(srv.stop)
	return srv.addr
}

// startTPCH is serveTPCH with customers as units: what is of no customer is public. It returns an
// analyst's connection and a DBA's with raw access.
func startTPCH(b *testing.B, scale float64) (private, exact *sql.Conn) {
	b.Helper()
	addr := serveTPCH(b, scale)
	statements := []string{
		"CALL dp_protect('tpch.customer', 'c_custkey', 'customer')",
		"CALL dp_protect('tpch.orders', 'o_custkey', 'customer')",
		"CALL dp_link('tpch.lineitem', 'l_orderkey', 'tpch.orders', 'o_orderkey')",
		`CALL dp_set_domain('tpch.lineitem', 'l_returnflag', '["A","N","R"]')`,
		`CALL dp_set_domain('tpch.lineitem', 'l_linestatus', '["F","O"]')`,
	}
	for _, t := range []string{"region", "nation", "supplier", "part", "partsupp"} {
		statements = append(statements, fmt.Sprintf("CALL dp_public('tpch.%s')", t))
	}
	for _, t := range []string{"customer", "orders", "lineitem"} {
		statements = append(statements, fmt.Sprintf("CALL dp_set_budget('tpch.%s', '*', 100000, 1e-6, 'never')", t))
	}
	return connect(b, addr, "tpch"), connect(b, addr, "tpch", append(statements, "SET dp_raw = ON")...)
}

// BenchmarkTPCH sizes private queries of TPC-H against the exact ones that add up per person,
// pushed down whole to DuckDB: both over the wire, interleaved, medians of -bench.runs. Each
// private run asks for a slightly different ε, so that none is a replay.
func BenchmarkTPCH(b *testing.B) {
	private, exact := startTPCH(b, *benchScale)
	for _, q := range tpchQueries {
		b.Run(q.name, func(b *testing.B) {
			drain(b, private, fmt.Sprintf(escaped(q.private), "/*+ SET_VAR(dp_epsilon=1.5) */"))
			for b.Loop() {
				resetPeak()
				var ours, theirs, work, base []time.Duration
				for i := range *benchRuns {
					start := worked()
					theirs = append(theirs, timed(func() { drain(b, exact, fmt.Sprintf(escaped(q.exact), i+1)) }))
					middle := worked()
					hint := fmt.Sprintf("/*+ SET_VAR(dp_epsilon=%.9f) */", 1+float64(i)*1e-6)
					ours = append(ours, timed(func() { drain(b, private, fmt.Sprintf(escaped(q.private), hint)) }))
					base, work = append(base, middle-start), append(work, worked()-middle)
				}
				o, t := median(ours), median(theirs)
				b.ReportMetric(o.Seconds(), "private-s")
				b.ReportMetric(t.Seconds(), "exact-s")
				b.ReportMetric(o.Seconds()/t.Seconds(), "private/exact")
				b.ReportMetric(median(work).Seconds()/median(base).Seconds(), "private/exact-cpu")
				b.ReportMetric(recentPeakGiB(), "peak-GiB")
			}
		})
	}
}

// escaped keeps the patterns of LIKE out of a format.
func escaped(query string) string { return strings.ReplaceAll(query, "%'", "%%'") }

// resetPeak forgets the largest resident size, where the system can.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// recentPeakGiB is the process's largest resident size since resetPeak.
func recentPeakGiB() float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return peakGiB()
	}
	for line := range strings.Lines(string(status)) {
		var kib float64
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &kib); n == 1 {
			return kib / (1 << 20)
		}
	}
	return peakGiB()
}
