package planner

import (
	"fmt"
	"math/big"
	"slices"
	"sort"
	"strings"

	"scrim/functions"
	"scrim/planner/canon"
	"scrim/planner/plan"
	"scrim/planner/rel"
)

// orderAggregates puts the aggregates of a draft in the order of their texts, whatever the order of the columns that show them.
func (s *statement) orderAggregates(d *draft, outputs []plan.Output) {
	texts := map[*aggregate]string{}
	for _, a := range d.aggregates {
		texts[a] = s.aggregateKey(d.relation, a)
	}
	before := slices.Clone(d.aggregates)
	sort.SliceStable(d.aggregates, func(i, j int) bool { return texts[d.aggregates[i]] < texts[d.aggregates[j]] })
	for i, o := range outputs {
		if o.Aggregate >= 0 {
			outputs[i].Aggregate = slices.Index(d.aggregates, before[o.Aggregate])
		}
	}
}

// aggregateKey is the text that an aggregate is ordered by.
func (s *statement) aggregateKey(r *rel.Relation, a *aggregate) string {
	text := ""
	if a.arg != nil {
		text = canon.Text(s.ctx, a.arg, r.Resolve)
	}
	return fmt.Sprintf("%s %t %s %s", a.call.Function.Name, a.call.Units, text, optionsText(a.call.Options))
}

// noBound stands for a bound that is not declared; no declared one is as large.
var noBound = new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 100))

// optionsText is what fmt writes of options. Asked to write a bound that is missing, fmt follows the nil pointer and recovers, in every query.
func optionsText(o functions.Options) string {
	if o.Lower == nil {
		o.Lower = noBound
	}
	if o.Upper == nil {
		o.Upper = noBound
	}
	return strings.ReplaceAll(fmt.Sprintf("%+v", o), noBound.String(), "<nil>")
}

// countsRows reports whether an aggregate is a plain count of rows: COUNT(*) is COUNT(1).
func (a *aggregate) countsRows() bool {
	return a.arg == nil && !a.call.Units && a.call.Function.Counts && len(a.call.Options.Given) == 0
}

// sameCount finds a plain count among aggregates that an equal one can share; -1 where there is none.
func sameCount(list []*aggregate, a *aggregate) int {
	if !a.countsRows() {
		return -1
	}
	return slices.IndexFunc(list, func(b *aggregate) bool { return b.countsRows() && b.call.Function == a.call.Function })
}
