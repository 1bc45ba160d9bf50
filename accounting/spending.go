package accounting

import "strings"

// holder is who spends on what: a principal, a role with RolePrefix, or All, on one account.
type holder struct {
	account   string
	entity    bool
	principal string
}

// amount is a sum of losses: what is charged, and the curve of the events that it was charged for.
type amount struct {
	tally
	curve Curve
}

// plus adds b to a.
func (a *amount) plus(b *amount) {
	a.tally = a.tally.add(b.tally)
	a.curve.rho = a.curve.rho.Add(b.curve.rho)
	if pure := len(b.curve.other) - 1; b.curve.other[pure] == 0 {
		return // no event has another divergence than α·ρ, as it would have a pure ε
	}
	for i, d := range b.curve.other {
		a.curve.other[i] = a.curve.other[i].add(d)
	}
}

// starts are the first days of the windows that hold a day, in the order of windows.
type starts [4]day

// windows are all windows; a place in it stands for the window.
var windows = [len(starts{})]Window{Never, Day, Week, Month}

func startsOf(d day) (s starts) {
	for i, w := range windows {
		s[i] = w.start(d)
	}
	return s
}

func (w Window) index() int {
	for i, v := range windows {
		if v == w {
			return i
		}
	}
	return 0
}

// spending is what one holder has spent. As days never go back, one sum for each window is enough, whichever of them a budget has or
// gets; the first day of its period stands beside it.
type spending struct {
	ever  amount // resets do not change it
	since [len(windows)]struct {
		first day
		amount
	} // since the last reset
	days []daySpent // by day, for charts; resets do not change it; of All and of roles, whose records are many
}

type daySpent struct {
	day   day
	spent tally
}

// spend adds to the spending of a day, which begins s in each window.
func (p *spending) spend(d day, s starts, a *amount, byDay bool) {
	p.ever.plus(a)
	for i := range p.since {
		w := &p.since[i]
		if w.first != s[i] {
			w.first, w.amount = s[i], amount{}
		}
		w.plus(a)
	}
	if byDay {
		p.days = addDay(p.days, d, a.tally)
	}
}

// manyPay reports whether what a holder spends is what several principals do.
func (h holder) manyPay() bool {
	return h.principal == All || strings.HasPrefix(h.principal, RolePrefix)
}

// reset makes every window start anew.
func (p *spending) reset() {
	for i := range p.since {
		p.since[i].amount = amount{}
	}
}

// in returns what was spent in the window that holds day today, since the last reset.
func (p *spending) in(w Window, today day) amount {
	if p == nil {
		return amount{}
	}
	if s := &p.since[w.index()]; s.first == w.start(today) {
		return s.amount
	}
	return amount{}
}
