package bench

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/marcboeker/go-duckdb/v2"

	"scrim/test/testenv/tpch"
)

// plainTPCH is DuckDB by itself over the same data, in a file of its own.
func plainTPCH(b testing.TB, scale float64) *sql.Conn {
	b.Helper()
	ctx := context.Background()
	dir := b.TempDir()
	if err := tpch.Write(ctx, dir, tpch.Options{Scale: scale, Seed: 1}); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("duckdb", filepath.Join(dir, "plain.duckdb")+"?threads=2")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	conn, err := db.Conn(ctx)
	if err != nil {
		b.Fatal(err)
	}
	for _, t := range tpch.Tables() {
		file := tpch.FileOf(dir, t.Name)
		for _, s := range []string{"CREATE TABLE " + t.Name + " (" + t.Columns + ")", "COPY " + t.Name + " FROM '" + file + "' (HEADER)"} {
			if _, err := conn.ExecContext(ctx, s); err != nil {
				b.Fatal(err)
			}
		}
		if err := os.Remove(file); err != nil {
			b.Fatal(err)
		}
	}
	return conn
}

// publicTPCH is a connection to a server with TPC-H's tables, all of them public.
func publicTPCH(b testing.TB, scale float64) *sql.Conn {
	b.Helper()
	var declared []string
	for _, t := range tpch.Tables() {
		declared = append(declared, fmt.Sprintf("CALL dp_public('tpch.%s')", t.Name))
	}
	return connect(b, serveTPCH(b, scale), "tpch", declared...)
}

// texts returns the rows of an answer as a client prints them.
func texts(c *sql.Conn, query string) ([][]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	rows, err := c.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]string
	for rows.Next() {
		row, into := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		printed := make([]string, len(names))
		for i, v := range row {
			switch v := v.(type) {
			case []byte:
				printed[i] = string(v)
			case time.Time:
				printed[i] = v.Format(time.DateOnly)
			default:
				printed[i] = fmt.Sprint(v)
			}
		}
		out = append(out, printed)
	}
	return out, rows.Err()
}

// TestTPCHOnPublicTables asks the 22 queries of TPC-H over the wire, on public tables, and DuckDB
// the same text over the same data. Rows, their order and texts are the same. Numbers are within
// 1e-9 of them, or within the last digit that MySQL's rules give an average or a quotient: DuckDB
// computes both in floating point.
func TestTPCHOnPublicTables(t *testing.T) {
	const scale = 0.01
	plain, ours := plainTPCH(t, scale), publicTPCH(t, scale)
	empty := 0
	for _, q := range tpch.Queries() {
		t.Run(q.Name, func(t *testing.T) {
			want, err := texts(plain, q.Text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := texts(ours, q.Text)
			if err != nil {
				t.Fatal(err)
			}
			if len(want) == 0 {
				empty++
			}
			if len(got) != len(want) {
				t.Fatalf("got %d rows, want %d", len(got), len(want))
			}
			for i := range got {
				for j := range got[i] {
					if !sameText(got[i][j], want[i][j]) {
						t.Errorf("row %d, column %d: got %s, want %s", i, j, got[i][j], want[i][j])
					}
				}
			}
		})
	}
	if empty > 2 {
		t.Errorf("%d queries have no rows at this scale factor, want 2 at most", empty)
	}
}

// sameText compares two values as clients print them.
func sameText(got, want string) bool {
	if got == want {
		return true
	}
	x, err1 := strconv.ParseFloat(got, 64)
	y, err2 := strconv.ParseFloat(want, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	_, digits, _ := strings.Cut(got, ".")
	return math.Abs(x-y) <= max(1e-9*math.Abs(y), math.Pow10(-len(digits)))
}

// BenchmarkPublicTPCH sizes the 22 queries of TPC-H on public tables, over the wire, against DuckDB
// by itself in this process: by turns, medians of -bench.runs.
func BenchmarkPublicTPCH(b *testing.B) {
	plain, ours := plainTPCH(b, *benchScale), publicTPCH(b, *benchScale)
	if _, err := ours.ExecContext(b.Context(), "CREATE TABLE turns (n INT)"); err != nil {
		b.Fatal(err)
	}
	for _, q := range tpch.Queries() {
		b.Run(q.Name, func(b *testing.B) {
			drain(b, ours, q.Text)
			drain(b, plain, q.Text)
			for b.Loop() {
				var us, them, work, base []time.Duration
				for i := range *benchRuns {
					// after a write, small results of before are not given again
					if _, err := ours.ExecContext(b.Context(), fmt.Sprintf("INSERT INTO turns VALUES (%d)", i)); err != nil {
						b.Fatal(err)
					}
					start := worked()
					them = append(them, timed(func() { drain(b, plain, q.Text) }))
					middle := worked()
					us = append(us, timed(func() { drain(b, ours, q.Text) }))
					base, work = append(base, middle-start), append(work, worked()-middle)
				}
				o, t := median(us), median(them)
				b.ReportMetric(float64(o.Microseconds())/1000, "ours-ms")
				b.ReportMetric(float64(t.Microseconds())/1000, "duckdb-ms")
				b.ReportMetric(o.Seconds()/t.Seconds(), "ours/duckdb")
				b.ReportMetric(median(work).Seconds()/median(base).Seconds(), "ours/duckdb-cpu")
			}
		})
	}
}
