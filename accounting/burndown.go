package accounting

import "time"

// DaySpent is what one holder spent on one UTC day.
type DaySpent struct {
	Day   time.Time
	Spent Loss
}

// Burndown returns what a holder (All, RolePrefix and a role's name, or an account) spent on an account on each of the UTC days from
// the one of from to that of to, both included, days without spending left out. Resets do not show: it is what was spent.
func (l *Ledger) Burndown(account string, entity bool, principal string, from, to time.Time) []DaySpent {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.state.spent[holder{account, entity, principal}]
	if p == nil {
		return nil
	}
	var list []DaySpent
	for d, last := dayOf(from), min(dayOf(to), l.state.lastDay); d <= last; d++ {
		if t, ok := p.days[d]; ok {
			list = append(list, DaySpent{d.time(), t.loss()})
		}
	}
	return list
}
