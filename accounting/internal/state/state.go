// Package state is what the records determine: budgets, and what each holder has spent, by window
// and by day. A state changes only by records, one by one, or many at once from a part; its
// encoding is what checkpoints and archives seal.
package state

import (
	"errors"
	"strings"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// State is everything about budgets and spending that the records determine. It changes only by
// apply, and while opening by the parts of load, which do the same for many records at once.
type State struct {
	LastID  uint64
	LastDay budget.Date // never goes back
	Starts  budget.Starts
	Spent   map[Holder]*Spending
	Budgets map[Holder]*budget.Budget
}

// New returns the state before the first record.
func New() *State {
	return &State{
		Starts:  budget.StartsOf(0),
		Spent:   map[Holder]*Spending{},
		Budgets: map[Holder]*budget.Budget{},
	}
}

// ErrDayBack says that a record is dated before the one it follows.
var ErrDayBack = errors.New("day goes back")

// Apply books record number lastID+1. It refuses, and changes nothing, when the record cannot
// follow the ones before it.
func (s *State) Apply(r *record.Record) error {
	id := s.LastID + 1
	if err := r.Follows(id); err != nil {
		return err
	}
	if err := s.advance(r.Day); err != nil {
		return err
	}
	s.LastID = id
	switch r.Kind {
	case record.Charge:
		for i := range r.Charges {
			c := &r.Charges[i]
			a := c.Amount()
			r.Payers(func(who string) { s.spend(Holder{c.Account, c.Entity, who}, c, a) })
		}
	case record.SetBudget, record.RemoveBudget, record.ResetBudget:
		s.Change(r)
	}
	return nil
}

// advance moves to a day, which is the same or later.
func (s *State) advance(d budget.Date) error {
	switch {
	case d < s.LastDay:
		return ErrDayBack
	case d > s.LastDay:
		s.LastDay, s.Starts = d, budget.StartsOf(d)
	}
	return nil
}

// spend books an amount on the last day.
func (s *State) spend(h Holder, c *record.Booked, a *privacy.Amount) {
	p := s.Of(h)
	p.Spend(c.Blocks, s.Starts, s.Starts.Hold(s.LastDay, c.Since), a)
	if h.ManyPay() && c.Since == 0 {
		p.Days = AddDay(p.Days, s.LastDay, &a.Tally)
	}
}

// Of returns what h has spent.
func (s *State) Of(h Holder) *Spending {
	p := s.Spent[h]
	if p == nil {
		p = &Spending{}
		s.Spent[h] = p
	}
	return p
}

// Change books a record about a budget.
func (s *State) Change(r *record.Record) {
	h := HolderOf(&r.Budget)
	switch r.Kind {
	case record.SetBudget:
		b := r.Budget
		s.Budgets[h] = &b
	case record.RemoveBudget:
		delete(s.Budgets, h)
	case record.ResetBudget:
		if p := s.Spent[h]; p != nil {
			p.reset()
		}
	}
}

// HolderOf returns whose budget b is.
func HolderOf(b *budget.Budget) Holder { return Holder{b.Account, b.Entity, b.Principal} }

// Own returns the budget that caps a principal by itself: their own, else the default, else nil.
// The default is for accounts: neither for All nor for a role.
func (s *State) Own(account string, entity bool, principal string) *budget.Budget {
	b := s.Budgets[Holder{account, entity, principal}]
	if b != nil || principal == budget.All || strings.HasPrefix(principal, budget.RolePrefix) {
		return b
	}
	return s.Budgets[Holder{account, entity, budget.Default}]
}

// Caps returns the budgets that cap what a principal with some roles spends on an account: that of
// all principals, those of the roles, and the principal's own or the default one.
func (s *State) Caps(account string, entity bool, principal string, roles []string) (list []*budget.Budget) {
	for _, who := range append([]string{budget.All}, roles...) {
		if b := s.Budgets[Holder{account, entity, who}]; b != nil {
			list = append(list, b)
		}
	}
	if b := s.Own(account, entity, principal); b != nil {
		list = append(list, b)
	}
	return list
}
