package state

import (
	"strings"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// Holder is who spends on what: a principal, a role with RolePrefix, or All, on one account.
type Holder struct {
	Account   string
	Entity    bool
	Principal string
}

// Spending is what one holder has spent. As days never go back, one sum for each window is enough,
// whichever of them a budget has or gets; the first day of its period stands beside it.
type Spending struct {
	Ever  privacy.Amount // resets do not change it
	Since [len(budget.Windows)]struct {
		First budget.Date
		privacy.Amount
	} // since the last reset
	// by day, for charts; resets do not change it; of All and of roles, whose records are many
	Days []DaySpent
}

// DaySpent is what was spent on a day.
type DaySpent struct {
	Day   budget.Date
	Spent privacy.Tally
}

// Spend adds what was spent in some of the windows that begin with s, and before the others.
func (p *Spending) Spend(s budget.Starts, in budget.InWindows, a *privacy.Amount) {
	p.Ever.Plus(a)
	for i := range p.Since {
		if !in[i] {
			continue
		}
		w := &p.Since[i]
		if w.First != s[i] {
			w.First, w.Amount = s[i], privacy.Amount{}
		}
		w.Plus(a)
	}
}

// ManyPay reports whether what a holder spends is what several principals do.
func (h Holder) ManyPay() bool {
	return h.Principal == budget.All || strings.HasPrefix(h.Principal, budget.RolePrefix)
}

// reset makes every window start anew.
func (p *Spending) reset() {
	for i := range p.Since {
		p.Since[i].Amount = privacy.Amount{}
	}
}

// In returns what was spent in the window that holds day today, since the last reset.
func (p *Spending) In(w budget.Window, today budget.Date) privacy.Amount {
	if p == nil {
		return privacy.Amount{}
	}
	if s := &p.Since[w.Index()]; s.First == w.Start(today) {
		return s.Amount
	}
	return privacy.Amount{}
}

// AddDay adds a tally to the last day of the list, or to a later one.
func AddDay(days []DaySpent, d budget.Date, t *privacy.Tally) []DaySpent {
	if n := len(days); n == 0 || days[n-1].Day != d {
		days = append(days, DaySpent{Day: d})
	}
	days[len(days)-1].Spent.Plus(t)
	return days
}
