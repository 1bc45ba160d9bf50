package state

import (
	"iter"
	"slices"
	"strings"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
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

// within goes through the places of the periods that make up a stretch, which are cut at both of
// its ends first.
func (p *Spending) within(on days.Span) iter.Seq[int] {
	if !p.isCut(on) {
		p.cut(on)
	}
	return func(yield func(int) bool) {
		for i := range p.Periods {
			if _, meets := p.Periods[i].Meet(on); meets && !yield(i) {
				return
			}
		}
	}
}

// isCut reports whether some of the periods make up a stretch.
func (p *Spending) isCut(on days.Span) bool {
	next := int64(on.First)
	for i := range p.Periods {
		x := p.Periods[i].Span
		if _, meets := x.Meet(on); !meets {
			continue
		}
		if int64(x.First) != next {
			return false
		}
		next = int64(x.Last) + 1
	}
	return next == int64(on.Last)+1
}

// cut cuts the periods at both ends of a stretch, and adds those of its days that are in none. The
// cuts that come of several stretches are the same in whatever order they come.
func (p *Spending) cut(on days.Span) {
	var list []Period
	add := func(first, last int64, since Since) {
		if first <= last {
			list = append(list, Period{days.Span{First: days.Day(first), Last: days.Day(last)}, since})
		}
	}
	from, to := int64(on.First), int64(on.Last)
	next := from // the first day of the stretch that is in no period of the list
	for _, x := range p.Periods {
		first, last := int64(x.First), int64(x.Last)
		if gap := min(first-1, to); last >= from {
			add(next, gap, Since{})
			next = max(next, gap+1)
		}
		add(first, min(last, from-1), x.Since)
		add(max(first, from), min(last, to), x.Since)
		add(max(first, to+1), last, x.Since)
		if last >= from {
			next = max(next, last+1)
		}
	}
	add(next, to, Since{})
	p.Periods = list
}

// Stretch is what was spent in a window on each block of a stretch of days.
type Stretch struct {
	days.Span
	Spent privacy.Amount
}

// Over returns what was spent in the window that holds day today on the blocks of a charge, since
// the last reset, in stretches that make up all of its days.
func (p *Spending) Over(on *days.Span, w budget.Window, today budget.Date) []Stretch {
	all := on.All()
	if p == nil {
		return []Stretch{{Span: all}}
	}
	every := p.Since.in(w, today)
	var list []Stretch
	next := int64(all.First)
	gap := func(before int64) {
		if next < before {
			list = append(list, Stretch{days.Span{First: days.Day(next), Last: days.Day(before - 1)}, every})
		}
	}
	for i := range p.Periods {
		m, ok := p.Periods[i].Meet(all)
		if !ok {
			continue
		}
		gap(int64(m.First))
		sum := every
		more := p.Periods[i].Since.in(w, today)
		sum.Plus(&more)
		list = append(list, Stretch{m, sum})
		next = int64(m.Last) + 1
	}
	gap(int64(all.Last) + 1)
	return list
}

// Before returns what h has spent when it comes to a charge behind others of one record, on the
// same account, on a day.
func (s *State) Before(h Holder, day budget.Date, others []record.Booked) *Spending {
	p, own := s.Spent[h], false
	for i := range others {
		c := &others[i]
		if c.Account != h.Account || c.Entity != h.Entity {
			continue
		}
		if !own {
			p, own = p.clone(), true
		}
		p.Spend(c.Blocks, budget.StartsOf(day), budget.StartsOf(day).Hold(day, c.Since), c.Amount())
	}
	return p
}

func (p *Spending) clone() *Spending {
	if p == nil {
		return &Spending{}
	}
	c := *p
	c.Periods = slices.Clone(p.Periods)
	return &c
}

// Heaviest returns the place of the stretch with the most ρ, and of those the most ε: what is shown
// where one number stands for several blocks.
func Heaviest(list []Stretch) int {
	at := 0
	for i := range list {
		if a, b := &list[i].Spent, &list[at].Spent; a.Rho > b.Rho || a.Rho == b.Rho && a.Pure > b.Pure {
			at = i
		}
	}
	return at
}
