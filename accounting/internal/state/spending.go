package state

import (
	"strings"

	"scrim/accounting/budget"
	"scrim/accounting/days"
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
	// all charges but renewals, each once, whatever its blocks; resets do not change it
	Ever  privacy.Amount
	Since Since // of charges to every block
	// of charges to some blocks: stretches of days that such charges are for, in order, cut where
	// the stretch of any of them begins or ends
	Periods []Period
	// by day, as Ever, for charts; of All and of roles, whose records are many
	Days []DaySpent
}

// Since is what was spent in each window, since the last reset.
type Since [len(budget.Windows)]struct {
	First budget.Date
	privacy.Amount
}

// Period is what was spent on the blocks of a stretch of days, besides what was on every block.
type Period struct {
	days.Span
	Since Since
}

// DaySpent is what was spent on a day.
type DaySpent struct {
	Day   budget.Date
	Spent privacy.Tally
}

// Spend adds what was spent on some blocks, in some of the windows that begin with s. What is not
// in that of budget.Never was spent before: it renews what is.
func (p *Spending) Spend(on *days.Span, s budget.Starts, in budget.InWindows, a *privacy.Amount) {
	if in[budget.Never.Index()] {
		p.Ever.Plus(a)
	}
	if on = on.Whole(); on == nil {
		p.Since.spend(s, in, a)
		return
	}
	for i := range p.within(*on) {
		p.Periods[i].Since.spend(s, in, a)
	}
}

func (p *Since) spend(s budget.Starts, in budget.InWindows, a *privacy.Amount) {
	for i := range p {
		if !in[i] {
			continue
		}
		w := &p[i]
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
	p.Since.reset()
	for i := range p.Periods {
		p.Periods[i].Since.reset()
	}
}

func (p *Since) reset() {
	for i := range p {
		p[i].Amount = privacy.Amount{}
	}
}

// in returns what was spent in the window that holds day today.
func (p *Since) in(w budget.Window, today budget.Date) privacy.Amount {
	if s := &p[w.Index()]; s.First == w.Start(today) {
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
