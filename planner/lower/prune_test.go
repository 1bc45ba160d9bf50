package lower_test

import (
	"testing"

	"scrim/planner/lower"
	"scrim/planner/tree"
)

// TestConditionsOnDaysAreOnTheColumn compares what conditions of statements on public tables
// become: those that a NULL makes no difference to are on the column itself, with a bound where
// days outside the years 1 to 9999, which are read as NULL, would meet them.
func TestConditionsOnDaysAreOnTheColumn(t *testing.T) {
	const read = `(CASE WHEN t."d" BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN t."d" END)`
	b := newBinder(t)
	for text, want := range map[string]string{
		"d >= '2024-01-01'":                       `(t."d" >= DATE '2024-01-01' AND t."d" <= DATE '9999-12-31')`,
		"d < '2024-01-01'":                        `(t."d" < DATE '2024-01-01' AND t."d" >= DATE '0001-01-01')`,
		"d = '2024-01-01'":                        `(t."d" = DATE '2024-01-01')`,
		"d BETWEEN '2024-01-01' AND '2024-02-01'": `((t."d" >= DATE '2024-01-01' AND t."d" <= DATE '9999-12-31') AND (t."d" <= DATE '2024-02-01' AND t."d" >= DATE '0001-01-01'))`,
		"d <=> '2024-01-01'":                      "(" + read + " IS NOT DISTINCT FROM DATE '2024-01-01')",
		"NOT d = '2024-01-01'":                    "(NOT (" + read + " = DATE '2024-01-01'))",
		"d < d":                                   "(" + read + " < " + read + ")",
		"s = 'plain-text_1'":                      `(t."s" = CAST('plain-text_1' AS VARCHAR))`,
		"s = 'it''s'":                             `(t."s" = CAST($1 AS VARCHAR))`,
		`s = 'a"b'`:                               `(t."s" = CAST($1 AS VARCHAR))`,
	} {
		e, err := b.bind(text)
		if err != nil {
			t.Fatal(err)
		}
		x, err := lower.LowerPredicate(b.ctx, tree.Unalias(e), &lower.Binder{Public: true}, resolve)
		if err != nil {
			t.Fatal(err)
		}
		if x.SQL != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, x.SQL, want)
		}
	}
}
