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
// All tables of one entity have the same relation, and an aggregation touches tables of one entity.
// Under replace-one the number of units of a table is public, and one unit's rows are exchanged:
//
//   - An aggregate over the whole of one table, without groups, over a value that every row has,
//     knows its number of persons: it is Sized. With a condition, a join or a value that may be
//     absent, the unit may have entered or left what is aggregated: the number of persons is
//     private, and paid for.
//   - With groups, the unit may have left up to L groups and entered up to L others. Its estimators
//     run under add-remove: an exchange is one removal and one addition, so a loss of ρ under
//     add-remove is one of 4ρ under replace-one by group privacy [BS16, Proposition 27], δ being 0.
//     Each group gets a quarter. A pure ε is one of 2ε, and each group gets a half.
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

// Exchanged is the factor between the loss of the groups' estimators and that of the release.
func (d *Aggregation) Exchanged() int {
	switch {
	case d.Neighbours() != estimator.ReplaceOne || len(d.Keys) == 0:
		return 1
	case d.Pure:
		return 2
	}
	return 4
}

// LossOf is the loss of an aggregate whose estimator has the loss given for one part. An exchange
// doubles a pure ε and has four times its ρ, the same as of a mechanism that is not pure; no ρ is
// above the ε.
func (d *Aggregation) LossOf(a *aggregate.Aggregate, one privacy.Loss) privacy.Loss {
	l := one.Times(d.Parts(a))
	if d.Pure && !a.GroupVector && d.Exchanged() > 1 {
		l.Rho = min(l.Rho.Add(l.Rho), privacy.Rho(l.Pure)) // counted in the same units
	}
	return l
}

// Estimated is the neighbour relation that an aggregate's estimator is built for, and whether the
// number of persons that it works on is public.
func (d *Aggregation) Estimated(a *aggregate.Aggregate) (r estimator.Relation, sized bool) {
	if d.Exchanged() > 1 {
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
