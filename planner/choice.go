package planner

import (
	"fmt"

	"scrim/engine/estimator/groups"
)

// Values of dp_group_by.
const (
	GroupByAuto     = "auto"
	GroupByVector   = "vector"
	GroupBySeparate = "separate"
)

// groupByWords is how a refusal lists them.
const groupByWords = "auto, vector or separate"

// ValidGroupBy reports whether dp_group_by takes a word.
func ValidGroupBy(w string) bool {
	return w == GroupByAuto || w == GroupByVector || w == GroupBySeparate
}

// choice says whether the groups of a release are answered together or apart, and why, in public facts. The zero choice is one of a
// release without groups, or without anything that could be answered together.
type choice struct {
	together bool
	why      string
	joint    *aggregate // what would answer, or answers, all groups at once; nil where the two ways are not compared
	bound    int        // groups that a unit would be kept in
	leaves   bool       // bounding leaves a unit out of others
	expected groups.Expectation
}

// choose decides for the aggregate t, which would answer its members in all groups at once. It looks at public facts only, and the
// loss is none of them: both ways have the same.
func (s *statement) choose(d *draft, t *aggregate) choice {
	c := choice{bound: d.maxGroups, leaves: d.bounded}
	mode := s.params.groupBy(d.relation.private)
	expected, err := groups.Expected(d.groupParams(t, 1, d.groupsOf()), c.typical(), c.bound)
	switch {
	case d.relation.unique, d.public && d.groups <= 1:
		c.why = "a person is in one of them"
		return c
	case d.pure:
		c.why = "one vector of them has no pure mechanism"
		return c
	case err != nil:
		c.why = "they are too many for one vector"
		return c
	case !within(vectorSize(d.groupsOf(), t.width()), s.p.config.Memory):
		c.why = "as one vector they would not fit into the memory of a query"
		return c
	}
	c.joint = t
	switch c.together = expected.Better(); {
	case mode != GroupByAuto:
		c.together, c.why = mode == GroupByVector, "dp_group_by = "+mode
	case c.together:
		c.why = "it promises the smaller error"
	default:
		c.why = "that promises the smaller error"
	}
	return c
}

// typical is the number of groups that a person is taken to be in: half of those that one would be kept in, but two where others are left out: a
// bound keeps nobody from being in more. The true number is private. Where persons are in more groups than they would be kept
// in, the vector loses no more than bounding does.
func (c choice) typical() int {
	if c.bound == 1 && c.leaves {
		return 2
	}
	return (c.bound + 1) / 2
}

// expect fills in what is expected of both ways with the loss that they have.
func (c *choice) expect(d *draft, rho float64) error {
	if c.joint == nil {
		return nil
	}
	var err error
	c.expected, err = groups.Expected(d.groupParams(c.joint, rho, d.groupsOf()), c.typical(), c.bound)
	return err
}

// lines are what EXPLAIN shows of the choice.
func (c choice) lines() []string {
	if c.why == "" {
		return nil
	}
	way := "each by itself"
	if c.together {
		way = "as one vector"
	}
	lines := []string{fmt.Sprintf("groups %s: %s", way, c.why)}
	if c.joint != nil {
		line := fmt.Sprintf("expected error in a group, of what a person in %d of them adds to it: as one vector=%s  each by itself, %d a person=%s",
			c.typical(), number6(c.expected.Vector), c.bound, number6(c.expected.Bounded))
		if c.expected.Kept < 1 {
			line += fmt.Sprintf(" and %.0f %% of the rows left out", 100*(1-c.expected.Kept))
		}
		lines = append(lines, line)
	}
	return lines
}
