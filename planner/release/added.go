package release

import (
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
)

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
		for _, k := range a.Kinds {
			if a.Scan == at {
				numbers = append(numbers, summand{a, k})
			}
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
