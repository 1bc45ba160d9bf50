package planner

import (
	stdsql "database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/sqltext"
	"scrim/planner/plan"
	"scrim/test/testenv/hostile"
)

// TestScansAreTotal runs the scans of every statement of testdata/plans on tables that are full of
// hostile values: no row may make one raise, and the list of what raises knows each function that
// is called.
func TestScansAreTotal(t *testing.T) {
	scans, rows := 0, 0
	listed := hostile.Listed(t, "lower/testdata/raises")
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		h, db := newHarness(t), duckDB(t)
		seen, current := map[string]bool{}, false
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "fixture":
				current = false
				h.fixture(d.CmdArgs[0].Key)
			case "define":
				current = false
				h.define(d.Input)
			case "policy":
				h.declare(d.Input)
			case "explain", "scan", "allow":
				if !current {
					fillHostile(t, h, db)
					current = true
				}
				for _, q := range statements(d.Input) {
					s, _, err := h.plan(q)
					if err != nil || s == nil {
						continue
					}
					for _, sc := range scansOf(s) {
						if text := scanText(sc); seen[text] {
							continue
						} else {
							seen[text] = true
						}
						scans++
						if names := hostile.Unlisted(t, db, listed, sc.SQL); len(names) > 0 {
							t.Errorf("%s: planner/lower/testdata/raises does not say when %s raise\n%s", d.Pos, names, sc.SQL)
						}
						n, err := count(db, sc)
						if rows += n; err != nil {
							t.Errorf("%s: %s\n%v\n%s", d.Pos, q, err, sc.SQL)
						}
					}
				}
			}
			return d.Expected
		})
	})
	if scans < 350 || rows < 10*scans {
		t.Errorf("%d scans with %d rows, want 350 and ten rows of each", scans, rows)
	}
	t.Logf("%d scans, %d rows", scans, rows)

	// What is not guarded raises on these rows.
	h, db := newHarness(t), duckDB(t)
	h.define("CREATE TABLE t (i BIGINT, x DOUBLE, d DATE)")
	fillHostile(t, h, db)
	for _, x := range []string{"i + 1", "sum(CAST(i AS HUGEINT) * i * CAST(1e18 AS BIGINT))", "ln(x)", "CAST(x AS BIGINT)", "last_day(d)"} {
		if _, err := count(db, plan.Scan{SQL: "SELECT " + x + " FROM shop.t"}); err == nil {
			t.Errorf("%s does not raise", x)
		}
	}
}

// scansOf are the scans of a statement. Those that read the keys that were selected have some.
func scansOf(s *plan.Statement) (out []plan.Scan) {
	for _, r := range s.Releases {
		for _, sc := range r.Scans {
			if strings.Contains(sc.SQL, plan.SelectedKeys) {
				keys := []string{"0 AS g"}
				for i := range r.Keys {
					keys = append(keys, "NULL AS "+plan.SelectedKey(i))
				}
				sc.SQL = "WITH " + plan.SelectedKeys + " AS (SELECT " + sqltext.List(keys) + ") " + sc.SQL
			}
			out = append(out, sc)
		}
	}
	return out
}

// fillHostile makes the tables of a harness in a store, with hostile values in every column.
func fillHostile(t *testing.T, h *harness, db *stdsql.DB) {
	t.Helper()
	exec := func(q string) {
		if _, err := db.Exec(q); err != nil {
			t.Fatalf("%v\n%.300s", err, q)
		}
	}
	ctx := h.context("")
	for _, d := range h.provider.AllDatabases(ctx) {
		schema := strings.ToLower(d.Name())
		exec("DROP SCHEMA IF EXISTS " + sqltext.StoreName(schema) + " CASCADE")
		exec("CREATE SCHEMA " + sqltext.StoreName(schema))
		names, err := d.GetTableNames(ctx)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		for _, name := range names {
			table, _, err := d.GetTableInsensitive(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			exec(hostileTable(schema, strings.ToLower(name), table))
		}
	}
}

// hostileTable makes a table of as many rows as there are texts: of each column all values, then
// others by chance.
func hostileTable(schema, name string, table sql.Table) string {
	r := rand.New(rand.NewPCG(1, 2))
	var names, rows []string
	types := (&stubTable{Table: table}).StoreColumns()
	for _, c := range types {
		names = append(names, sqltext.StoreName(c.Name))
	}
	for n := range 2 * len(hostile.Values("VARCHAR")) {
		row := make([]string, len(types))
		for i, c := range types {
			switch {
			case r.IntN(10) == 0:
				row[i] = "NULL"
			case n%2 == 0:
				row[i] = hostileValue(c.Type, n/2)
			default:
				row[i] = hostileValue(c.Type, r.IntN(1000))
			}
			row[i] = "CAST(" + row[i] + " AS " + c.Type + ")"
		}
		rows = append(rows, "("+sqltext.List(row)+")")
	}
	return "CREATE TABLE " + sqltext.StoreTable(schema, name) + " AS SELECT * FROM (VALUES " + sqltext.List(rows) + ") AS v(" + sqltext.List(names) + ")"
}

// hostileValue is a value of a type: of a DECIMAL or an array that has none, the ends of it.
func hostileValue(typ string, n int) string {
	if hostile.Values(typ) != nil {
		return hostile.Value(typ, n)
	}
	var p, s int
	if _, err := fmt.Sscanf(typ, "DECIMAL(%d,%d)", &p, &s); err == nil {
		nines := strings.Repeat("9", p-s) + "." + strings.Repeat("9", s)
		return []string{"'" + nines + "'", "'-" + nines + "'", "0"}[n%3]
	}
	element, size, _ := strings.Cut(typ, "[")
	length := 1
	fmt.Sscanf(size, "%d]", &length)
	list := make([]string, length)
	for i := range list {
		list[i] = hostileValue(element, n+i)
	}
	return "[" + sqltext.List(list) + "]"
}

// count runs a scan and returns how many rows it has. What was released before it is a number.
func count(db *stdsql.DB, sc plan.Scan) (n int, err error) {
	args := make([]any, len(sc.Args))
	for i, a := range sc.Args {
		switch x := a.(type) {
		case plan.SecretArg:
			a = int64(4711)
		case plan.AnswerArg:
			if a = int64(3); x.Each {
				a = `["3",null,"-2.5"]`
			}
		}
		args[i] = a
	}
	rs, err := db.Query(sc.SQL, args...)
	if err != nil {
		return 0, err
	}
	defer rs.Close()
	for rs.Next() {
		n++
	}
	return n, rs.Err()
}
