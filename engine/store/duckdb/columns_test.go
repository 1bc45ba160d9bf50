package duckdb

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"scrim/engine/store"
)

// everyType is a table of more rows than a chunk, with extreme values and NULLs in each of its
// columns.
var everyType = func() string {
	columns := map[string]string{
		"BOOLEAN": "i % 2 = 0", "TINYINT": "i % 128 - (i % 2) * 128", "SMALLINT": "i - 4000", "INTEGER": "i * 429496 - 2147483648",
		"BIGINT": "CASE WHEN i % 2 = 0 THEN 9223372036854775807 - i ELSE -9223372036854775807 + i END", "HUGEINT": "i * 170141183460469231731687303715 - i",
		"UTINYINT": "i % 256", "USMALLINT": "i + 60000", "UINTEGER": "i + 4294960000", "UBIGINT": "18446744073709551615 - i",
		"FLOAT":        "CASE i % 5 WHEN 0 THEN 'nan' WHEN 1 THEN '-inf' WHEN 2 THEN '1e-38' ELSE CAST(i * 0.1 AS VARCHAR) END",
		"DOUBLE":       "CASE i % 5 WHEN 0 THEN 'inf' WHEN 1 THEN '-0.0' WHEN 2 THEN '5e-324' ELSE CAST(i / 7 AS VARCHAR) END",
		"DECIMAL(4,1)": "i / 10 - 200", "DECIMAL(9,2)": "i / -7", "DECIMAL(18,4)": "i * 3333333333.1", "DECIMAL(38,10)": "i * 999999999999999999.7",
		"VARCHAR": "CASE i % 4 WHEN 0 THEN '' WHEN 1 THEN 'twelve bytes' WHEN 2 THEN 'Zoë — 日本' || i ELSE 'a' || chr(0) || i END",
		"JSON":    `'{"a": ' || i || '}'`, "BLOB": "'\\x00\\xFF' || i",
		"DATE":        "CASE i % 3 WHEN 0 THEN DATE '0001-01-01' + CAST(i AS INTEGER) WHEN 1 THEN DATE '9999-12-31' - CAST(i AS INTEGER) ELSE DATE '1970-01-01' - CAST(i AS INTEGER) END",
		"TIME":        "CASE WHEN i % 2 = 0 THEN TIME '23:59:59.999999' ELSE TIME '00:00:00' + to_microseconds(i * 12345678) END",
		"TIMESTAMP":   "CASE i % 3 WHEN 0 THEN 'infinity' WHEN 1 THEN '1969-12-31 23:59:59.999999' ELSE '2024-02-29 12:00:' || (10 + i % 50) END",
		"TIMESTAMPTZ": "'2024-02-29 12:00:' || (10 + i % 50) || '+03'", "TIMESTAMP_S": "'2024-02-29 12:00:' || (10 + i % 50)",
		"TIMESTAMP_MS": "CASE WHEN i % 2 = 0 THEN '-infinity' ELSE '2024-02-29 12:00:00.' || (100 + i % 50) END", "TIMESTAMP_NS": "'2024-02-29 12:00:00.000000' || (100 + i % 50)",
		"INTERVAL": "to_months(CAST(i AS INTEGER)) + to_days(CAST(i AS INTEGER)) - to_microseconds(i * 1000001)",
	}
	var items []string
	for typ, expr := range columns {
		items = append(items, fmt.Sprintf("CASE WHEN i %% %d <> 1 THEN CAST(%s AS %s) END AS \"%s\"", 2+len(items), expr, typ, typ))
	}
	return "SELECT i, " + strings.Join(items, ", ") + " FROM range(5000) t(i) ORDER BY i"
}()

// What is read out of DuckDB's memory must be what the driver makes of it.
func TestColumnsAreTheDriversValues(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s).(*session)
	ours, err := c.query(ctx, everyType, nil)
	must(t, err)
	if _, plain := ours.(*rows); !plain {
		t.Fatalf("read as a %T", ours)
	}
	theirs, err := c.boxed(ctx, everyType, nil)
	must(t, err)
	equal(t, "columns", ours.Columns(), theirs.Columns())
	got, want := read(t, ours), read(t, theirs)
	equal(t, "rows", len(got), len(want))
	for i := range want {
		for j := range want[i] {
			if g, w := fmt.Sprintf("%#v", got[i][j]), fmt.Sprintf("%#v", want[i][j]); g != w {
				t.Fatalf("row %d, %s: got %s, want %s", i, theirs.Columns()[j].Type, g, w)
			}
		}
	}
}

// Batches outlive the result that they came from, and what is read by rows and by batches follows
// each other.
func TestBatches(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c := testSession(t, s)
	r, err := c.Query(ctx, "SELECT i, 'text number ' || i FROM range(3000) t(i)")
	must(t, err)
	first, err := r.Batch()
	must(t, err)
	second, err := r.Batch()
	must(t, err)
	if _, err := r.Batch(); err != io.EOF {
		t.Errorf("after the last: %v", err)
	}
	must(t, r.Close())
	equal(t, "lengths", []int{first.Len, second.Len}, []int{2048, 952})
	equal(t, "last text", second.Columns[1].Texts[951], "text number 2999")
	if _, err := r.Batch(); err != store.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
}

// A session's plan holds until one of its tables changes: DuckDB leaves out a filter that no value
// can pass, and may narrow what it sorts.
func TestSessionPlansEndWithTheirTables(t *testing.T) {
	ctx := context.Background()
	s, _ := testOpen(t, Options{})
	c, other := testSession(t, s), testSession(t, s)
	testPeople(t, c)
	const query = "SELECT id, $1 FROM shop.people WHERE id > 50 ORDER BY id"
	ask := func(what string, c store.Session, want ...int64) {
		t.Helper()
		rows, _ := again(t, c, query, what)
		equal(t, what, len(rows), len(want))
		for i := range want {
			equal(t, what, rows[i], []any{want[i], what})
		}
	}
	ask("empty", c)
	ask("empty, from a plan", c)
	write(t, other, people, "INSERT INTO shop.people VALUES (70000, 'd', 0)")
	ask("after a write", c, 70000)
	must(t, c.Begin(ctx))
	write(t, c, people, "INSERT INTO shop.people VALUES (7000000, 'e', 0)")
	ask("own rows", c, 70000, 7000000)
	must(t, c.Rollback(ctx))
	ask("without them", c, 70000)
	write(t, other, people, "DELETE FROM shop.people WHERE id = 70000")
	ask("none again", c)
	plans := c.(*session).c.pooled.plans
	before := plans[query]
	write(t, other, store.TableRef{Schema: "shop", Name: "other"}, "CREATE TABLE shop.other (a BIGINT)")
	write(t, other, store.TableRef{Schema: "shop", Name: "other"}, "INSERT INTO shop.other VALUES (1)")
	ask("a write to another table", c)
	if kept := plans[query]; kept.stmt.Ptr != before.stmt.Ptr || before.stmt.Ptr == nil {
		t.Error("a write to another table ended the plan")
	}
	asked := func(n int) {
		for i := range n {
			again(t, c, fmt.Sprintf("SELECT id + %d, $1 FROM shop.people", i), fmt.Sprint(i, n))
		}
	}
	asked(2 * sessionPlans)
	if _, kept := plans["SELECT id + 1, $1 FROM shop.people"]; kept {
		t.Error("the plan of a text that was asked once")
	}
	asked(3 * sessionPlans)
	if _, kept := plans["SELECT id + 7, $1 FROM shop.people"]; !kept || len(plans) != sessionPlans {
		t.Errorf("%d plans, that of a text asked again: %v", len(plans), kept)
	}
	asked(9 * sessionPlans)
	asked(9 * sessionPlans)
	if _, kept := plans["SELECT id + 35, $1 FROM shop.people"]; kept {
		t.Error("the plan of a text asked long before")
	}
}
