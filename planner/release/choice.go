package release

import (
	"scrim/engine/estimator/groups"
	"scrim/internal/params"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
)

// choose decides for the aggregate t, which would answer its members in all groups at once. It
// looks at public facts only, and the loss is none of them: both ways have the same.
func (s *Builder) choose(d *Aggregation, t *aggregate.Aggregate) plan.Grouping {
	c := plan.Grouping{Bound: d.MaxGroups, Leaves: d.Bounded}
	mode := s.params.GroupBy(d.Relation.Private)
	expected, err := groups.Expected(d.groupParams(t, 1, d.groupsOf()), c.Typical(), c.Bound)
	switch {
	case d.Relation.Unique, d.OneGroup, d.Public && d.Groups <= 1:
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
