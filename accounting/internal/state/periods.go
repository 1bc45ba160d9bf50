package state

import (
	"iter"
	"slices"

	"scrim/accounting/budget"
	"scrim/accounting/days"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

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
