package settings

import (
	"scrim/accounting/privacy"
	"scrim/internal/params"
	"scrim/internal/refuse"
	"scrim/planner/rule"
)

// A statement is pure when it touches a table on the pure account: what the principal spends on the
// table, or on its entity, is tested against a budget with δ = 0. Only charges with a pure ε fit
// there, so the whole statement is planned with pure mechanisms: it costs dp_epsilon, divided among
// the aggregates as ρ is elsewhere, and dp_delta plays no part. Everything that has no pure
// mechanism is refused by name. The ledger's filter decides again when the charge is made: should a
// budget have changed in between, a charge that is not pure does not fit.

// IsPure reports whether the statement is planned with pure mechanisms only.
func (s *Settings) IsPure() bool { return s.PureTable != "" }

// Kind is what the statement's costs are numbers of.
func (s *Settings) Kind() privacy.CostKind {
	if s.IsPure() {
		return privacy.PureCost
	}
	return privacy.RhoCost
}

// Cost is a cost of the statement's kind.
func (s *Settings) Cost(units uint64) privacy.Cost {
	return privacy.Cost{Kind: s.Kind(), Units: units}
}

// NotRho refuses a cost stated as ρ on the pure account.
func (s *Settings) NotRho(what string) error {
	return rule.Deny(rule.Pure, refuse.Parameter, "State the cost as an epsilon: SET dp_epsilon, or the option epsilon; dp_rho must be unset.",
		"%s states a cost in zCDP, and %s is on the pure account (delta 0), where a cost is an epsilon.", what, s.PureTable)
}

// NotSelected refuses the private selection of group keys on the pure account: whether a key is
// shown that one person alone has cannot be ε-DP.
func (s *Settings) NotSelected() error {
	return rule.Deny(rule.Pure, refuse.GroupKeys, "A DBA makes the keys public with CALL dp_set_domain(table, column, '[…]').",
		"The group keys are private, and %s is on the pure account (delta 0), where no key can be selected: that takes a delta.", s.PureTable)
}

// CostWord names what the statement's costs are.
func (s *Settings) CostWord() string {
	if s.IsPure() {
		return params.Epsilon.Option
	}
	return params.Rho.Option
}
