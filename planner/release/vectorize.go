package release

import (
	"slices"
	"strconv"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/privacy"
	"scrim/engine/estimator"
	"scrim/engine/estimator/groups"
	"scrim/engine/store"
	"scrim/functions"
	"scrim/internal/lists"
	"scrim/internal/params"
	"scrim/internal/sqltext"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
	"scrim/planner/settings"
)

// minVectorized is the least number of means that are worth answering as one vector.
const minVectorized = 3

// Vectorize replaces the means of several columns over the same rows by one mean of vectors, with
// the loss of all of them:
//
//	SELECT AVG(a), AVG(b), …, AVG(z) FROM people
//
// Alone each of k means gets a k-th of the loss, and a clip that no column's own outliers pass. As
// one vector, with every coordinate scaled by its own spread, the clip is on the norm of all of
// them, in which the outliers of one column hardly show: see vectorGain. The number of persons is
// released once. Where it shows that a group has too few persons for the vector, its columns are
// answered one by one after all (vector.NewColumns).
//
// It is done where it changes nothing but the noise: one row a person, columns that the store keeps
// from being NULL, no declared bounds (their fixed clips need no search), no loss or method of its
// own on any of them. A person with NaN or an infinity in one of the columns is left out of all of
// them.
func (s *Builder) Vectorize(d *Aggregation, outputs []plan.Output) {
	var members []*aggregate.Aggregate
	for _, a := range d.Aggregates {
		if d.Relation.Unique && s.Aggs.Vectorizable(d.Relation, a) && (members == nil || a.Call.Function.Private() == members[0].Call.Function.Private()) {
			members = append(members, a)
		}
	}
	if len(members) < minVectorized || len(members) > functions.MaxDimension || !within(answerSize(d.Groups, len(members)), s.Memory) {
		return
	}
	f, err := s.Aggs.Vectorized(members)
	if err != nil {
		return
	}
	d.replace(members, f, outputs)
}

// replace puts one aggregate, the first, in the place of several, whose outputs become its parts.
func (d *Aggregation) replace(members []*aggregate.Aggregate, whole *aggregate.Aggregate, outputs []plan.Output) {
	before := d.Aggregates
	d.Aggregates = []*aggregate.Aggregate{whole}
	d.Aggregates = append(d.Aggregates, lists.Filter(before, func(a *aggregate.Aggregate) bool { return !slices.Contains(members, a) })...)
	for i, o := range outputs {
		if o.Aggregate < 0 {
			continue
		}
		a := before[o.Aggregate]
		if part := slices.Index(members, a); part >= 0 {
			outputs[i].Aggregate, outputs[i].Part = 0, part
		} else {
			outputs[i].Aggregate = slices.Index(d.Aggregates, a)
		}
	}
}

// output is the aggregate that a column of the answer shows.
func (d *Aggregation) output(o plan.Output) *aggregate.Aggregate {
	a := d.Aggregates[o.Aggregate]
	if a.Parts != nil {
		return a.Parts[o.Part]
	}
	return a
}

// Type is the type of a column of the answer that is an aggregate.
func (d *Aggregation) Type(o plan.Output) sql.Type {
	if a := d.output(o); o.ErrorBar != functions.NoErrorBar {
		return a.BarType(o.ErrorBar)
	}
	return d.output(o).Type
}

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
	if len(d.Keys) == 0 {
		return nil
	}
	var members []*aggregate.Aggregate
	for _, a := range d.Aggregates {
		switch {
		case !a.FitsGroupVector():
		case s.oneGroup(d) && a.KnownApart():
			d.Choice = plan.Grouping{Bound: d.MaxGroups, Leaves: d.Bounded, Why: "a person is in one of them"}
		default:
			members = append(members, a)
		}
	}
	if len(members) == 0 {
		return nil
	}
	s.Aggs.SumsFromMeans(members)
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

// oneGroup reports whether a person is in one group, and what is answered together is chosen by
// that: apart, the loss is divided by nothing either.
func (s *Builder) oneGroup(d *Aggregation) bool {
	return (d.OneGroup || d.Relation.Unique) && s.params.GroupBy(d.Relation.Private) == params.Auto
}

// groupParams are the public facts of the estimator of all groups, of which there are so many.
func (d *Aggregation) groupParams(t *aggregate.Aggregate, rho float64, n int) groups.Params {
	p := groups.Params{Rho: rho, Relation: d.Neighbours(), Groups: n}
	p.Aggregates = append(p.Aggregates, lists.Map(t.Parts, (*aggregate.Aggregate).InGroups)...)
	if d.OneGroup || d.Relation.Unique {
		p.MaxGroups = 1
	}
	if d.Relation.Unique {
		p.MaxRows = 1
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
	if a.Parts != nil && a.Sums == nil && !a.SharedStatistics() {
		return a.Vectorized(p)
	}
	return a.Mechanism(p)
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
		numbers = append(numbers, lists.Map(m.GroupKinds(), func(k estimator.Kind) summand { return summand{m, k} })...)
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

// choose decides for the aggregate t, which would answer its members in all groups at once. It
// looks at public facts only, and the loss is none of them: both ways have the same.
func (s *Builder) choose(d *Aggregation, t *aggregate.Aggregate) plan.Grouping {
	c := plan.Grouping{Bound: d.MaxGroups, Leaves: d.Bounded}
	mode := s.params.GroupBy(d.Relation.Private)
	expected, err := groups.Expected(d.groupParams(t, 1, d.groupsOf()), c.Typical(), c.Bound)
	switch {
	case d.Public && d.Groups <= 1:
		c.Why = "a person is in one of them"
		return c
	case d.Pure:
		c.Why = "one vector of them has no pure mechanism"
		return c
	case err != nil:
		c.Why = "they are too many for one vector"
		return c
	case !within(vectorSize(d.groupsOf(), t.Width()), s.Memory):
		c.Why = "as one vector they would not fit into the memory of a query"
		return c
	}
	if s.oneGroup(d) {
		c.Together, c.Why = true, "a clip for all groups wants fewer persons than one for each"
		return c
	}
	d.GroupVector, c.Compared = t, true
	switch c.Together = expected.Better(); {
	case mode != params.Auto:
		c.Together, c.Why = mode == params.GroupByVector, params.GroupBy.Name+" = "+mode
	case c.Together:
		c.Why = "it promises the smaller error"
	default:
		c.Why = "that promises the smaller error"
	}
	return c
}

// Expect fills in what is expected of both ways with the loss that they have.
func (d *Aggregation) Expect(rho float64) error {
	if d.GroupVector == nil {
		return nil
	}
	var err error
	d.Choice.Expected, err = groups.Expected(d.groupParams(d.GroupVector, rho, d.groupsOf()), d.Choice.Typical(), d.Choice.Bound)
	return err
}
