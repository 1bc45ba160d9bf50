package accounting

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// SetBudget makes or replaces the budget of b's account and principal, durably. It changes nothing
// else: what is spent stays spent, whatever the new limit or window. SetAt and Order are set by the ledger.
func (l *Ledger) SetBudget(ctx context.Context, b Budget) error {
	if err := b.Check(); err != nil {
		return err
	}
	b.Order = b.orderFor()
	b.Window, _ = ParseWindow(string(b.Window)) // Check has parsed it: now in its one spelling
	return l.record(ctx, &record{kind: setBudgetRecord, principal: b.SetBy, budget: b})
}

// RemoveBudget removes the budget of an account and principal, durably. Spending stays on record, and
// counts again when a budget is set again. Removing All from a table's account closes it.
func (l *Ledger) RemoveBudget(ctx context.Context, account string, entity bool, principal, by string) error {
	b := Budget{Account: account, Entity: entity, Principal: principal}
	l.mu.Lock()
	fault, found := l.fault, l.state.budgets[b.holder()] != nil
	l.mu.Unlock()
	if fault != nil {
		return fault
	}
	if !found {
		return invalid("%s has no budget for %q", account, principal)
	}
	return l.record(ctx, &record{kind: removeBudgetRecord, principal: by, budget: b})
}

// ResetBudget makes one holder's spending in a budget start anew, durably: the only thing that ever refills. principal is the holder:
// All, RolePrefix and a role's name, or an account, which needs a budget of its own or the default one. What was spent stays on
// record, and in the sum of everything ever spent on an entity.
func (l *Ledger) ResetBudget(ctx context.Context, account string, entity bool, principal, by, reason string) error {
	b := Budget{Account: account, Entity: entity, Principal: principal, Reason: clip(reason)}
	l.mu.Lock()
	fault, found := l.fault, l.state.own(account, entity, principal) != nil
	l.mu.Unlock()
	switch {
	case fault != nil:
		return fault
	case principal == Default:
		return invalid("the default budget has a spending for each account: name the account")
	case !found:
		return invalid("%s has no budget for %q", account, principal)
	}
	return l.record(ctx, &record{kind: resetBudgetRecord, principal: by, budget: b})
}

// Budgets returns all budgets: tables' accounts first, by account, then All, Default, the roles, and the
// principals by name.
func (l *Ledger) Budgets() []Budget {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]Budget, 0, len(l.state.budgets))
	for _, b := range l.state.budgets {
		list = append(list, *b)
	}
	slices.SortFunc(list, compareBudgets)
	return list
}

func compareBudgets(a, b Budget) int {
	rank := func(p string) int {
		switch p {
		case All:
			return 0
		case Default:
			return 1
		}
		if strings.HasPrefix(p, RolePrefix) {
			return 2
		}
		return 3
	}
	if a.Entity != b.Entity {
		if b.Entity {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(rank(a.Principal), rank(b.Principal)),
		cmp.Compare(a.Principal, b.Principal))
}
