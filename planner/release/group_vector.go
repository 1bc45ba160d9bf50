package release

import (
	"slices"
	"strconv"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
	"scrim/planner/settings"
)

// GroupVector replaces the counts, sums and means of a GROUP BY by one aggregate that answers them
// in all groups at once:
//
//	SELECT region, COUNT(*), AVG(amount) FROM orders GROUP BY region
//
// Apart, each group gets a part of the loss for each group that a person may be in, and a person in
// more groups than that is left out of some. Together, a person is one vector over groups and
// aggregates, of which only the length is bounded: nobody is left out of any group, the loss is not
// divided, and under replace-one an exchange costs nothing extra (package groups).
//
// Aggregates of other kinds, and those with a loss of their own, stay apart.
// docs/decisions/groups.md has the design.
func (s *Builder) GroupVector(d *Aggregation, outputs []plan.Output) error {
	if v := settings.ViewOf(s.ctx); v != nil {
		return s.viewVector(d, outputs, v)
	}
	if y := settings.SyntheticOf(s.ctx); y != nil {
		return s.syntheticRows(d, y)
	}
	var members []*aggregate.Aggregate
	for _, a := range d.Aggregates {
		if a.FitsGroupVector() {
			members = append(members, a)
		}
	}
	if len(members) == 0 || len(d.Keys) == 0 {
		return nil
	}
	t := aggregate.GroupVectorOf(members)
	if d.Choice = s.choose(d, t); !d.Choice.Together {
		return nil
	}
	d.replace(members, t, outputs)
	if d.Public && len(d.Aggregates) == 1 {
		d.MaxGroups, d.Bounded = 1, false // nothing is left that is divided by groups
	}
	return nil
}

// groupParams are the public facts of the estimator of all groups, of which there are so many.
func (d *Aggregation) groupParams(t *aggregate.Aggregate, rho float64, n int) groups.Params {
	p := groups.Params{Rho: rho, Relation: d.Neighbours(), Groups: n}
	for _, m := range t.Parts {
		p.Aggregates = append(p.Aggregates, groups.Aggregate{Measure: m.Measure(), Grid: m.Grid.Grid, Lower: m.Grid.Lower, Upper: m.Grid.Upper})
	}
	return p
}

// EstimatorOf builds the mechanism of an aggregate at a cost. Here the cost becomes the number that
// the mechanism computes its noise from.
func (d *Aggregation) EstimatorOf(a *aggregate.Aggregate, cost privacy.Cost) (estimator.Estimator, error) {
	switch {
	case a.View:
		return d.viewOf(a, cost.Rho())
	case a.Synthetic:
		return d.syntheticOf(cost.Rho())
	}
	if p := d.GroupsFacts(a, cost); p != nil {
		return groups.New(*p)
	}
	p := a.Facts()
	p.Rho, p.Epsilon = cost.Rho(), cost.Epsilon()
	p.Relation, p.Sized = d.Estimated(a)
	if a.Parts != nil && !a.SharedStatistics() {
		return a.Vectorized(p)
	}
	return a.Call.Estimator(p)
}

// GroupsFacts are the public facts of an aggregate that answers all groups at once, nil of any
// other.
func (d *Aggregation) GroupsFacts(a *aggregate.Aggregate, cost privacy.Cost) *groups.Params {
	if !a.GroupVector {
		return nil
	}
	p := d.groupParams(a, cost.Rho(), d.groupsOf())
	return &p
}

// expectedGroups is the number of groups that a plan with selected keys is printed with. The
// estimator is built again once they are known; its loss does not depend on them.
const expectedGroups = 100

// groupsOf is the number of groups of an aggregation, an example where it is private.
func (d *Aggregation) groupsOf() int {
	if d.Public {
		return d.Groups
	}
	return expectedGroups
}

// mostGroups bounds the groups of one unit in the scan of all groups where keys are selected. The
// loss does not ask for it, and neither does memory: a person with millions of keys would be
// shortened to nothing among those that are selected, but every query that meets them would write
// all of their keys to disk. Which ones are kept follows from that person's rows and a secret
// alone. Where keys are public there are keys.MaxPublic at most.
const mostGroups = 1 << 14

// groupScan generates the scan of all groups over what materialise wrote: one row a (group, unit),
// of every group that the unit is in.
//
//	SELECT g, u, count(*), sum(x0), count(x0), … GROUP BY g, u
//
// Where the keys are selected, a unit's groups are numbered in the order of scanOf's choice, and
// those beyond mostGroups left out. Where the same scan serves the selection, a column more says in
// which groups a person counts for that: as many as its loss allows for.
//
// Few numbers of rows are not added up in the store but where the rows of a person are brought
// together anyway: the scan is then of one row a row.
func (s *Builder) groupScan(d *Aggregation, t *aggregate.Aggregate, in *flat, kept bool) plan.Scan {
	out := plan.Scan{Units: true, Kept: kept, Types: append(slices.Clone(in.groupTypes), in.unitType)}
	by := append(slices.Clone(in.groupColumns), in.unit)
	names := append(slices.Clone(in.groupColumns), "unit")
	items := append(slices.Clone(in.groupColumns), in.unit+" AS unit")
	if kept {
		out.Types = append(out.Types, store.ScanInt64)
		names = append(names, "CAST(place <= "+strconv.Itoa(d.MaxGroups)+" AS BIGINT) AS kept")
	}
	var numbers []summand
	for _, m := range t.Parts {
		for _, k := range m.Measure().Kinds() {
			numbers = append(numbers, summand{m, k})
		}
	}
	grouped := !d.additive(in, numbers)
	t.Columns = nil
	seen := map[string]int{}
	for _, n := range numbers {
		m, text := n.of, in.column(n.of, n.kind, true)
		if !grouped {
			text = in.ofRow(m, n.kind)
		} else if m.Call.Units && (m.Arg == nil || in.whole[m]) {
			text = "CAST(1 AS BIGINT)"
		} else if m.Call.Units {
			text = "CAST(CASE WHEN " + text + " > 0 THEN 1 ELSE 0 END AS BIGINT)"
		}
		at, ok := seen[text]
		if !ok {
			at = len(out.Types)
			name := "a" + strconv.Itoa(len(seen))
			seen[text] = at
			items, names = append(items, text+" AS "+name), append(names, name)
			out.Types = append(out.Types, store.ScanInt64)
		}
		t.Columns = append(t.Columns, at)
	}
	out.SQL = "SELECT " + sqltext.List(items) + " FROM (" + in.sql + ") AS r"
	if grouped {
		out.SQL += " GROUP BY " + sqltext.List(by)
	}
	if !d.Public {
		choice := s.choice("unit", in.groupColumns)
		place := "row_number() OVER (PARTITION BY unit ORDER BY " + choice + ") AS place"
		if out.Held = kept && d.counts(); out.Held {
			place, names = place+", "+d.held("unit", choice), append(names, "held")
		}
		out.SQL = "SELECT " + sqltext.List(names) + " FROM (SELECT *, " + place + " FROM (" + out.SQL + ") AS p) AS q WHERE place <= " + strconv.Itoa(mostGroups)
	}
	out.Args = s.Args()
	return out
}
