package aggregate

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/estimator"
	"scrim/functions"
	"scrim/internal/refuse"
	"scrim/planner/rel"
	"scrim/planner/rule"
)

// owned notes whom the rows of an aggregate belong to, and refuses what has no answer on rows that
// belong to several persons: numbers of persons and of values, spreads, ranks and vectors.
func (s *Binder) owned(r *rel.Relation, a *Aggregate, e sql.Aggregation) error {
	f := a.Call.Function
	if !r.Shared() {
		if a.Call.Options.Has("cap") {
			return rule.Deny(rule.Option, refuse.Option, "Leave it out: what one person counts for is bounded privately.",
				"The option cap of %s is for rows that belong to two persons, as those of a join off the unit.", f.Name)
		}
		return nil
	}
	owners := r.Owners()
	if a.Call.Owners = functions.OneEntity; owners[0].Entity != owners[1].Entity {
		a.Call.Owners = functions.TwoEntities
	}
	if !a.Call.Shares() || a.Vector != nil {
		return rule.Deny(rule.OwnersAggregate, refuse.Aggregate, "Use COUNT(*), COUNT(x), SUM(x) or AVG(x); or join on the unit, so that a row belongs to one person.",
			"%s has no private form over rows that belong to two persons, of %s.", aggregateText(e), r.PrivateNames())
	}
	return nil
}

// Paired reports whether the aggregate reads pairs of what its rows belong to.
func (a *Aggregate) Paired() bool { return slices.Equal(a.Kinds, []estimator.Kind{estimator.Pair}) }
