package accounting

import (
	"context"
	"slices"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
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
	h, first, last := holder{account, entity, principal}, budget.DateOf(from), budget.DateOf(to)
	days := l.spentByDay(h)
	if !h.manyPay() {
		days = l.paidByDay(h, first)
	}
	var list []DaySpent
	for _, d := range days {
		if d.day >= first && d.day <= last {
			list = append(list, DaySpent{d.day.Time(), d.spent.Loss()})
		}
	}
	return list
}

func (l *Ledger) spentByDay(h holder) []daySpent {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.state.spent[h]; p != nil {
		return slices.Clone(p.days)
	}
	return nil
}

// paidByDay adds up the charges of a principal. They are few where many principals are, and one
// principal's chart is looked at seldom.
func (l *Ledger) paidByDay(h holder, first budget.Date) []daySpent {
	var days []daySpent
	f := Filter{Principal: h.principal, Account: h.account, Kinds: []EntryKind{ChargeEntry}}
	if l.searchable(context.Background()) != nil {
		return nil
	}
	l.reading.RLock()
	f.AfterID = l.index.before(first)
	l.reading.RUnlock()
	err := l.candidates(context.Background(), &f, readChunk, func(ids []uint32) (bool, error) {
		return true, l.records(ids, func(_ uint64, r *record) {
			for i := range r.charges {
				if c := &r.charges[i]; c.account == h.account && c.entity == h.entity {
					days = addDay(days, r.day, &c.loss)
				}
			}
		})
	})
	if err != nil {
		return nil
	}
	return days
}

// addDay adds a tally to the last day of the list, or to a later one.
func addDay(days []daySpent, d budget.Date, t *privacy.Tally) []daySpent {
	if n := len(days); n == 0 || days[n-1].day != d {
		days = append(days, daySpent{day: d})
	}
	days[len(days)-1].spent.Plus(t)
	return days
}
