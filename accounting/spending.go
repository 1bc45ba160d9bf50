package accounting

import (
	"strings"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
)

// holder is who spends on what: a principal, a role with RolePrefix, or All, on one account.
type holder struct {
	account   string
	entity    bool
	principal string
}

// spending is what one holder has spent. As days never go back, one sum for each window is enough,
// whichever of them a budget has or gets; the first day of its period stands beside it.
type spending struct {
	ever  privacy.Amount // resets do not change it
	since [len(budget.Windows)]struct {
		first budget.Date
		privacy.Amount
	} // since the last reset
	days []daySpent // by day, for charts; resets do not change it; of All and of roles, whose records are many
}

type daySpent struct {
	day   budget.Date
	spent privacy.Tally
}

// spend adds what was spent in some of the windows that begin with s, and before the others.
func (p *spending) spend(s budget.Starts, in budget.InWindows, a *privacy.Amount) {
	p.ever.Plus(a)
	for i := range p.since {
		if !in[i] {
			continue
		}
		w := &p.since[i]
		if w.first != s[i] {
			w.first, w.Amount = s[i], privacy.Amount{}
		}
		w.Plus(a)
	}
}

// manyPay reports whether what a holder spends is what several principals do.
func (h holder) manyPay() bool {
	return h.principal == budget.All || strings.HasPrefix(h.principal, budget.RolePrefix)
}

// reset makes every window start anew.
func (p *spending) reset() {
	for i := range p.since {
		p.since[i].Amount = privacy.Amount{}
	}
}

// in returns what was spent in the window that holds day today, since the last reset.
func (p *spending) in(w budget.Window, today budget.Date) privacy.Amount {
	if p == nil {
		return privacy.Amount{}
	}
	if s := &p.since[w.Index()]; s.first == w.Start(today) {
		return s.Amount
	}
	return privacy.Amount{}
}
