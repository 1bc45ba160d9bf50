package lower_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"scrim/planner/lower"
	"scrim/planner/tree"
	"scrim/test/stattest"

	"github.com/dolthub/go-mysql-server/sql"
)

// TestConditionsOnDaysAreOnTheColumn compares what conditions become: those that a NULL makes no
// difference to are on the column itself, with a bound where days outside the years 1 to 9999,
// which are read as NULL, would meet them.
func TestConditionsOnDaysAreOnTheColumn(t *testing.T) {
	const read = `(CASE WHEN t."d" BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN t."d" END)`
	b := newBinder(t)
	for text, want := range map[string]string{
		"d >= '2024-01-01'":                                `(t."d" >= DATE '2024-01-01' AND t."d" <= DATE '9999-12-31')`,
		"d < '2024-01-01'":                                 `(t."d" < DATE '2024-01-01' AND t."d" >= DATE '0001-01-01')`,
		"d = '2024-01-01'":                                 `(t."d" = DATE '2024-01-01')`,
		"d BETWEEN '2024-01-01' AND '2024-02-01'":          `((t."d" >= DATE '2024-01-01' AND t."d" <= DATE '9999-12-31') AND (t."d" <= DATE '2024-02-01' AND t."d" >= DATE '0001-01-01'))`,
		"'2024-01-01' > d AND (d > '2020-01-01' OR d > d)": `((t."d" < DATE '2024-01-01' AND t."d" >= DATE '0001-01-01') AND ((t."d" > DATE '2020-01-01' AND t."d" <= DATE '9999-12-31') OR (` + read + " > " + read + `)))`,
		"NOT (d > '2020-01-01' AND i = 1)":                 "(NOT ((" + read + ` > DATE '2020-01-01') AND (t."i" = 1::BIGINT)))`,
		"d <=> '2024-01-01'":                               "(" + read + " IS NOT DISTINCT FROM DATE '2024-01-01')",
		"NOT d = '2024-01-01'":                             "(NOT (" + read + " = DATE '2024-01-01'))",
		"d < d":                                            "(" + read + " < " + read + ")",
		"s = 'plain-text_1'":                               `(t."s" = CAST('plain-text_1' AS VARCHAR))`,
		"s = 'it''s'":                                      `(t."s" = CAST($1 AS VARCHAR))`,
		`s = 'a"b'`:                                        `(t."s" = CAST($1 AS VARCHAR))`,
	} {
		e, err := b.bind(text)
		if err != nil {
			t.Fatal(err)
		}
		x, err := lower.LowerPredicate(b.ctx, tree.Unalias(e), new(lower.Binder), resolve)
		if err != nil {
			t.Fatal(err)
		}
		if x.SQL != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, x.SQL, want)
		}
	}
}

// TestConditionsKeepTheRows runs conditions as they are translated where NULL is false, and the
// same conditions as values, over days within the years 1 to 9999 and outside: the same rows are
// kept.
func TestConditionsKeepTheRows(t *testing.T) {
	b, db := newBinder(t), openStore(t)
	for _, day := range []string{"'infinity'", "'-infinity'", "'10000-01-01'", "'0044-03-15 (BC)'", "'9999-12-31'", "'0001-01-01'", "NULL"} {
		if _, err := db.Exec("INSERT INTO t (id, d, ts) VALUES (99, " + day + "::DATE, " + day + "::TIMESTAMP)"); err != nil {
			t.Fatal(err)
		}
	}
	var atoms []string
	for _, x := range []string{"d", "ts"} {
		for _, op := range []string{"<", "<=", ">", ">=", "=", "<>", "<=>"} {
			for _, day := range []string{"'2020-02-29'", "'0001-01-01'", "'9999-12-31'", "DATE '2021-12-31'", "TIMESTAMP '2000-01-01 12:34:56'"} {
				atoms = append(atoms, x+" "+op+" "+day, day+" "+op+" "+x)
			}
		}
		atoms = append(atoms, x+" BETWEEN '2000-01-01' AND '2021-12-31'", x+" IS NULL", "i > 0", "s = 'abc'")
	}
	pick := rand.New(stattest.Source(t, "conditions"))
	one := func() string { return atoms[pick.IntN(len(atoms))] }
	kept := 0
	for n := range 400 {
		text := fmt.Sprintf("(%s OR %s) AND (%s OR NOT (%s))", one(), one(), one(), one())
		if n < len(atoms) {
			text = atoms[n]
		}
		e, err := b.bind(text)
		if err != nil {
			t.Fatal(err)
		}
		count := func(translate func(*sql.Context, sql.Expression, *lower.Binder, lower.Columns) (lower.Expr, error)) (rows int) {
			args := new(lower.Binder)
			x, err := translate(b.ctx, tree.Unalias(e), args, resolve)
			if err == nil {
				err = db.QueryRow("SELECT count(*) FROM t WHERE "+x.SQL, args.Args()...).Scan(&rows)
			}
			if err != nil {
				t.Fatal(text, err)
			}
			return rows
		}
		got, want := count(lower.LowerPredicate), count(lower.Lower)
		if got != want {
			t.Errorf("%s keeps %d rows, want %d", text, got, want)
		}
		kept += got
	}
	if kept == 0 {
		t.Error("no condition keeps a row")
	}
}
