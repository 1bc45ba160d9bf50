package planner

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/accounting/privacy"
	"scrim/catalog"
	"scrim/engine/estimator"
	"scrim/internal/refuse"
	"scrim/planner/rel"
)

// A statement is pure when it touches a table on the pure account: what the principal spends on the table, or on its entity, is tested
// against a budget with δ = 0. Only charges with a pure ε fit there, so the whole statement is planned with pure mechanisms: it costs
// dp_epsilon, divided among the aggregates as ρ is elsewhere, and dp_delta plays no part. Everything that has no pure mechanism is
// refused by name. The ledger's filter decides again when the charge is made: should a budget have changed in between, a charge
// that is not pure does not fit.

// pureTable returns the first of the tables named, and of those that they are linked to, that is on the pure account, "" where there
// is none: a table is charged with its parents.
func (p *Planner) pureTable(ctx *sql.Context, c catalog.Reader, names []string) string {
	if p.config.Pure == nil {
		return ""
	}
	for _, name := range names {
		for range rel.MaxLinkDepth {
			t := c.Table(name)
			if p.config.Pure(ctx, t.Account, false) || p.config.Pure(ctx, t.Entity, true) {
				return name
			}
			if t.Unit.Link == nil {
				break
			}
			name = t.Unit.Link.Parent
		}
	}
	return ""
}

// isPure reports whether the statement is planned with pure mechanisms only.
func (s *statement) isPure() bool { return s.pureTable != "" }

// kind is what the statement's costs are numbers of.
func (s *statement) kind() privacy.CostKind {
	if s.isPure() {
		return privacy.PureCost
	}
	return privacy.RhoCost
}

// cost is a cost of the statement's kind.
func (s *statement) cost(units uint64) privacy.Cost {
	return privacy.Cost{Kind: s.kind(), Units: units}
}

// notRho refuses a cost stated as ρ on the pure account.
func (s *statement) notRho(what string) error {
	return deny(RulePure, refuse.Parameter, "State the cost as an epsilon: SET dp_epsilon, or the option epsilon; dp_rho must be unset.",
		"%s states a cost in zCDP, and %s is on the pure account (delta 0), where a cost is an epsilon.", what, s.pureTable)
}

// notSelected refuses the private selection of group keys on the pure account: whether a key is shown that one person alone has
// cannot be ε-DP.
func (s *statement) notSelected() error {
	return deny(RulePure, refuse.GroupKeys, "A DBA makes the keys public with CALL dp_set_domain(table, column, '[…]').",
		"The group keys are private, and %s is on the pure account (delta 0), where no key can be selected: that takes a delta.", s.pureTable)
}

// notPure refuses an aggregate that has no pure mechanism.
func (s *statement) notPure(a *aggregate) error {
	what, remedy := a.call.NotPure()
	return deny(RulePure, refuse.Aggregate, remedy, "%s has no pure mechanism, and %s is on the pure account (delta 0).", what, s.pureTable)
}

// unbuilt says why an aggregate has no estimator: the error of its constructor.
func (s *statement) unbuilt(a *aggregate, err error) error {
	if s.isPure() && errors.Is(err, estimator.ErrNotPure) {
		return s.notPure(a)
	}
	return optioned(err)
}
