package release

import (
	"strconv"

	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/aggregate"
	"scrim/planner/rel"
	"scrim/planner/rule"
)

// tooWideToBound says how the groups of a person need not be bounded, where that can be.
func (s *Builder) tooWideToBound(d *Aggregation, a *aggregate.Aggregate) error {
	remedy := "Ask for fewer coordinates, or have an operator raise --memory-limit."
	if d.Public && d.Groups <= int(params.MaxGroups.Max) {
		remedy = "Set dp_max_groups_contributed = " + strconv.Itoa(d.Groups) + ", so that persons are kept in all groups, ask for fewer coordinates, or have an operator raise --memory-limit."
	}
	return rule.Deny(rule.Memory, refuse.Option, remedy,
		"To keep a person in at most %d groups, the store orders the vectors of %s, which have %d coordinates; with its memory limit of %d MiB it can order %d.",
		d.MaxGroups, a.Text, a.Vector.Dim, s.StoreMemory>>20, s.MostOf(rel.OrderedBytes))
}
