package accounting

import (
	"scrim/accounting/budget"
	"scrim/accounting/internal/state"
)

// Pure reports whether what a principal spends on an account is tested against a budget with δ = 0:
// that of all principals, or the principal's own or default one, or that of one of the roles. Only
// charges with a pure ε fit there. What is charged to an entity by period is tested over all
// periods, too.
func (l *Ledger) Pure(account string, entity bool, principal string, roles ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pure(account, entity, principal, roles) || entity && l.pure(budget.OverPeriods(account), true, principal, roles)
}

func (l *Ledger) pure(account string, entity bool, principal string, roles []string) bool {
	all := l.state.Budgets[state.Holder{Account: account, Entity: entity, Principal: budget.All}]
	own := l.state.Own(account, entity, principal)
	for _, role := range roles {
		if b := l.state.Budgets[state.Holder{Account: account, Entity: entity, Principal: budget.RolePrefix + role}]; b.IsPure() {
			return true
		}
	}
	return all.IsPure() || own.IsPure()
}
