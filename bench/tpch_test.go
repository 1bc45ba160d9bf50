package bench

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"scrim/engine"
	"scrim/engine/ops/datadir/fileimport"
	"scrim/test/testenv/tpch"
)

var benchScale = flag.Float64("bench.scale", 1, "scale factor of the TPC-H benchmarks; 1 is six million rows of lineitem")

// serveTPCH serves a directory with TPC-H's tables, none of them declared yet.
func serveTPCH(b testing.TB, scale float64) (addr string) {
	b.Helper()
	c := engine.DefaultConfig(filepath.Join(b.TempDir(), "data"))
	c.Listen, c.RootPassword, c.Threads = "127.0.0.1:0", password, 2
	c.CollationServer = "utf8mb4_0900_bin" // as DuckDB compares texts
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
		if _, err := fileimport.Load(context.Background(), c.Place(), file, "tpch."+t.Name, fileimport.Options{Mode: fileimport.Append}, nil); err != nil {
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
	execute := func(c *sql.Conn, text string) {
		if _, err := c.ExecContext(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
	execute(exact, "CREATE TABLE turns (n INT)")
	table := measured{name: "tpch-private", target: 1.3, scale: fmt.Sprintf("Scale factor %g", *benchScale), heads: [2]string{"private", "exact"}}
	for _, q := range tpch.Queries() {
		if !slices.Contains([]string{"q01", "q05", "q06", "q14", "q19"}, q.Name) {
			continue
		}
		b.Run(q.Name, func(b *testing.B) {
			execute(private, "SET dp_epsilon = 1.5")
			drain(b, private, q.Text)
			for b.Loop() {
				resetPeak()
				var ours, theirs, work, base []time.Duration
				for i := range *benchRuns {
					execute(private, fmt.Sprintf("SET dp_epsilon = %.9f", 1+float64(i)*1e-6))
					execute(exact, fmt.Sprintf("INSERT INTO turns VALUES (%d)", i)) // small results of before are not given again
					start := worked()
					theirs = append(theirs, timed(func() { drain(b, exact, q.Persons) }))
					middle := worked()
					ours = append(ours, timed(func() { drain(b, private, q.Text) }))
					base, work = append(base, middle-start), append(work, worked()-middle)
				}
				table.add(b, questions[q.Name], ours, theirs, work, base)
				b.ReportMetric(recentPeakGiB(), "peak-GiB")
			}
		})
	}
	table.write(b)
}

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
