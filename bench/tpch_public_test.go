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

// questions says what each query of TPC-H asks.
var questions = map[string]string{
	"q01": "Q1, eight aggregates in four groups",
	"q02": "Q2, least price of a part, a correlated subquery",
	"q03": "Q3, three joins, ten orders",
	"q04": "Q4, `EXISTS`",
	"q05": "Q5, five joins",
	"q06": "Q6, one sum",
	"q07": "Q7, trade of two nations",
	"q08": "Q8, share of a market",
	"q09": "Q9, profit by nation and year",
	"q10": "Q10, four joins, 20 customers",
	"q11": "Q11, `HAVING` with a subquery",
	"q12": "Q12, two counts by mode",
	"q13": "Q13, outer join, a count of counts",
	"q14": "Q14, share of promotions",
	"q15": "Q15, common table expression, read twice",
	"q16": "Q16, `NOT IN`, `COUNT(DISTINCT)`",
	"q17": "Q17, average by part, a correlated subquery",
	"q18": "Q18, `IN` with `HAVING`",
	"q19": "Q19, conditions joined by `OR`",
	"q20": "Q20, subqueries in subqueries",
	"q21": "Q21, `EXISTS` and `NOT EXISTS`",
	"q22": "Q22, derived table with both kinds",
}

// BenchmarkPublicTPCH sizes the 22 queries of TPC-H on public tables, over the wire, against DuckDB
// by itself in this process: by turns, medians of -bench.runs. -bench.docs writes their table.
func BenchmarkPublicTPCH(b *testing.B) {
	plain, ours := plainTPCH(b, *benchScale), publicTPCH(b, *benchScale)
	if _, err := ours.ExecContext(b.Context(), "CREATE TABLE turns (n INT)"); err != nil {
		b.Fatal(err)
	}
	table := measured{name: "tpch-public", target: 1.3, scale: fmt.Sprintf("Scale factor %g", *benchScale), heads: [2]string{"Scrim", "DuckDB"}}
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
				table.add(b, questions[q.Name], us, them, work, base)
			}
		})
	}
	table.write(b)
}
