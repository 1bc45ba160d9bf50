package release

import (
	"slices"
	"strconv"

	"scrim/engine/estimator"
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

// Rows that belong to two persons are scanned as the total of each pair of them: package flow keeps
// of these what fits under a cap for each person.
//
//	SELECT <group>, <number of u> AS a0, <number of v> AS a1, <sum of the argument, or rows, or both> AS a2, …
//
// Persons who have one number are taken for one, as of distinct values (distinctScan). In a join of
// an entity with itself both numbers are made of the name alone, so that a person has one number on
// either side.
//
// Groups. Each has a release of its own with a part of the loss for each of the public groups,
// however many a person is in: leaving rows of a person out of some would change what is left of
// those with whom they share rows, and so on without end. So keys that nobody declared have no
// answer here: how many there are is not public.

// ownersScan generates the scan of an aggregate of rows that belong to two persons.
func (s *Builder) ownersScan(d *Aggregation, a *aggregate.Aggregate, in *flat) plan.Scan {
	g := in.groupColumns
	owners := d.Relation.Owners()
	u, v := named("u", owners[0].Expr.Type), named("v", owners[1].Expr.Type)
	columns := []string{u, v}
	totals := a.Call.OwnerColumns(a.Facts())
	if totals.Sum {
		x := in.index[a]
		if totals.Shift != 0 {
			x = "CAST(" + x + " AS HUGEINT) - (" + strconv.FormatInt(totals.Shift, 10) + ")"
		}
		columns = append(columns, clamped("sum("+x+")"))
	}
	if totals.Rows {
		columns = append(columns, in.column(a, estimator.Rows, true))
	}
	items, types := slices.Clone(g), slices.Clone(in.groupTypes)
	a.Columns = nil
	for i, c := range columns {
		a.Columns = append(a.Columns, len(items))
		items, types = append(items, c+" AS a"+strconv.Itoa(i)), append(types, store.ScanInt64)
	}
	return plan.Scan{
		SQL:  "SELECT " + sqltext.List(items) + " FROM (" + in.sql + ") AS r GROUP BY " + sqltext.List(append(slices.Clone(g), "u", "v")),
		Args: s.Args(), Types: types,
	}
}

// PublicGroups refuses keys that are not public where rows belong to two persons.
func (d *Aggregation) PublicGroups() error {
	if !d.Relation.Shared() || d.Public {
		return nil
	}
	names := make([]string, len(d.Keys))
	for i, k := range d.Keys {
		names[i] = k.Name
	}
	return rule.Deny(rule.OwnersKeys, refuse.GroupKeys, "Group by columns of public tables, or a DBA declares the values with dp_set_domain; without GROUP BY the statement is answered.",
		"Rows that belong to two persons, of %s, can be grouped by public keys only, and the values of %s are not public.", d.Relation.PrivateNames(), sqltext.List(names))
}

// mostAdded is how many numbers of a row the executor adds up by itself: more take less room as
// sums of the store.
const mostAdded = 3

// mostAddedGroups is how many groups the executor has columns of at a time for each thread.
const mostAddedGroups = 1 << 12

// additive reports whether the numbers of a unit in a group are few sums over its rows, of a unit
// that is an integer, in all of its groups, which are public: what the executor adds up faster than
// the store, which has a table of all (group, unit) for it.
func (d *Aggregation) additive(in *flat, numbers []summand) bool {
	if !d.Public || len(d.Keys) == 0 || in.unitType != store.ScanInt64 {
		return false
	}
	texts := map[string]bool{}
	for _, n := range numbers {
		if n.of.Call.Units || n.kind != estimator.Rows && n.kind != estimator.Sum {
			return false
		}
		texts[in.column(n.of, n.kind, true)] = true
	}
	return len(texts) <= mostAdded
}

// summand is what an aggregate reads of a (group, unit).
type summand struct {
	of   *aggregate.Aggregate
	kind estimator.Kind
}

// summands lists what an aggregate reads of a (group, unit).
func summands(a *aggregate.Aggregate) []summand {
	var out []summand
	for i, k := range a.Kinds {
		of := a
		if a.Sums != nil {
			of = a.Sums[max(0, i-1)] // the rows of the first one are those of all
		}
		out = append(out, summand{of, k})
	}
	return out
}

// ofRow writes what a row adds to a number: the sum over a unit's rows in a group is clamped when
// it is complete.
func (f *flat) ofRow(a *aggregate.Aggregate, k estimator.Kind) string {
	if k == estimator.Sum {
		return "CAST(" + f.index[a] + " AS BIGINT)"
	}
	return f.column(a, k, false)
}

// addedScan generates a scan of one row a row for aggregates of sums, if it is worth it:
//
//	SELECT g, u, x0, 1, … FROM <relation>
//
// The store would keep a table of all (group, unit), and add up what is not an INTEGER or BIGINT in
// 128 bits.
func (s *Builder) addedScan(d *Aggregation, at int, in *flat) (plan.Scan, bool) {
	var numbers []summand
	for _, a := range d.Aggregates {
		if a.Scan == at {
			numbers = append(numbers, summands(a)...)
		}
	}
	if d.Bounded || d.groupsOf() > mostAddedGroups || !d.additive(in, numbers) {
		return plan.Scan{}, false
	}
	g := in.groupColumns
	cols := d.dataColumns(at, len(g)+1, in.ofRow)
	types := append(slices.Clone(in.groupTypes), in.unitType)
	for range cols {
		types = append(types, store.ScanInt64)
	}
	sql := "SELECT " + sqltext.List(append(append(slices.Clone(g), in.unit+" AS unit"), cols...)) + " FROM (" + in.sql + ") AS r"
	return plan.Scan{SQL: sql, Args: s.Args(), Types: types, Adds: true}, true
}
