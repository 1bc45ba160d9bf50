package release

import (
	"slices"
	"sort"

	"scrim/planner/aggregate"
	"scrim/planner/plan"
)

// OrderAggregates puts the aggregates of an aggregation in the order of their texts, whatever the
// order of the columns that show them.
func (s *Builder) OrderAggregates(d *Aggregation, outputs []plan.Output) {
	texts := map[*aggregate.Aggregate]string{}
	for _, a := range d.Aggregates {
		texts[a] = s.Aggs.OrderText(d.Relation, a)
	}
	before := slices.Clone(d.Aggregates)
	sort.SliceStable(d.Aggregates, func(i, j int) bool { return texts[d.Aggregates[i]] < texts[d.Aggregates[j]] })
	for i, o := range outputs {
		if o.Aggregate >= 0 {
			outputs[i].Aggregate = slices.Index(d.Aggregates, before[o.Aggregate])
		}
	}
}
