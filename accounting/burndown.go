package accounting

import (
	"context"
	"slices"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/internal/state"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// DaySpent is what one holder spent on one UTC day.
type DaySpent struct {
	Day   time.Time
	Spent privacy.Loss
}

// Burndown returns what a holder (All, RolePrefix and a role's name, or an account) spent on an
// account on each of the UTC days from the one of from to that of to, both included, days without
// spending left out. Resets do not show: it is what was spent. Of one principal it reads the
// records; the others' sums are kept by day.
func (l *Ledger) Burndown(account string, entity bool, principal string, from, to time.Time) []DaySpent {
	h, first, last := state.Holder{Account: account, Entity: entity, Principal: principal}, budget.DateOf(from), budget.DateOf(to)
	days := l.spentByDay(h)
	if !h.ManyPay() {
		days = l.paidByDay(h, first)
	}
	var list []DaySpent
	for _, d := range days {
		if d.Day >= first && d.Day <= last {
			list = append(list, DaySpent{d.Day.Time(), d.Spent.Loss()})
		}
	}
	return list
}

func (l *Ledger) spentByDay(h state.Holder) []state.DaySpent {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.state.Spent[h]; p != nil {
		return slices.Clone(p.Days)
	}
	return nil
}

// paidByDay adds up the charges of a principal. They are few where many principals are, and one
// principal's chart is looked at seldom.
func (l *Ledger) paidByDay(h state.Holder, first budget.Date) []state.DaySpent {
	var days []state.DaySpent
	f := Filter{Principal: h.Principal, Account: h.Account, Kinds: []EntryKind{ChargeEntry}}
	if l.searchable(context.Background()) != nil {
		return nil
	}
	l.reading.RLock()
	f.AfterID = l.index.Before(first)
	l.reading.RUnlock()
	err := l.candidates(context.Background(), &f, readChunk, func(ids []uint32) (bool, error) {
		return true, l.records(ids, func(_ uint64, r *record.Record) {
			for i := range r.Charges {
				if c := &r.Charges[i]; c.Account == h.Account && c.Entity == h.Entity {
					days = state.AddDay(days, r.Day, &c.Loss)
				}
			}
		})
	})
	if err != nil {
		return nil
	}
	return days
}
