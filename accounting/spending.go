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
	a.tally.plus(&b.tally)
	a.curve.plus(&b.curve)
}

// with returns the amount and, beside it, one charge of a loss of which nothing else is known.
func (a *amount) with(l Loss) *amount {
	sum := *a
	sum.plus(&amount{tallyOf(l), CurveOf(EventsOf(l))})
	return &sum
}

// times returns the sum of n amounts like a, n >= 1.
func (a *amount) times(n int) *amount {
	sum, power, first := amount{}, *a, true
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			if first {
				sum, first = power, false
			} else {
				sum.plus(&power)
			}
		}
		twice := power
		power.plus(&twice)
	}
	return &sum
}

// plus adds d to c.
func (c *Curve) plus(d *Curve) {
	c.rho = c.rho.Add(d.rho)
	if pure := len(d.other) - 1; d.other[pure] == 0 {
		return // no event has another divergence than α·ρ, as it would have a pure ε
	}
	for i := range d.other {
		c.other[i] = c.other[i].add(d.other[i])
	}
}

// starts are the first days of the windows that hold a day, in the order of windows.
type starts [4]day

// windows are all windows; a place in it stands for the window.
var windows = [len(starts{})]Window{Never, Day, Week, Month}

// inWindows says of each window whether something lies in it.
type inWindows [len(windows)]bool

// hold returns which of the windows hold d, which is not after the day that all hold.
func (s starts) hold(d day) (in inWindows) {
	for i, first := range s {
		in[i] = first <= d
	}
	return in
}

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

// spend adds what was spent in some of the windows that begin with s, and before the others.
func (p *spending) spend(s starts, in inWindows, a *amount) {
	p.ever.plus(a)
	for i := range p.since {
		if !in[i] {
			continue
		}
		w := &p.since[i]
		if w.first != s[i] {
			w.first, w.amount = s[i], amount{}
		}
		w.plus(a)
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
