package release

import (
	"slices"
	"strconv"

	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/aggregate"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rule"
)

// distinctScan generates the scan of a count of distinct values: one row for each value that a
// person has in a group, in whose place numbers stand.
//
//	SELECT DISTINCT <group>, <number of u> AS a0, <number of the value> AS a1
//
// Two persons, or two values, that have one number are taken for one. Which ones follows from their
// names alone, so that a person is a part of one, and what the estimator bounds for that one holds
// for the person.
func (s *Builder) distinctScan(d *Aggregation, a *aggregate.Aggregate, in *flat) plan.Scan {
	g := in.groupColumns
	a.Columns = []int{len(g), len(g) + 1}
	from := "SELECT DISTINCT " + sqltext.List(append(slices.Clone(g), "u", "x0")) + " FROM (" + in.sql + ") AS r"
	if d.Bounded {
		from = "SELECT * FROM (" + from + ") AS p QUALIFY dense_rank() OVER (PARTITION BY u ORDER BY " + s.choice("u", g) + ") <= " + strconv.Itoa(d.MaxGroups)
	}
	items := append(slices.Clone(g), numbered("u")+" AS a0", numbered("x0")+" AS a1")
	return plan.Scan{
		SQL:  "SELECT " + sqltext.List(items) + " FROM (" + from + ") AS v",
		Args: s.Args(), Types: append(slices.Clone(in.groupTypes), store.ScanInt64, store.ScanInt64),
	}
}

// named writes the number of a person, by the name that a column of a type has. Columns of types
// that hold the same names give a name one number.
func named(u string, t lower.Type) string {
	if t.Kind == lower.Int || t.Kind == lower.Bool {
		return numbered("CAST(" + u + " AS BIGINT)")
	}
	return numbered(u)
}

// numbered writes a number of 63 bits that stands for a value.
func numbered(x string) string { return "CAST(hash(" + x + ") >> 1 AS BIGINT)" }

// distinctValue writes the values of COUNT(DISTINCT x) as the store tells them apart, which is as
// it tells keys apart.
func distinctValue(a *aggregate.Aggregate, x lower.Expr) (string, error) {
	text, _, ok := keyColumn(x)
	if !ok {
		return "", rule.Deny(rule.DistinctArg, refuse.Aggregate, "Count the distinct values of a column or expression with a plain value.",
			"%s is over values of a type that cannot be told apart.", a.Text)
	}
	return text, nil
}
