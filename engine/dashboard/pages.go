package dashboard

import (
	"math"
	"net/http"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/catalog"
)

// How much a page shows.
const (
	cards       = 12
	looked      = 100
	latest      = 10
	pageEntries = 50
	chartHours  = 24
)

// Rates count statements over the hours that a page shows.
type Rates struct {
	Hours                                []Hour
	Statements, Private, Refused, Failed int
	Charged, Replayed                    int
	// when counting began, if that is within the hours; else zero
	Since      time.Time
	ReplayRate float64 // of the releases, NaN where there were none
}

// Chart draws the hours at the width of a card, Large at that of a page.
func (r Rates) Chart() *Chart { return hoursChart(r.Hours, false) }

// Large draws them at the width of a page.
func (r Rates) Large() *Chart { return hoursChart(r.Hours, true) }

func (d *Dashboard) rates(now time.Time) Rates {
	r := Rates{Hours: d.o.Recent.Hours(now, chartHours), ReplayRate: math.NaN()}
	for _, h := range r.Hours {
		r.Statements += h.Answered + h.Refused + h.Failed
		r.Private, r.Refused, r.Failed = r.Private+h.Private, r.Refused+h.Refused, r.Failed+h.Failed
		r.Charged, r.Replayed = r.Charged+h.Charged, r.Replayed+h.Replayed
	}
	if n := r.Charged + r.Replayed; n > 0 {
		r.ReplayRate = float64(r.Replayed) / float64(n)
	}
	if d.o.Recent.since.After(r.Hours[0].Start) {
		r.Since = d.o.Recent.since
	}
	return r
}

// overviewPage is the data of the first page.
type overviewPage struct {
	Lines    []Line
	More     int
	Closed   []catalog.Table
	Rates    Rates
	Spenders []Spender
	Charges  []Charged
	Causes   []Why
	Refusals []Unanswered
	Pressing int // budgets that are used up or will not last
	NotReady error
	Warnings []string
}

func (d *Dashboard) overview(r *http.Request, _ Viewer) (string, any, error) {
	f, err := d.facts(r.Context())
	if err != nil {
		return "", nil, err
	}
	p := overviewPage{Closed: f.closed(), Rates: d.rates(f.now), Causes: d.causes()}
	server := d.o.Server()
	p.NotReady, p.Warnings = server.NotReady, server.Warnings
	total := func(b *accounting.BudgetStatus) bool { return b.Holder == budget.All }
	if p.Lines, p.More, err = f.lines(cards, total); err != nil {
		return "", nil, err
	}
	if p.Pressing, err = f.pressing(); err != nil {
		return "", nil, err
	}
	if p.Spenders, err = f.spenders(latest, "", total); err != nil {
		return "", nil, err
	}
	p.Charges, err = f.entries(accounting.Filter{Kinds: []accounting.EntryKind{accounting.ChargeEntry}, Descending: true, Limit: latest})
	p.Refusals = d.unanswered(latest, refused)
	return "overview.html", p, err
}

// pressing counts the budgets that are used up or will not last, those of principals and roles
// among them. Of very many, those of the largest share are looked at.
func (f *facts) pressing() (n int, err error) {
	lines, _, err := f.lines(looked, func(b *accounting.BudgetStatus) bool { return b.Holder != budget.Default })
	for _, l := range lines {
		if l.Level == UsedUp || l.Level == Pressed {
			n++
		}
	}
	return n, err
}

func (d *Dashboard) server(r *http.Request, _ Viewer) (string, any, error) {
	now := d.o.Now().UTC()
	s := d.o.Server()
	return "server.html", serverPage{s, now.Sub(s.Started), d.rates(now)}, nil
}

type serverPage struct {
	Server
	Uptime time.Duration
	Rates  Rates
}
