package planner

import (
	"math"
	"slices"
	"strings"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
	"scrim/engine/store"
	"scrim/functions"
	"scrim/planner/plan"
)

// together replaces the counts, sums and means of a GROUP BY by one aggregate that answers them in all groups at once:
//
//	SELECT region, COUNT(*), AVG(amount) FROM orders GROUP BY region
//
// Apart, each group gets a part of the loss for each group that a person may be in, and a person in more groups than that is left
// out of some. Together, a person is one vector over groups and aggregates, of which only the length is bounded: nobody is left
// out of any group, the loss is not divided, and under replace-one an exchange costs nothing extra (package groups).
//
// Aggregates of other kinds, and those with a loss of their own, stay apart. docs/decisions/groups.md has the design.
func (s *statement) together(d *draft, outputs []plan.Output) {
	var members []*aggregate
	for _, a := range d.aggregates {
		if a.mayJoin() {
			members = append(members, a)
		}
	}
	if len(members) == 0 || len(d.Keys) == 0 {
		return
	}
	t := joined(members)
	if d.choice = s.choose(d, t); !d.choice.Together {
		return
	}
	d.replace(members, t, outputs)
	if d.Public && len(d.aggregates) == 1 {
		d.maxGroups, d.bounded = 1, false // nothing is left that is divided by groups
	}
}

// mayJoin reports whether an aggregate has no loss or method of its own, and is of a kind that can be
// answered in all groups at once.
func (a *aggregate) mayJoin() bool {
	if a.vector != nil || a.parts != nil || a.aimed {
		return false
	}
	for _, o := range a.call.Options.Given {
		switch o {
		case "lower", "upper", "weight":
		default:
			return false
		}
	}
	return a.call.Function.InGroups != nil
}

// joined is the aggregate that stands for its members in all groups.
func joined(members []*aggregate) *aggregate {
	t := &aggregate{parts: members, all: true, call: members[0].call}
	texts := make([]string, len(members))
	for i, m := range members {
		texts[i] = m.text
	}
	t.text = strings.Join(texts, ", ")
	t.call.Options = functions.Options{}
	return t
}

// measure is what the estimator of all groups tells of an aggregate.
func (a *aggregate) measure() groups.Measure { return a.call.Function.InGroups(a.call) }

// width is the number of a person's columns for one group.
func (a *aggregate) width() int {
	n := 0
	for _, m := range a.parts {
		n += len(m.measure().Kinds())
	}
	return n
}

// groupParams are the public facts of the estimator of all groups, of which there are so many.
func (d *draft) groupParams(t *aggregate, rho float64, n int) groups.Params {
	p := groups.Params{Rho: rho, Relation: d.neighbours(), Groups: n}
	for _, m := range t.parts {
		p.Aggregates = append(p.Aggregates, groups.Aggregate{Measure: m.measure(), Grid: m.grid.Grid, Lower: m.grid.Lower, Upper: m.grid.Upper})
	}
	return p
}

// parts is the number of parts that the loss of an aggregate is divided into.
func (d *draft) parts(a *aggregate) int {
	if a.all {
		return 1
	}
	return d.maxGroups * d.exchanged()
}

// estimatorOf builds the mechanism of an aggregate at a cost. Here the cost becomes the number that the
// mechanism computes its noise from.
func (d *draft) estimatorOf(a *aggregate, cost privacy.Cost) (estimator.Estimator, error) {
	if p := d.groupsFacts(a, cost); p != nil {
		return groups.New(*p)
	}
	p := a.facts()
	p.Rho, p.Epsilon = cost.Rho(), cost.Epsilon()
	p.Relation, p.Sized = d.estimated(a)
	if a.parts != nil {
		return a.fused(p)
	}
	return a.call.Estimator(p)
}

// groupsFacts are the public facts of an aggregate that answers all groups at once, nil of any other.
func (d *draft) groupsFacts(a *aggregate, cost privacy.Cost) *groups.Params {
	if !a.all {
		return nil
	}
	p := d.groupParams(a, cost.Rho(), d.groupsOf())
	return &p
}

// expectedGroups is the number of groups that a plan with selected keys is printed with. The estimator is built again once they
// are known; its loss does not depend on them.
const expectedGroups = 100

// groupsOf is the number of groups of a draft, an example where it is private.
func (d *draft) groupsOf() int {
	if d.Public {
		return d.Groups
	}
	return expectedGroups
}

// presentsOf are the members' ways to present their part of a group.
func presentsOf(members []*aggregate) []func(estimator.Estimate) any {
	out := make([]func(estimator.Estimate) any, len(members))
	for i, m := range members {
		out[i] = func(e estimator.Estimate) any { return m.presentOne(e.Values[i]) }
	}
	return out
}

// presentOne presents one released number, NULL where the estimator has none: COUNT shows no negative number.
func (a *aggregate) presentOne(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	if a.call.Function.AtLeastZero {
		v = max(v, 0)
	}
	return a.present(estimator.Estimate{Values: []float64{v}})
}

// mostGroups bounds the groups of one unit in the scan of all groups where keys are selected. The loss does not ask for it, and neither does memory: a
// person with millions of keys would be shortened to nothing among those that are selected, but every query that meets them would write all of their
// keys to disk. Which ones are kept follows from that person's rows and a secret alone. Where keys are public there are keys.MaxPublic at most.
const mostGroups = 1 << 14

// groupScan generates the scan of all groups over what materialise wrote: one row a (group, unit), of every group that the unit is in.
//
//	SELECT g, u, count(*), sum(x0), count(x0), … GROUP BY g, u
//
// Where the keys are selected, a unit's groups are numbered in the order of scanOf's choice, and those beyond mostGroups left out. Where
// the same scan serves the selection, a column more says in which groups a person counts for that: as many as its loss allows for.
//
// Few numbers of rows are not added up in the store but where the rows of a person are brought together anyway: the scan is then of one row a row.
func (s *statement) groupScan(d *draft, t *aggregate, in *flat, kept bool) plan.Scan {
	out := plan.Scan{Units: true, Kept: kept, Types: append(slices.Clone(in.groupTypes), in.unitType)}
	by := append(slices.Clone(in.groupColumns), in.unit)
	names := append(slices.Clone(in.groupColumns), "unit")
	items := append(slices.Clone(in.groupColumns), in.unit+" AS unit")
	if kept {
		out.Types = append(out.Types, store.ScanInt64)
		names = append(names, "CAST(place <= "+itoa(d.maxGroups)+" AS BIGINT) AS kept")
	}
	var numbers []summand
	for _, m := range t.parts {
		for _, k := range m.measure().Kinds() {
			numbers = append(numbers, summand{m, k})
		}
	}
	grouped := !d.additive(in, numbers)
	t.columns = nil
	seen := map[string]int{}
	for _, n := range numbers {
		m, text := n.of, in.column(n.of, n.kind, true)
		if !grouped {
			text = in.ofRow(m, n.kind)
		} else if m.call.Units && (m.arg == nil || in.whole[m]) {
			text = "CAST(1 AS BIGINT)"
		} else if m.call.Units {
			text = "CAST(CASE WHEN " + text + " > 0 THEN 1 ELSE 0 END AS BIGINT)"
		}
		at, ok := seen[text]
		if !ok {
			at = len(out.Types)
			name := "a" + itoa(len(seen))
			seen[text] = at
			items, names = append(items, text+" AS "+name), append(names, name)
			out.Types = append(out.Types, store.ScanInt64)
		}
		t.columns = append(t.columns, at)
	}
	out.SQL = "SELECT " + comma(items) + " FROM (" + in.sql + ") AS r"
	if grouped {
		out.SQL += " GROUP BY " + comma(by)
	}
	if !d.Public {
		place := "row_number() OVER (PARTITION BY unit ORDER BY " + s.choice("unit", in.groupColumns) + ") AS place"
		out.SQL = "SELECT " + comma(names) + " FROM (SELECT *, " + place + " FROM (" + out.SQL + ") AS p) AS q WHERE place <= " + itoa(mostGroups)
	}
	out.Args = s.Args()
	return out
}
