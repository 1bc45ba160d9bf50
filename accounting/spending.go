package accounting

import (
	"strings"

	"scrim/accounting/privacy"
)

// holder is who spends on what: a principal, a role with RolePrefix, or All, on one account.
type holder struct {
	account   string
	entity    bool
	principal string
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
	ever  privacy.Amount // resets do not change it
	since [len(windows)]struct {
		first day
		privacy.Amount
	} // since the last reset
	days []daySpent // by day, for charts; resets do not change it; of All and of roles, whose records are many
}

type daySpent struct {
	day   day
	spent privacy.Tally
}

// spend adds what was spent in some of the windows that begin with s, and before the others.
func (p *spending) spend(s starts, in inWindows, a *privacy.Amount) {
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
	return h.principal == All || strings.HasPrefix(h.principal, RolePrefix)
}

// reset makes every window start anew.
func (p *spending) reset() {
	for i := range p.since {
		p.since[i].Amount = privacy.Amount{}
	}
}

// in returns what was spent in the window that holds day today, since the last reset.
func (p *spending) in(w Window, today day) privacy.Amount {
	if p == nil {
		return privacy.Amount{}
	}
	if s := &p.since[w.index()]; s.first == w.start(today) {
		return s.Amount
	}
	return privacy.Amount{}
}
