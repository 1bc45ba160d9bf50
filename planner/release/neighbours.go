package release

import (
	"slices"

	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/engine/estimator"
	"scrim/planner/aggregate"
)

// Neighbours is the neighbour relation under which an aggregation's loss holds, and what follows
// from it.
//
// All tables of one entity have the same relation. An aggregation touches tables of one entity, or
// of two where its rows belong to a person of each: then it is replace-one where either is, for an
// estimator of it holds under add-remove as well (package flow; a removal from a group costs one
// part of what an exchange may). Under replace-one the number of units of a table is public, and
// one unit's rows are exchanged:
//
//   - An aggregate over the whole of one table, without groups, over a value that every row has,
//     knows its number of persons: it is Sized. With a condition, a join or a value that may be
//     absent, the unit may have entered or left what is aggregated: the number of persons is
//     private, and paid for.
//   - With groups, the unit may have left up to L groups and entered up to L others, or be in some
//     on both sides. Its estimators run under add-remove. An exchange is one removal and one
//     addition, so in a group with both a loss of ρ under add-remove is one of 4ρ at most by group
//     privacy [BS16, Proposition 27], δ being 0, and of what the estimator says where it knows less
//     (estimator.Exchanging); in a group with one of them it is ρ. With m groups of both that is
//     m·xρ + 2(L−m)ρ, at most L·max(x, 2)·ρ: each group gets one part in L·max(x, 2). A pure ε is
//     one of 2ε, and each group gets a half of an L-th.
//   - Groups that are answered together are one vector a unit. It has sensitivities of its own for
//     the relation, so it runs under it with the whole of its loss (package groups).
func (d *Aggregation) Neighbours() estimator.Relation {
	for _, t := range d.Relation.Private {
		if t.Policy.Relation == catalog.ReplaceOne {
			return estimator.ReplaceOne
		}
	}
	return estimator.AddRemove
}

// Exchanged reports whether the groups' estimators run under add-remove, and an exchange is paid
// for by them.
func (d *Aggregation) Exchanged() bool {
	return d.Neighbours() == estimator.ReplaceOne && len(d.Keys) > 0
}

// exchange is the factor between the loss of an aggregate's estimator and what it costs in a group,
// in parts of 1/estimator.ExchangeParts.
func (d *Aggregation) exchange(a *aggregate.Aggregate) int {
	switch {
	case a.GroupVector || !d.Exchanged():
		return estimator.ExchangeParts
	case d.Pure:
		return 2 * estimator.ExchangeParts
	}
	// The factor follows from public facts other than the loss. One for which there is no estimator
	// is refused later, with the loss that it has.
	e, err := d.EstimatorOf(a, privacy.CostWithin(privacy.RhoCost, 1))
	if err != nil {
		return 4 * estimator.ExchangeParts
	}
	return estimator.ExchangeCost(e)
}

// Divided is the plan of an aggregate's loss: what a release on one group may cost.
type Divided struct {
	Exchange int // factor for the relation, in parts of 1/estimator.ExchangeParts
	groups   int // that one person may be in
}

// Divide returns how the loss of an aggregate is divided.
func (d *Aggregation) Divide(a *aggregate.Aggregate) Divided {
	if a.GroupVector {
		return Divided{estimator.ExchangeParts, 1}
	}
	return Divided{d.exchange(a), d.MaxGroups}
}

// Group is what the release on one group may cost, of the cost of all, rounded down.
func (v Divided) Group(all privacy.Cost) privacy.Cost {
	return all.Times(estimator.ExchangeParts).Over(v.Exchange * v.groups)
}

// All is the cost of all groups, of that of one, rounded up.
func (v Divided) All(group privacy.Cost) privacy.Cost {
	all := group.Times(v.Exchange * v.groups).Add(privacy.Cost{Kind: group.Kind, Units: estimator.ExchangeParts - 1})
	return all.Over(estimator.ExchangeParts)
}

// Slack is a group's part of a slack, which no exchange multiplies.
func (v Divided) Slack(all float64) float64 { return all / float64(v.groups) }

// LossOf is the loss of an aggregate whose estimator has the loss given for one group. An exchange
// doubles a pure ε and has four times its ρ, the same as of a mechanism that is not pure; no ρ is
// above the ε.
func (d *Aggregation) LossOf(a *aggregate.Aggregate, v Divided, one privacy.Loss) privacy.Loss {
	l := one.Times(v.Exchange * v.groups).Over(estimator.ExchangeParts)
	if d.Pure && !a.GroupVector && d.Exchanged() {
		l.Rho = min(l.Rho.Add(l.Rho), privacy.Rho(l.Pure)) // counted in the same units
	}
	return l
}

// Estimated is the neighbour relation that an aggregate's estimator is built for, and whether the
// number of persons that it works on is public.
func (d *Aggregation) Estimated(a *aggregate.Aggregate) (r estimator.Relation, sized bool) {
	if d.Exchanged() {
		return estimator.AddRemove, false
	}
	r = d.Neighbours()
	return r, r == estimator.ReplaceOne && d.Relation.Whole() && a.Always()
}

// CountPersons is the SELECT of Release.Persons, "" where no aggregate takes their number as
// public. Should always be wrong of a value, the number is still that of the table.
func (d *Aggregation) CountPersons() string {
	if slices.ContainsFunc(d.Aggregates, func(a *aggregate.Aggregate) bool { _, sized := d.Estimated(a); return sized }) {
		return d.Relation.CountPersons()
	}
	return ""
}
