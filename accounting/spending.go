package accounting

// holder is who spends on what: a principal, a role with RolePrefix, or All, on one account.
type holder struct {
	account   string
	entity    bool
	principal string
}

// counter is a holder's spending of one day: what the file keeps, beside the records.
type counter struct {
	holder
	day day
}

// amount is a sum of losses: what is charged, and the curve of the events that it was charged for.
type amount struct {
	tally
	curve Curve
}

func (a amount) add(b amount) amount { return amount{a.tally.add(b.tally), a.curve.Add(b.curve)} }

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
	day   day    // the last one with spending
	today tally  // on that day; resets do not change it
	since [len(windows)]struct {
		first day
		amount
	} // since the last reset
}

// spend adds to the spending of a day, which begins s in each window.
func (p *spending) spend(d day, s starts, a amount) {
	if p.day != d {
		p.day, p.today = d, tally{}
	}
	p.ever, p.today = p.ever.add(a), p.today.add(a.tally)
	for i := range p.since {
		w := &p.since[i]
		if w.first != s[i] {
			w.first, w.amount = s[i], amount{}
		}
		w.amount = w.amount.add(a)
	}
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
