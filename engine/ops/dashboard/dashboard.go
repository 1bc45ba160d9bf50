package dashboard

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/internal/web"
)

//go:embed assets
var assets embed.FS

// Ledger is what the pages need of the account; [*accounting.Ledger] is one.
type Ledger interface {
	Status(entitiesOf map[string][]string) (accounting.Status, error)
	Entries(ctx context.Context, f accounting.Filter) ([]accounting.Entry, error)
	Burndown(account string, entity bool, principal string, from, to time.Time) []accounting.DaySpent
}

var _ Ledger = (*accounting.Ledger)(nil)

// Viewer is who is logged in.
type Viewer struct {
	Principal string // user@host, its host as it is defined
	Role      string // "DBA" or "auditor"
	// Stamp changes with the account's password; it is not shown.
	Stamp string
}

// DBA reports whether the viewer is one: who may read rows, and so what follows from their number.
func (v Viewer) DBA() bool { return v.Role == "DBA" }

// Accounts knows who may look.
type Accounts interface {
	// Login checks a name and password that came from an address, and that the account is a DBA's
	// or an auditor's.
	Login(user, password, address string, secure bool) (Viewer, bool)
	// Valid reports whether the account still is what it was when it logged in.
	Valid(Viewer) bool
	// Principals lists the accounts of the server, for their pages.
	Principals() []string
}

// Server is what the page of the server shows.
type Server struct {
	Product                     string // its version
	Version, Comment, Go        string // of the MySQL protocol; of the compiler
	Started                     time.Time
	Listen, HTTP                string
	TLS, RequireTLS             bool // with the operator's certificate; no connection without
	CertificateEnds             time.Time
	Connections, MaxConnections int
	LedgerRecords               uint64
	LedgerBytes                 int64
	// records that the start took from a checkpoint and that are being verified
	LedgerUnverified uint64
	// why private statements cannot be answered; nil when they can
	NotReady error
	// what an operator has to look at although they are answered
	Warnings []string
	Backup   *Backup // the last one; nil where there was none
}

// Backup is one of the data directory.
type Backup struct {
	Made   time.Time
	Name   string
	Record uint64 // the ledger's last in it
}

// Disk is the one of the data directory, in bytes. It follows from how many rows there are, so only
// those are told who may read the rows: DBAs.
type Disk struct {
	Free, Reserve int64 // below the reserve, queries are refused
	Used          int64 // by the data directory
}

// Low reports that queries are refused for want of space, or nearly.
func (d Disk) Low() bool { return d.Free < 2*d.Reserve }

// Attempt is one to log in.
type Attempt struct {
	Result    string // accepted, refused, limited, or out: a log-out
	Principal string // user@host if it was accepted, else what was typed
	From      string // address
}

// The results of attempts.
const (
	Accepted = "accepted"
	Refused  = "refused"
	Limited  = "limited"
	Out      = "out"
)

// Options are what the pages show. All fields are required but Logged.
type Options struct {
	Ledger   Ledger
	Catalog  func() *catalog.Snapshot
	Accounts Accounts
	Recent   *Recent
	Server   func() Server
	Disk     func() (Disk, error)
	// Tables lists the stored tables, as schema.table.
	Tables func(context.Context) ([]string, error)
	Secure bool // the pages are served over TLS
	// DefaultLoss tells what a statement costs where nobody says. Nil: no number of questions is
	// shown.
	DefaultLoss accounting.DefaultLoss
	Logger      zerolog.Logger
	// Logged is told of each attempt to log in. An error refuses one that was accepted: it could
	// not be recorded.
	Logged func(Attempt) error
	Now    func() time.Time
}

// Dashboard serves the pages.
type Dashboard struct {
	o        Options
	browsers web.Browsers[Viewer]
	limits   *limiter
	slots    chan struct{} // pages that are being made
	handler  http.Handler
}

// maxPages bounds the pages that are made at a time: each may take a second of one processor where
// there are thousands of budgets.
const maxPages = 4

// New returns the pages.
func New(o Options) *Dashboard {
	if o.Logged == nil {
		o.Logged = func(Attempt) error { return nil }
	}
	d := &Dashboard{o: o, limits: newLimiter(), slots: make(chan struct{}, maxPages),
		browsers: web.Browsers[Viewer]{Name: "scrim", Secure: o.Secure, MaxForm: maxForm, MaxField: maxField, Now: o.Now}}
	mux := http.NewServeMux()
	d.routes(mux)
	d.handler = web.Headers(policy, http.NewCrossOriginProtection().Handler(mux))
	return d
}

// ServeHTTP implements http.Handler.
func (d *Dashboard) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.handler.ServeHTTP(w, r) }

func (d *Dashboard) routes(mux *http.ServeMux) {
	files, err := fs.Sub(assets, "assets")
	if err != nil {
		panic("dashboard: assets: " + err.Error()) // embedded
	}
	static := http.StripPrefix("/assets/", http.FileServerFS(files))
	mux.Handle("GET /assets/{file}", web.Cached(static))
	mux.HandleFunc("GET /login", d.loginPage)
	mux.HandleFunc("POST /login", d.login)
	mux.HandleFunc("POST /logout", d.logout)
	for path, page := range map[string]page{
		"GET /{$}":                  d.informed(d.overview),
		"GET /budgets":              d.informed(d.budgets),
		"GET /tables":               d.informed(d.tables),
		"GET /tables/{account}":     d.informed(d.table),
		"GET /entities/{entity}":    d.informed(d.entity),
		"GET /analysts":             d.informed(d.analysts),
		"GET /analysts/{principal}": d.informed(d.analyst),
		"GET /ledger":               d.informed(d.ledger),
		"GET /refusals":             d.refusals,
		"GET /server":               d.server,
	} {
		mux.Handle(path, d.private(page))
	}
	mux.Handle("/", d.private(func(*http.Request, Viewer) (string, any, error) { return "", nil, errNotFound }))
}

// page makes the data of one page for a viewer and names its template.
type page func(r *http.Request, v Viewer) (template string, data any, err error)

// informed is a page that is made of the facts of the moment.
func (d *Dashboard) informed(p func(r *http.Request, v Viewer, f *facts) (string, any, error)) page {
	return func(r *http.Request, v Viewer) (string, any, error) {
		f, err := d.facts(r.Context())
		if err != nil {
			return "", nil, err
		}
		return p(r, v, f)
	}
}

var errNotFound = errors.New("dashboard: no such page")

// private serves a page to those who are logged in, and sends the others to the log-in.
func (d *Dashboard) private(p page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, ok := d.session(r)
		if !ok {
			if r.Header.Get("X-Refresh") != "" {
				http.Error(w, "logged out", http.StatusUnauthorized)
				return
			}
			http.Redirect(w, r, "/login", http.StatusSeeOther)
			return
		}
		select {
		case d.slots <- struct{}{}:
			defer func() { <-d.slots }()
		case <-r.Context().Done():
			return
		}
		name, data, err := p(r, s.Value)
		status := http.StatusOK
		switch {
		case errors.Is(err, errNotFound):
			status, name, data = http.StatusNotFound, "problem.html", problem{"There is no such page", "The table, analyst or page of this address is not known to the server."}
		case err != nil:
			d.o.Logger.Error().Err(err).Str("path", r.URL.Path).Msg("a page of the dashboard could not be made")
			status, name, data = http.StatusServiceUnavailable, "problem.html", problem{"The page cannot be made", "The ledger could not be read. The server's log says why."}
		}
		d.render(w, status, name, view{Viewer: &s.Value, Token: s.Token, Path: r.URL.Path, Query: r.URL.RawQuery, Now: d.o.Now().UTC(), Data: data})
	})
}

// problem is a page that says what is wrong.
type problem struct{ Title, Text string }

// view is what every template gets.
type view struct {
	Viewer *Viewer // nil on the page of the log-in
	Token  string  // for forms
	Path   string
	Query  string // of the address, as it came
	Now    time.Time
	Data   any
}

// Here is the address of the page.
func (v view) Here() string {
	if v.Query == "" {
		return v.Path
	}
	return v.Path + "?" + v.Query
}

// Section names the part of the navigation that a page belongs to.
func (v view) Section() string {
	first, _, _ := strings.Cut(strings.TrimPrefix(v.Path, "/"), "/")
	if first == "entities" {
		return "tables"
	}
	return first
}

// render writes a page as a whole: a template that fails leaves no half of one.
func (d *Dashboard) render(w http.ResponseWriter, status int, name string, v view) {
	var b bytes.Buffer
	t := pages[name]
	if t == nil {
		panic("dashboard: no template " + name)
	}
	if err := t.ExecuteTemplate(&b, "layout.html", v); err != nil {
		d.o.Logger.Error().Err(err).Str("template", name).Msg("a page of the dashboard could not be made")
		http.Error(w, "The page cannot be made. The server's log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// policy allows the page's own files and nothing else: no inline script or style, no frame, no
// other origin.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

//go:embed templates
var templateFiles embed.FS

// shared are the templates that every page is made with.
var shared = []string{"templates/layout.html", "templates/parts.html", "templates/chart.svg"}

// pages are the templates by the name of their file, each with the shared ones.
var pages = parse()

func parse() map[string]*template.Template {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic("dashboard: templates: " + err.Error()) // embedded
	}
	all := map[string]*template.Template{}
	for _, name := range names {
		t := template.New("").Funcs(functions)
		all[name[len("templates/"):]] = template.Must(t.ParseFS(templateFiles, append(shared, name)...))
	}
	return all
}
