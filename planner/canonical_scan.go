package planner

import (
	"slices"
	"sort"

	"scrim/planner/aggregate"
	"scrim/planner/plan"
)

// orderAggregates puts the aggregates of a draft in the order of their texts, whatever the order of the columns that show them.
func (s *statement) orderAggregates(d *draft, outputs []plan.Output) {
	texts := map[*aggregate.Aggregate]string{}
	for _, a := range d.aggregates {
		texts[a] = s.aggs.OrderText(d.relation, a)
	}
	before := slices.Clone(d.aggregates)
	sort.SliceStable(d.aggregates, func(i, j int) bool { return texts[d.aggregates[i]] < texts[d.aggregates[j]] })
	for i, o := range outputs {
		if o.Aggregate >= 0 {
			outputs[i].Aggregate = slices.Index(d.aggregates, before[o.Aggregate])
		}
	}
}
