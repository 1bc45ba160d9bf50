package dashboard

import (
	"cmp"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/watch"
)

// How much a page shows.
const (
	cards       = 12
	latest      = 10
	pageEntries = 50
	chartHours  = 24
)

// Rates count statements over the hours that a page shows.
type Rates struct {
	Hours                                []Hour
	Statements, Private, Refused, Failed int
	Charged, Replayed                    int
	Since                                time.Time // when counting began, if that is within the hours; else zero
	ReplayRate                           float64   // of the releases, NaN where there were none
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
}

func (d *Dashboard) overview(r *http.Request) (string, any, error) {
	f, err := d.facts(r.Context())
	if err != nil {
		return "", nil, err
	}
	p := overviewPage{Closed: f.closed(), Rates: d.rates(f.now), Causes: d.causes(), NotReady: d.o.Server().NotReady}
	total := func(b *accounting.BudgetStatus) bool { return b.Holder == accounting.All }
	if p.Lines, p.More, err = f.lines(cards, total); err != nil {
		return "", nil, err
	}
	for _, l := range p.Lines {
		if l.Level == UsedUp || l.Level == Pressed {
			p.Pressing++
		}
	}
	if p.Spenders, err = f.spenders(latest, "", total); err != nil {
		return "", nil, err
	}
	p.Charges, err = f.entries(accounting.Filter{Kinds: []accounting.EntryKind{accounting.ChargeEntry}, Descending: true, Limit: latest})
	p.Refusals = d.unanswered(latest, refused)
	return "overview.html", p, err
}

// tableRow is a table in the list of tables.
type tableRow struct {
	catalog.Table
	Link string
	Line *Line // its total budget; nil where there is none
}

type tablesPage struct {
	Protected []tableRow
	Public    []catalog.Table
	Entities  []accounting.EntityStatus
}

func (d *Dashboard) tables(r *http.Request) (string, any, error) {
	f, err := d.facts(r.Context())
	if err != nil {
		return "", nil, err
	}
	p := tablesPage{Entities: f.status.Entities}
	for _, t := range f.tables {
		switch t.State {
		case catalog.Public:
			p.Public = append(p.Public, t)
		case catalog.Protected:
			row := tableRow{Table: t, Link: "/tables/" + segment(t.Account)}
			if b := f.total(t.Account, false); b != nil {
				l, err := f.line(*b)
				if err != nil {
					return "", nil, err
				}
				row.Line = &l
			}
			p.Protected = append(p.Protected, row)
		}
	}
	return "tables.html", p, nil
}

// budgetsPage is the data of the page of a table or an entity.
type budgetsPage struct {
	Title    string
	Tables   []catalog.Table
	Entity   *accounting.EntityStatus // of an entity; of a table the one it belongs to
	IsEntity bool
	Total    *Line
	Outlook  *Outlook
	Default  *Line // the budget of each principal without one of their own
	Others   []Line
	More     int
	Spenders []Spender
	Charges  []Charged
	Refusals []Unanswered
	Ledger   string // the link to its entries
}

func (d *Dashboard) table(r *http.Request) (string, any, error) {
	f, err := d.facts(r.Context())
	if err != nil {
		return "", nil, err
	}
	account := r.PathValue("account")
	p := budgetsPage{Title: f.name(account), Ledger: "/ledger?account=" + url.QueryEscape(account)}
	for _, t := range f.tables {
		if t.Account == account {
			p.Tables = append(p.Tables, t)
		}
	}
	for i := range f.status.Entities {
		if e := &f.status.Entities[i]; slices.Contains(e.Tables, account) {
			p.Entity = e
		}
	}
	if err := f.fill(&p, account, false); err != nil {
		return "", nil, err
	}
	if len(p.Tables) == 0 && p.Total == nil && len(p.Charges) == 0 {
		return "", nil, errNotFound
	}
	names := f.names[account]
	p.Refusals = d.unanswered(latest, func(e *watch.Event) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(e.Tables, name) || namesTable(e, name) })
	})
	return "budgets.html", p, nil
}

func (d *Dashboard) entity(r *http.Request) (string, any, error) {
	f, err := d.facts(r.Context())
	if err != nil {
		return "", nil, err
	}
	name := r.PathValue("entity")
	p := budgetsPage{Title: "entity " + name, IsEntity: true, Ledger: "/ledger?account=" + url.QueryEscape(name)}
	for i := range f.status.Entities {
		if e := &f.status.Entities[i]; e.Entity == name {
			p.Entity = e
		}
	}
	for _, t := range f.tables {
		if t.Entity == name && t.State == catalog.Protected {
			p.Tables = append(p.Tables, t)
		}
	}
	if err := f.fill(&p, name, true); err != nil {
		return "", nil, err
	}
	if p.Entity == nil && p.Total == nil {
		return "", nil, errNotFound
	}
	return "budgets.html", p, nil
}

// fill adds what is known of an account.
func (f *facts) fill(p *budgetsPage, account string, entity bool) (err error) {
	mine := func(b *accounting.BudgetStatus) bool { return b.Account == account && b.Entity == entity }
	if b := f.total(account, entity); b != nil {
		l, err := f.line(*b)
		if err != nil {
			return err
		}
		l.Link = ""
		p.Total = &l
	}
	p.Others, p.More, err = f.lines(cards, func(b *accounting.BudgetStatus) bool {
		return mine(b) && b.Holder != accounting.All && b.Holder != accounting.Default
	})
	if err != nil {
		return err
	}
	for i := range p.Others {
		p.Others[i].Title, p.Others[i].Link = p.Others[i].Whose, ""
		if h := p.Others[i].Budget.Holder; isAccount(h) {
			p.Others[i].Link = "/analysts/" + segment(h)
		}
	}
	for i := range f.status.Budgets {
		if b := &f.status.Budgets[i]; mine(b) && b.Holder == accounting.Default {
			l, err := f.line(*b)
			if err != nil {
				return err
			}
			p.Default = &l
		}
	}
	if p.Spenders, err = f.spenders(latest, "", mine); err != nil {
		return err
	}
	p.Charges, err = f.entries(accounting.Filter{
		Account: account, Kinds: []accounting.EntryKind{accounting.ChargeEntry, accounting.ReplayEntry}, Descending: true, Limit: latest,
	})
	if p.Total != nil && err == nil {
		p.Outlook, err = f.outlook(p.Total.Budget)
	}
	return err
}

// Outlook says how many more charges like the latest ones fit into a budget.
type Outlook struct {
	Charges int     // how many of the latest were looked at
	Typical float64 // the middle one, in the unit of the budget
	Unit    watch.Unit
	Left    float64 // how many such charges fit
}

// outlook looks at the last charges on a budget's account; nil where there are none.
func (f *facts) outlook(b accounting.BudgetStatus) (*Outlook, error) {
	list, err := f.d.o.Ledger.Entries(f.ctx, accounting.Filter{
		Account: b.Account, Kinds: []accounting.EntryKind{accounting.ChargeEntry}, Descending: true, Limit: 25,
	})
	var losses []accounting.Loss
	for _, e := range list {
		for _, c := range e.Charges {
			if c.Account == b.Account && c.Entity == b.Entity && c.Loss.Rho > 0 {
				losses = append(losses, c.Loss)
			}
		}
	}
	if err != nil || len(losses) == 0 {
		return nil, err
	}
	slices.SortFunc(losses, func(a, b accounting.Loss) int { return cmp.Compare(a.Rho, b.Rho) })
	middle := losses[len(losses)/2]
	o := &Outlook{Charges: len(losses), Typical: measureOf(b, middle), Unit: watch.MeasureOf(b.Budget).Unit}
	o.Left = math.Floor(b.RemainingRho.Float() / middle.Rho.Float())
	if o.Unit == watch.Pure {
		o.Left = math.Floor(float64(b.Remaining) / middle.Pure.Float())
	}
	return o, nil
}

// analystRow is an account in the list of analysts.
type analystRow struct {
	Principal, Link string
	Spent           []Spender // the largest parts
}

// maxSpenders bounds the lines that the page of all analysts is made of.
const maxSpenders = 200

type analystsPage struct{ Rows []analystRow }

func (d *Dashboard) analysts(r *http.Request) (string, any, error) {
	f, err := d.facts(r.Context())
	if err != nil {
		return "", nil, err
	}
	rows := map[string]*analystRow{}
	for _, p := range f.principals() {
		rows[p] = &analystRow{Principal: p, Link: "/analysts/" + segment(p)}
	}
	spent, err := f.spenders(maxSpenders, "", func(*accounting.BudgetStatus) bool { return true })
	if err != nil {
		return "", nil, err
	}
	for _, s := range spent {
		if rows[s.Principal] == nil { // an account that was dropped
			rows[s.Principal] = &analystRow{Principal: s.Principal, Link: s.Link}
		}
		rows[s.Principal].Spent = append(rows[s.Principal].Spent, s)
	}
	var p analystsPage
	for _, row := range rows {
		p.Rows = append(p.Rows, *row)
	}
	slices.SortFunc(p.Rows, func(a, b analystRow) int {
		return cmp.Or(cmp.Compare(most(b.Spent), most(a.Spent)), cmp.Compare(a.Principal, b.Principal))
	})
	return "analysts.html", p, nil
}

// most is the largest part of a budget that somebody spent.
func most(list []Spender) (part float64) {
	for _, s := range list {
		part = math.Max(part, s.Part)
	}
	return part
}

type analystPage struct {
	Principal string
	Lines     []Line
	More      int
	Spent     []Spender
	Charges   []Charged
	Refusals  []Unanswered
	Ledger    string
}

func (d *Dashboard) analyst(r *http.Request) (string, any, error) {
	f, err := d.facts(r.Context())
	if err != nil {
		return "", nil, err
	}
	who := r.PathValue("principal")
	p := analystPage{Principal: who, Ledger: "/ledger?principal=" + url.QueryEscape(who)}
	if p.Lines, p.More, err = f.lines(cards, func(b *accounting.BudgetStatus) bool { return b.Holder == who }); err != nil {
		return "", nil, err
	}
	if p.Spent, err = f.spenders(pageEntries, who, func(*accounting.BudgetStatus) bool { return true }); err != nil {
		return "", nil, err
	}
	p.Charges, err = f.entries(accounting.Filter{Principal: who, Descending: true, Limit: latest})
	p.Refusals = d.unanswered(latest, func(e *watch.Event) bool { return e.Principal == who })
	known := len(p.Lines) > 0 || len(p.Charges) > 0 || len(p.Refusals) > 0 || slices.Contains(f.principals(), who)
	if err == nil && (!known || !strings.Contains(who, "@")) {
		err = errNotFound
	}
	return "analyst.html", p, err
}

func (d *Dashboard) server(r *http.Request) (string, any, error) {
	now := d.o.Now().UTC()
	s := d.o.Server()
	return "server.html", serverPage{s, now.Sub(s.Started), d.rates(now)}, nil
}

type serverPage struct {
	Server
	Uptime time.Duration
	Rates  Rates
}
