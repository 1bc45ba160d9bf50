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
	// Expected errors of the two ways, where they were compared; see groups.Compare.
	vector, apart float64
	compared      bool
}

// String is the choice as EXPLAIN shows it.
func (c choice) String() string {
	if c.why == "" {
		return ""
	}
	way := "each by itself"
	if c.together {
		way = "as one vector"
	}
	if !c.compared {
		return fmt.Sprintf("groups %s: %s", way, c.why)
	}
	return fmt.Sprintf("groups %s: %s  expected error as one vector=%s  each by itself=%s", way, c.why, number6(c.vector), number6(c.apart))
}

// choose decides for the aggregate t, which would answer its members in all groups at once.
func (s *statement) choose(d *draft, t *aggregate) choice {
	mode := s.params.groupBy(d.relation.private)
	switch {
	case d.relation.unique, d.public && d.groups <= 1:
		return choice{why: "a person is in one of them"}
	case d.pure:
		return choice{why: "one vector of them has no pure mechanism"}
	case mode == GroupBySeparate:
		return choice{why: "dp_group_by = separate"}
	case !within(vectorSize(d.groupsOf(), t.width()), s.p.config.Memory):
		return choice{why: "as one vector they would not fit into the memory of a query"}
	}
	if _, err := groups.New(d.groupParams(t, 1, d.groupsOf())); err != nil {
		return choice{why: "they cannot be one vector"}
	}
	if mode == GroupByVector {
		return choice{together: true, why: "dp_group_by = vector"}
	}
	return choice{together: true, why: "nobody is left out of a group"}
}
