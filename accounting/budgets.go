package accounting

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"scrim/accounting/budget"
	"scrim/accounting/internal/invalid"
	"scrim/accounting/internal/state"
	"scrim/accounting/record"
)

// SetBudget makes or replaces the budget of b's account and principal, durably. It changes nothing
// else: what is spent stays spent, whatever the new limit or window. SetAt and Order are set by the
// ledger.
func (l *Ledger) SetBudget(ctx context.Context, b budget.Budget) error {
	if err := b.Check(); err != nil {
		return err
	}
	if err := l.countsPersons(ctx, &b); err != nil {
		return err
	}
	if b.Order = b.ChooseOrder(); b.Gaussian && b.Order == 0 {
		return invalid.New("a gaussian account wants a smaller epsilon or a larger delta, have %v and %v", float64(b.Epsilon), float64(b.Delta))
	}
	// Check has parsed it: now in its one spelling
	b.Window, _ = budget.ParseWindow(string(b.Window))
	return l.record(ctx, &record.Record{Kind: record.SetBudget, Principal: b.SetBy, Budget: b})
}

// countsPersons refuses a budget over all periods of an entity where not every charge on the entity
// says what it counts there: earlier programs did not.
func (l *Ledger) countsPersons(ctx context.Context, b *budget.Budget) error {
	entity, ok := budget.OfPersons(b.Account)
	if !ok || !b.Entity {
		return nil
	}
	f := Filter{Account: entity, Kinds: []EntryKind{ChargeEntry}}
	all, _, err := l.Count(ctx, f)
	f.Account = b.Account
	if counted, _, e := l.Count(ctx, f); err == nil && e == nil && counted < all {
		return invalid.New("%d of %d charges on the entity do not say what a person loses by them over all periods", all-counted, all)
	} else if err == nil {
		err = e
	}
	return err
}

// RemoveBudget removes the budget of an account and principal, durably. Spending stays on record,
// and counts again when a budget is set again. Removing All from a table's account closes it.
func (l *Ledger) RemoveBudget(ctx context.Context, account string, entity bool, principal, by string) error {
	b := budget.Budget{Account: account, Entity: entity, Principal: principal}
	l.mu.Lock()
	fault, found := l.fault, l.state.Budgets[state.HolderOf(&b)] != nil
	l.mu.Unlock()
	if fault != nil {
		return fault
	}
	if !found {
		return invalid.New("%s has no budget for %q", account, principal)
	}
	return l.record(ctx, &record.Record{Kind: record.RemoveBudget, Principal: by, Budget: b})
}

// ResetBudget makes one holder's spending in a budget start anew, durably: the only thing that ever
// refills. principal is the holder: All, RolePrefix and a role's name, or an account, which needs a
// budget of its own or the default one. What was spent stays on record, and in the sum of
// everything ever spent on an entity.
func (l *Ledger) ResetBudget(ctx context.Context, account string, entity bool, principal, by, reason string) error {
	b := budget.Budget{Account: account, Entity: entity, Principal: principal, Reason: budget.Clip(reason)}
	l.renewing.Lock()
	defer l.renewing.Unlock()
	l.mu.Lock()
	fault, found := l.fault, l.state.Own(account, entity, principal) != nil
	l.mu.Unlock()
	switch {
	case fault != nil:
		return fault
	case principal == budget.Default:
		return invalid.New("the default budget has a spending for each account: name the account")
	case !found:
		return invalid.New("%s has no budget for %q", account, principal)
	}
	return l.record(ctx, &record.Record{Kind: record.ResetBudget, Principal: by, Budget: b})
}

// Budgets returns all budgets: tables' accounts first, by account, then All, Default, the roles,
// and the principals by name.
func (l *Ledger) Budgets() []budget.Budget {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]budget.Budget, 0, len(l.state.Budgets))
	for _, b := range l.state.Budgets {
		list = append(list, *b)
	}
	slices.SortFunc(list, budget.Compare)
	return list
}

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

// CountAsSpent charges every account as much as its budget of all principals allows, whatever is
// spent already: then nothing fits any more, for nobody, before the window ends or the budget is
// reset. It is for a ledger that is taken although charges are missing from it.
func (l *Ledger) CountAsSpent(ctx context.Context, by, reason string) error {
	if err := budget.CheckName("principal", by); err != nil {
		return err
	}
	var charges []Charge
	for _, b := range l.Budgets() {
		if b.Principal == budget.All {
			charges = append(charges, Charge{Account: b.Account, Entity: b.Entity, Table: b.Account, Loss: b.Whole()})
		}
	}
	if len(charges) == 0 {
		return nil
	}
	r := &record.Record{Kind: record.Charge, Principal: by, Statement: budget.Clip(reason), Weighed: make(chan struct{}), Charges: merge(charges)}
	close(r.Weighed)
	return l.record(ctx, r)
}

// Renewed returns the last charge for what record first has paid for: that one, or a renewal.
// ErrArchived says that the ledger's file does not have it.
func (l *Ledger) Renewed(ctx context.Context, first uint64) (Entry, error) {
	f := Filter{Digest: fmt.Sprint(renewal, first), Kinds: []EntryKind{ChargeEntry}, Descending: true, Limit: 1}
	list, err := l.Entries(ctx, f)
	if err == nil && len(list) == 0 {
		f.Digest, f.AfterID, f.BeforeID = "", first-1, first+1
		list, err = l.Entries(ctx, f)
	}
	if len(list) == 0 {
		return Entry{}, cmp.Or(err, ErrArchived)
	}
	return list[0], err
}

// Renew makes the charge of record first again, for a further part of what it has paid for, as
// Reserve does: for the same principal and roles, in the windows that began after the last charge,
// Renewed; in all windows on an account of which a budget was reset since. Where it would count in
// none nothing is charged, and the receipt is zero.
func (l *Ledger) Renew(ctx context.Context, first uint64) (Receipt, error) {
	l.renewing.Lock()
	defer l.renewing.Unlock()
	last, err := l.Renewed(ctx, first)
	resets, e := l.Entries(ctx, Filter{Kinds: []EntryKind{ResetBudgetEntry}, AfterID: last.ID})
	if err = cmp.Or(err, e); err != nil {
		return Receipt{}, err
	}
	r := &record.Record{
		Kind: record.Charge, Principal: last.Principal, Weighed: make(chan struct{}), Statement: last.Statement,
		Digest: fmt.Sprint(renewal, first), Mechanisms: last.Mechanisms, Roles: roleHolders(last.Roles),
	}
	for _, c := range last.Charges {
		b := merge([]Charge{c.Charge})[0]
		if !slices.ContainsFunc(resets, func(e Entry) bool { return e.Budget.Account == c.Account && e.Budget.Entity == c.Entity }) {
			b.Since = last.Day
		}
		r.Charges = append(r.Charges, b)
	}
	return l.grant(ctx, r)
}
