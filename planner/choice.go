package planner

import (
	"scrim/engine/estimator/groups"
	"scrim/internal/params"
	"scrim/planner/aggregate"
	"scrim/planner/plan"
)

// choose decides for the aggregate t, which would answer its members in all groups at once. It looks at public facts only, and the
// loss is none of them: both ways have the same.
func (s *statement) choose(d *draft, t *aggregate.Aggregate) plan.Grouping {
	c := plan.Grouping{Bound: d.maxGroups, Leaves: d.bounded}
	mode := s.params.GroupBy(d.relation.Private)
	expected, err := groups.Expected(d.groupParams(t, 1, d.groupsOf()), c.Typical(), c.Bound)
	switch {
	case d.relation.Unique, d.Public && d.Groups <= 1:
		c.Why = "a person is in one of them"
		return c
	case d.pure:
		c.Why = "one vector of them has no pure mechanism"
		return c
	case err != nil:
		c.Why = "they are too many for one vector"
		return c
	case !within(vectorSize(d.groupsOf(), t.Width()), s.p.config.Memory):
		c.Why = "as one vector they would not fit into the memory of a query"
		return c
	}
	d.groupVector, c.Compared = t, true
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

// expect fills in what is expected of both ways with the loss that they have.
func (d *draft) expect(rho float64) error {
	if d.groupVector == nil {
		return nil
	}
	var err error
	d.choice.Expected, err = groups.Expected(d.groupParams(d.groupVector, rho, d.groupsOf()), d.choice.Typical(), d.choice.Bound)
	return err
}
