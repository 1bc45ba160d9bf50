package release

import (
	"scrim/planner/aggregate"
	"scrim/planner/plan"
)

// ShareStatistics replaces statistics of the same two arguments by one release, with the loss of
// all of them:
//
//	SELECT REGR_SLOPE(y, x), REGR_INTERCEPT(y, x), REGR_R2(y, x) FROM people
//
// Their answers then fit each other, too: they are of one line.
func (s *Builder) ShareStatistics(d *Aggregation, outputs []plan.Output) {
	for i := 0; i < len(d.Aggregates); i++ {
		members := []*aggregate.Aggregate{d.Aggregates[i]}
		for _, b := range d.Aggregates[i+1:] {
			if s.Aggs.SharesRelease(members[0], b) {
				members = append(members, b)
			}
		}
		if len(members) > 1 {
			d.replace(members, aggregate.Shared(members), outputs)
			i = -1 // their place has changed
		}
	}
}
