package bench

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"scrim/engine"
	"scrim/engine/ops/datadir/fileimport"
)

// BenchmarkPeriods sizes COUNT(*) and SUM(x) over tables whose unit is one person's rows of one
// month, beside tables of whole persons and DuckDB's exact query by person and month: over all of
// twelve months and over one of them, by the type of the column that names the person. All go over
// the wire, by turns; medians.
func BenchmarkPeriods(b *testing.B) {
	rows := *benchRows
	c := engine.DefaultConfig(filepath.Join(b.TempDir(), "data"))
	c.Listen, c.RootPassword, c.Threads = "127.0.0.1:0", password, 2
	types := []string{"INT", "BIGINT", "VARCHAR(20)"}
	srv := serve(b, c)
	made := []string{"CREATE DATABASE bench"}
	for i, t := range types {
		made = append(made, fmt.Sprintf("CREATE TABLE bench.m%d (person %s, d DATETIME, x INT)", i, t), fmt.Sprintf("CREATE TABLE bench.p%d (person %s, d DATETIME, x INT)", i, t))
	}
	connect(b, srv.addr, "", made...)
	srv.stop()
	file := filepath.Join(b.TempDir(), "t.csv")
	orders(b, file, rows, rows/10)
	var declared []string
	for i := range types {
		for _, t := range []string{"m", "p"} {
			name, period := fmt.Sprintf("bench.%s%d", t, i), ""
			if t == "m" {
				period = `, '{"period": "month", "of": "d"}'`
			}
			if _, err := fileimport.Load(context.Background(), c.Place(), file, name, fileimport.Options{Mode: fileimport.Append}, nil); err != nil {
				b.Fatal(err)
			}
			declared = append(declared, fmt.Sprintf("CALL dp_protect('%s', 'person', '%s%d'%s)", name, t, i, period), fmt.Sprintf("CALL dp_set_budget('%s', '*', 100000, 1e-6, 'never')", name),
				fmt.Sprintf(`CALL dp_set_domain('%s', 'x', '{"min": 0, "max": 99}')`, name))
		}
	}
	srv = serve(b, c)
	b.Cleanup(srv.stop)
	exact := connect(b, srv.addr, "bench", append(declared, "SET dp_raw = ON")...)
	private := connect(b, srv.addr, "bench")
	const june = " WHERE d >= '2025-06-01' AND d < '2025-07-01'"
	for b.Loop() {
		for i, t := range types {
			for name, where := range map[string]string{"all": "", "june": june} {
				var month, person, base, work, baseWork []time.Duration
				for n := range *benchRuns {
					ask := func(on *sql.Conn, query string) time.Duration { return timed(func() { drain(b, on, query) }) }
					start := worked()
					base = append(base, ask(exact, fmt.Sprintf("SELECT SUM(c), SUM(s) FROM (SELECT person, YEAR(d) AS y, MONTH(d) AS m, COUNT(*) AS c, SUM(x) AS s FROM m%d%s GROUP BY person, YEAR(d), MONTH(d)) AS t WHERE c > -%d", i, where, n+1)))
					middle := worked()
					hint := fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=%.9f) */ COUNT(*), SUM(x) FROM ", 1+float64(n)*1e-6)
					month = append(month, ask(private, fmt.Sprintf("%sm%d%s", hint, i, where)))
					work, baseWork = append(work, worked()-middle), append(baseWork, middle-start)
					person = append(person, ask(private, fmt.Sprintf("%sp%d%s", hint, i, where)))
				}
				for what, d := range map[string][]time.Duration{"month": month, "person": person, "exact": base} {
					b.ReportMetric(median(d).Seconds(), fmt.Sprintf("%s-%s-%.3s-s", name, what, t))
				}
				b.ReportMetric(median(month).Seconds()/median(base).Seconds(), fmt.Sprintf("%s-month/exact-%.3s", name, t))
				b.ReportMetric(median(work).Seconds()/median(baseWork).Seconds(), fmt.Sprintf("%s-month/exact-%.3s-cpu", name, t))
			}
		}
	}
}

// orders writes a CSV file of rows with a random person and moment of 2025.
func orders(b *testing.B, path string, rows, persons int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	r, first := rand.New(rand.NewPCG(1, 2)), time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	fmt.Fprintln(w, "person,d,x")
	for range rows {
		fmt.Fprintf(w, "%d,%s,%d\n", r.IntN(persons), first.Add(time.Duration(r.IntN(365*24*3600))*time.Second).Format(time.DateTime), r.IntN(100))
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}
