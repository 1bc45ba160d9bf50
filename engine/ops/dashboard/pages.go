package dashboard

import (
	"crypto/tls"
	"math"
	"net/http"
	"slices"
	"time"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/catalog"
	"scrim/internal/lists"
)

// How much a page shows, or looks at: of very many budgets, those of the largest share.
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

// The first page shows of everything the part that fits one screen, and where the rest is.
const (
	glanceCards   = 3
	glanceLines   = 3
	glanceNotices = 1
)

// Notice is something to look at, with a statement that would do, "" for none.
type Notice struct {
	Text, SQL string
	Grave     bool
	More      int // that are not shown
}

// overviewPage is the data of the first page.
type overviewPage struct {
	Lines      []Line
	More       int
	Notices    []Notice
	Rates      Rates
	Spenders   []Spender
	Charges    []Charged
	Causes     []Why
	Pressing   int // budgets that are used up or will not last
	Undeclared []string
	Lacking    Lacking
	Backup     *Backup
	BackupAge  time.Duration
	MakeBackup string
}

func (d *Dashboard) overview(r *http.Request, v Viewer, f *facts) (string, any, error) {
	p := overviewPage{Rates: d.rates(f.now), Causes: d.causes()}
	p.Causes = p.Causes[:min(glanceLines, len(p.Causes))]
	server := d.o.Server()
	if p.Backup, p.MakeBackup = server.Backup, suggestBackup(f.now); p.Backup != nil {
		p.BackupAge = f.now.Sub(p.Backup.Made)
	}
	p.Notices = d.notices(server, v, f.closed())
	if more := len(p.Notices) - glanceNotices; more > 0 {
		p.Notices = p.Notices[:glanceNotices]
		p.Notices[glanceNotices-1].More = more
	}
	var err error
	if p.Undeclared, err = d.undeclared(r.Context()); err != nil {
		return "", nil, err
	}
	lines, _, err := f.lines(looked, notDefault)
	if err != nil {
		return "", nil, err
	}
	p.Pressing = len(pressing(lines))
	p.Lines = slices.DeleteFunc(lines, func(l Line) bool { return !isTotal(&l.Budget) })
	p.Lines = p.Lines[:min(glanceCards, len(p.Lines))]
	p.More = len(f.totals) - len(p.Lines)
	if p.Lacking, err = f.lacking(f.now.Add(-chartHours * time.Hour)); err != nil {
		return "", nil, err
	}
	if p.Spenders, err = f.spenders(glanceLines, "", isTotal); err != nil {
		return "", nil, err
	}
	p.Charges, err = f.entries(accounting.Filter{Kinds: []accounting.EntryKind{accounting.ChargeEntry}, Descending: true, Limit: glanceLines})
	return "overview.html", p, err
}

func isTotal(b *accounting.BudgetStatus) bool { return b.Holder == budget.All }

// expiry is how long before its end the operator's certificate is a notice.
const expiry = 14 * dayLength

// notices are what needs somebody, the gravest first; closed are the tables without a total budget.
func (d *Dashboard) notices(s Server, v Viewer, closed []catalog.Table) (list []Notice) {
	if s.NotReady != nil {
		list = append(list, Notice{Text: "Private statements cannot be answered: " + s.NotReady.Error() + ".", Grave: true})
	}
	list = append(list, lists.Map(s.Warnings, func(w string) Notice { return Notice{Text: "Look at this: " + w + "."} })...)
	if disk, err := d.o.Disk(); v.DBA() && err == nil && disk.Low() {
		list = append(list, Notice{Text: "The disk of the data directory has " + byteCount(disk.Free) + " left; below " + byteCount(disk.Reserve) + " queries are refused."})
	}
	if left := s.CertificateEnds.Sub(d.o.Now()); s.TLS && left < expiry {
		list = append(list, Notice{Text: "The certificate ends " + s.CertificateEnds.UTC().Format(moment) + " UTC: give the server another, and reload it."})
	}
	for _, t := range closed {
		list = append(list, Notice{Text: t.Name + " has no total budget and refuses every query. Set one:", SQL: suggestBudget(t.Name)})
	}
	return list
}

// allBudgets is the data of the page of all budgets.
type allBudgets struct {
	Pressing, Totals []Line
	More             int
}

func (d *Dashboard) budgets(r *http.Request, _ Viewer, f *facts) (string, any, error) {
	var p allBudgets
	var err error
	if p.Totals, p.More, err = f.lines(cards, isTotal); err != nil {
		return "", nil, err
	}
	others, _, err := f.lines(looked, func(b *accounting.BudgetStatus) bool { return notDefault(b) && !isTotal(b) })
	for _, l := range pressing(others) {
		if h := l.Budget.Holder; isAccount(h) {
			l.Link = "/analysts/" + segment(h)
		}
		l.Title = l.Whose + " on " + l.Title
		p.Pressing = append(p.Pressing, l)
	}
	return "allbudgets.html", p, err
}

// notDefault keeps the budgets that somebody spends: not what each has without one of their own.
func notDefault(b *accounting.BudgetStatus) bool { return b.Holder != budget.Default }

// pressing are the budgets of a list that are used up or will not last.
func pressing(lines []Line) (list []Line) {
	list = append(list, lists.Filter(lines, func(l Line) bool { return l.Level == UsedUp || l.Level == Pressed })...)
	return list
}

// serverPage is the data of the page of the server.
type serverPage struct {
	Server
	Uptime     time.Duration
	Rates      Rates
	Notices    []Notice
	Disk       *Disk // nil for those whom it is not told
	DiskError  error
	Connection string // how this page came
	BackupAge  time.Duration
	MakeBackup string
}

func (d *Dashboard) server(r *http.Request, v Viewer) (string, any, error) {
	now := d.o.Now().UTC()
	s := d.o.Server()
	p := serverPage{Server: s, Uptime: now.Sub(s.Started), Rates: d.rates(now), Connection: connection(r), MakeBackup: suggestBackup(now)}
	if s.Backup != nil {
		p.BackupAge = now.Sub(s.Backup.Made)
	}
	var closed []catalog.Table
	if f, err := d.facts(r.Context()); err == nil { // else the page says that the ledger is not well
		closed = f.closed()
	}
	p.Notices = d.notices(s, v, closed)
	if v.DBA() {
		var disk Disk
		if disk, p.DiskError = d.o.Disk(); p.DiskError == nil {
			p.Disk = &disk
		} else {
			d.o.Logger.Warn().Err(p.DiskError).Msg("the disk of the data directory cannot be looked at")
		}
	}
	return "server.html", p, nil
}

// connection words how a request came.
func connection(r *http.Request) string {
	if r.TLS == nil {
		return "without TLS, which is served on a loopback address only"
	}
	return tls.VersionName(r.TLS.Version) + ", " + tls.CipherSuiteName(r.TLS.CipherSuite)
}
