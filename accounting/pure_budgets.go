package accounting

// Pure reports whether what a principal spends on an account is tested against a budget with δ = 0: that of all principals, or the
// principal's own or default one, or that of one of the roles. Only charges with a pure ε fit there.
func (l *Ledger) Pure(account string, entity bool, principal string, roles ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.state.budgets[holder{account, entity, All}]
	own := l.state.own(account, entity, principal)
	for _, role := range roles {
		if b := l.state.budgets[holder{account, entity, RolePrefix + role}]; b.isPure() {
			return true
		}
	}
	return all.isPure() || own.isPure()
}

// isPure reports whether only charges with a pure ε fit a budget. One in ρ with δ = 0 takes every charge without slack.
func (b *Budget) isPure() bool { return b != nil && b.Rho == 0 && b.Delta == 0 }
