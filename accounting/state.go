package accounting

import (
	"errors"
	"strings"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// state is everything about budgets and spending that the records determine. It changes only by
// apply, and while opening by the parts of load, which do the same for many records at once.
type state struct {
	lastID  uint64
	lastDay budget.Date // never goes back
	starts  budget.Starts
	spent   map[holder]*spending
	budgets map[holder]*budget.Budget
}

func newState() *state {
	return &state{
		starts:  budget.StartsOf(0),
		spent:   map[holder]*spending{},
		budgets: map[holder]*budget.Budget{},
	}
}

// errDayBack says that a record is dated before the one it follows.
var errDayBack = errors.New("day goes back")

// apply books record number lastID+1. It refuses, and changes nothing, when the record cannot
// follow the ones before it.
func (s *state) apply(r *record) error {
	id := s.lastID + 1
	if err := r.follows(id); err != nil {
		return err
	}
	if err := s.advance(r.day); err != nil {
		return err
	}
	s.lastID = id
	switch r.kind {
	case chargeRecord:
		for i := range r.charges {
			c := &r.charges[i]
			a := c.amount()
			r.payers(func(who string) { s.spend(holder{c.account, c.entity, who}, a) })
		}
	case setBudgetRecord, removeBudgetRecord, resetBudgetRecord:
		s.change(r)
	}
	return nil
}

// follows checks what a record with that number says of others.
func (r *record) follows(id uint64) error {
	for _, o := range r.outcomes {
		if err := o.follows(id); err != nil {
			return err
		}
	}
	if r.kind == replayRecord && r.charge >= id {
		return errors.New("replay of a charge that does not exist")
	}
	return nil
}

// follows checks an outcome in a record with that number.
func (o outcomeOf) follows(id uint64) error {
	if o.charge == 0 || o.charge >= id {
		return errors.New("outcome of a charge that does not exist")
	}
	return nil
}

// payers calls f with everyone for whom a charge counts.
func (r *record) payers(f func(who string)) {
	f(budget.All)
	f(r.principal)
	for _, role := range r.roles {
		f(role)
	}
}

// advance moves to a day, which is the same or later.
func (s *state) advance(d budget.Date) error {
	switch {
	case d < s.lastDay:
		return errDayBack
	case d > s.lastDay:
		s.lastDay, s.starts = d, budget.StartsOf(d)
	}
	return nil
}

// spend books an amount on the last day.
func (s *state) spend(h holder, a *privacy.Amount) {
	p := s.of(h)
	p.spend(s.starts, budget.InWindows{true, true, true, true}, a)
	if h.manyPay() {
		p.days = addDay(p.days, s.lastDay, &a.Tally)
	}
}

// of returns what h has spent.
func (s *state) of(h holder) *spending {
	p := s.spent[h]
	if p == nil {
		p = &spending{}
		s.spent[h] = p
	}
	return p
}

// change books a record about a budget.
func (s *state) change(r *record) {
	h := holderOf(&r.budget)
	switch r.kind {
	case setBudgetRecord:
		b := r.budget
		s.budgets[h] = &b
	case removeBudgetRecord:
		delete(s.budgets, h)
	case resetBudgetRecord:
		if p := s.spent[h]; p != nil {
			p.reset()
		}
	}
}

func holderOf(b *budget.Budget) holder { return holder{b.Account, b.Entity, b.Principal} }

// own returns the budget that caps a principal by itself: their own, else the default, else nil.
// The default is for accounts: neither for All nor for a role.
func (s *state) own(account string, entity bool, principal string) *budget.Budget {
	b := s.budgets[holder{account, entity, principal}]
	if b != nil || principal == budget.All || strings.HasPrefix(principal, budget.RolePrefix) {
		return b
	}
	return s.budgets[holder{account, entity, budget.Default}]
}

// spentIn returns what h has spent in the window of b that holds day today.
func (s *state) spentIn(b *budget.Budget, h holder, today budget.Date) privacy.Amount {
	return s.spent[h].in(b.Window, today)
}
