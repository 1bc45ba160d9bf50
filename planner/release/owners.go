package release

import (
	"slices"
	"strconv"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
	"scrim/planner/rule"
)

// Rows that belong to two persons are scanned as the total of each pair of them: package flow keeps
// of these what fits under a cap for each person.
//
//	SELECT <group>, <number of u> AS a0, <number of v> AS a1, <sum of the argument, or rows, or both> AS a2, …
//
// Persons who have one number are taken for one, as of distinct values (distinct.go). In a join of
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
