// Package monitor is what the server shows over HTTP: the console, and to its operators the
// dashboard, the metrics and whether private statements can be answered; and the warnings that
// stand until somebody has acted.
//
//	GET /healthz   200 while the process lives
//	GET /readyz    200 while private statements can be answered, else 503 and why not
//	GET /metrics   Prometheus' text; a name and a password unless the address is a loopback one
//	    /console   the console, for every account
//	    /          the dashboard, for DBAs and auditors
package monitor

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/exec"
	"scrim/engine/mysql/auth"
	"scrim/engine/observe/audit"
	"scrim/engine/observe/version"
	"scrim/engine/observe/watch"
	"scrim/engine/ops/console"
	"scrim/engine/ops/dashboard"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/metrics"
	"scrim/engine/store/duckdb"
	"scrim/internal/release"
	"scrim/internal/spill"
	"scrim/internal/web"
)

// maxHTTP bounds the open HTTP connections, so that they leave files for the clients of the
// database; three quarters of as many requests of one address are answered at a time.
const maxHTTP = 128

// Monitor is what the server shows over HTTP: the dashboard, the metrics and whether it is well. A
// nil Monitor, of a server without HTTP, does nothing.
type Monitor struct {
	Metrics *metrics.Metrics
	Health  *Health

	sources   Sources
	clients   Clients
	started   time.Time
	recent    *dashboard.Recent
	dashboard *dashboard.Dashboard
	console   *console.Console
	http      *web.Server
}

// Sources are what there is to be told of before there are clients.
type Sources struct {
	Address  string // of HTTP, host:port
	Place    datadir.Place
	Ledger   *accounting.Ledger
	Catalog  *catalog.Catalog
	Store    *duckdb.Store
	Audit    *audit.Log // nil without an audit log
	Required bool       // no statement runs without the audit log
	Warnings *Warnings
	Log      zerolog.Logger
	// DefaultLoss tells what a statement costs where nobody says.
	DefaultLoss accounting.DefaultLoss
	// Connections and MaxConnections count the clients of the database.
	Connections, MaxConnections func() int
}

// Clients are the accounts that may look, and how the database is listened to.
type Clients struct {
	Accounts dashboard.Accounts
	// Certificate is the one that the operator has given, nil for none.
	Certificate *tls.Config
	// Listen is the address of the database.
	Listen string
	// Dial connects to the database on behalf of a browser at an address.
	Dial func(ctx context.Context, from net.Addr) (net.Conn, error)
	// TLS tells that an operator has given a certificate, RequireTLS that clients have to use it.
	TLS, RequireTLS bool
	// CertificateEnds is when the certificate in use ends.
	CertificateEnds func() time.Time
	// Tables lists the stored tables, as schema.table.
	Tables func(context.Context) ([]string, error)
}

// New makes what is told about statements, before there are any. It returns nil where s has no
// address.
func New(s Sources) *Monitor {
	if s.Address == "" {
		return nil
	}
	m := &Monitor{sources: s, started: time.Now(), recent: dashboard.NewRecent(time.Now())}
	m.Health = &Health{ledger: s.Ledger, store: s.Store, spill: s.Place.Path(datadir.SpillDir), Every: 5 * time.Second}
	if s.Required {
		m.Health.audit = s.Audit
	}
	m.Metrics = metrics.New(metrics.Sources{
		Version:        version.Number,
		Status:         func() (accounting.Status, error) { return s.Ledger.Status(dashboard.Entities(s.Catalog.Snapshot())) },
		Names:          func() map[string][]string { return dashboard.Names(s.Catalog.Snapshot()) },
		Ledger:         m.ledger,
		Audit:          func() (bool, uint64) { return !s.Audit.Failing(), s.Audit.Missing() },
		Connections:    s.Connections,
		MaxConnections: s.MaxConnections,
		Ready:          m.Health.Check,
		Now:            time.Now,
	})
	return m
}

// Observers are those who want to be told about every statement that ended.
func (m *Monitor) Observers() watch.Observers {
	if m == nil {
		return nil
	}
	return watch.Observers{m.Metrics, m.recent}
}

// Listen opens the socket.
func (m *Monitor) Listen(c Clients) error {
	if m == nil {
		return nil
	}
	m.clients = c
	var err error
	if m.http, err = web.Listen(m.sources.Address, c.Certificate, web.Limits{Connections: maxHTTP, PerAddress: maxHTTP * 3 / 4, Read: 15 * time.Second, Idle: 2 * time.Minute}); err != nil {
		return fmt.Errorf("engine: http: %w", err)
	}
	m.dashboard = dashboard.New(dashboard.Options{
		Ledger:      m.sources.Ledger,
		Catalog:     m.sources.Catalog.Snapshot,
		Accounts:    c.Accounts,
		Recent:      m.recent,
		Server:      m.facts,
		Disk:        m.disk,
		Tables:      c.Tables,
		Secure:      c.Certificate != nil,
		Logger:      m.sources.Log,
		Logged:      m.logged,
		DefaultLoss: m.sources.DefaultLoss,
		Now:         time.Now,
	})
	m.console = console.New(console.Options{Dial: c.Dial, Secure: c.Certificate != nil, Now: time.Now})
	return nil
}

// Addr returns the address that is listened on, nil without one.
func (m *Monitor) Addr() net.Addr {
	if m == nil {
		return nil
	}
	return m.http.Addr()
}

// Serve answers until Close.
func (m *Monitor) Serve() {
	if m == nil {
		return
	}
	m.sources.Log.Info().Str("address", m.http.Addr().String()).Msg("dashboard")
	if err := m.http.Serve(m.handler(m.clients.Certificate != nil)); err != nil {
		m.sources.Log.Error().Err(err).Msg("the dashboard ended")
	}
}

// Stop makes /readyz say that the server is ending.
func (m *Monitor) Stop() {
	if m != nil {
		m.Health.stopping.Store(true)
	}
}

// Close ends the socket and what it serves. The ledger must still be open.
func (m *Monitor) Close() {
	if m == nil || m.http == nil {
		return
	}
	m.Stop()
	m.http.Close()
	m.console.Close()
}

// logged records an attempt to log in to the dashboard. One that succeeds is refused where the
// audit log has to have it and cannot.
func (m *Monitor) logged(a dashboard.Attempt) error {
	s, note := m.sources, "dashboard"
	if a.Result != dashboard.Out {
		m.Metrics.Login(a.Result)
	}
	switch a.Result {
	case dashboard.Accepted:
		place, err := s.Audit.Admit()
		if err != nil {
			return err
		}
		place.Write(audit.Record{Kind: audit.Login, Principal: a.Principal, From: a.From, Note: note})
		s.Log.Info().Str("principal", a.Principal).Str("from", a.From).Msg("dashboard: logged in")
	case dashboard.Out:
		s.Audit.Write(audit.Record{Kind: audit.Logout, Principal: a.Principal, From: a.From, Note: note})
	default:
		if a.Result == dashboard.Limited {
			note = "dashboard, too many attempts"
		}
		s.Audit.Write(audit.Record{Kind: audit.LoginRefused, Principal: a.Principal, From: a.From, Note: note})
		s.Log.Warn().Str("user", a.Principal).Str("from", a.From).Str("result", a.Result).Msg("dashboard: login refused")
	}
	return nil
}

// ledger is the state of the ledger's file.
func (m *Monitor) ledger() metrics.Ledger {
	from := m.sources.Ledger
	u := from.Upkeep()
	l := metrics.Ledger{
		Up: from.Err() == nil, Records: from.Position().Record, Damaged: u.Damage != nil, Checkpoint: u.Checkpoint,
	}
	if u.VerifiedAt.IsZero() {
		l.Unverified = u.Resumed - u.Verified
	}
	if fi, err := os.Stat(m.sources.Place.Path(datadir.LedgerFile)); err == nil {
		l.Bytes = fi.Size()
	}
	return l
}

// facts are those of the page about the server.
func (m *Monitor) facts() dashboard.Server {
	s, c, l := m.sources, m.clients, m.ledger()
	backup, err := m.lastBackup()
	if err != nil {
		s.Log.Warn().Err(err).Msg("the last backup is not known")
	}
	return dashboard.Server{
		Product: release.Version, Version: version.Number, Comment: version.Comment, Go: runtime.Version(), Started: m.started,
		Listen: c.Listen, HTTP: m.http.Addr().String(), TLS: c.TLS, CertificateEnds: c.CertificateEnds(), RequireTLS: c.RequireTLS, Backup: backup,
		Connections: s.Connections(), MaxConnections: s.MaxConnections(),
		LedgerRecords: l.Records, LedgerBytes: l.Bytes, LedgerUnverified: l.Unverified, NotReady: m.Health.Check(), Warnings: s.Warnings.Texts(),
	}
}

// lastBackup is what the data directory notes of its last backup; nil where there was none.
func (m *Monitor) lastBackup() (*dashboard.Backup, error) {
	b, ok, err := m.sources.Place.LastBackup()
	if !ok || err != nil {
		return nil, err
	}
	return &dashboard.Backup{Made: b.Made, Name: b.Name, Record: b.Record}, nil
}

// disk tells what is free on the disk of the data directory, and what lies in the directory.
func (m *Monitor) disk() (d dashboard.Disk, err error) {
	if d.Free, d.Reserve, err = (spill.Disk{Dir: m.sources.Place.Dir}).Free(); err != nil {
		return d, err
	}
	d.Used, err = m.sources.Place.Size()
	return d, err
}

// Account is the ledger that private statements are charged to; with metrics, one that measures how
// long charges wait.
func (m *Monitor) Account(l *accounting.Ledger) exec.Account {
	if m == nil {
		return l
	}
	return timed{l, m.Metrics}
}

// timed is the ledger with a clock at its charges.
type timed struct {
	*accounting.Ledger
	metrics *metrics.Metrics
}

// Reserve implements exec.Account.
func (t timed) Reserve(ctx context.Context, r accounting.Request) (accounting.Receipt, error) {
	start := time.Now()
	receipt, err := t.Ledger.Reserve(ctx, r)
	if err == nil {
		t.metrics.Committed(time.Since(start))
	}
	return receipt, err
}

// Logins tells of attempts to log in to the database.
type Logins struct {
	Monitor *Monitor   // nil without HTTP
	Audit   *audit.Log // nil without an audit log
	Log     zerolog.Logger
}

// Tried tells the metrics of an attempt to log in, and the log and the audit log of one that
// failed. Of those that were not looked at a record is made now and then only, so that they do not
// fill the disk.
func (l Logins) Tried(a auth.Attempt) {
	if l.Monitor != nil {
		l.Monitor.Metrics.Attempt(string(a.Result), a.Waited > 0)
	}
	if a.Result == auth.Accepted || a.Result == auth.Limited && a.Unlooked == 0 {
		return
	}
	line, note := l.Log.Warn().Str("user", a.User).Str("from", a.From.String()), ""
	switch {
	case a.Result == auth.Limited:
		line = line.Int("attempts", a.Unlooked)
		note = fmt.Sprintf("too many wrong passwords: %d attempts from this address were refused without a look", a.Unlooked)
	case a.Waited > 0:
		note = fmt.Sprintf("after a wait of %v", a.Waited.Round(time.Millisecond))
	}
	line.Str("note", note).Msg("login refused")
	l.Audit.Write(audit.Record{Kind: audit.LoginRefused, Principal: a.User, From: a.From.String(), Note: note})
}

// handler is all that is served over HTTP.
func (m *Monitor) handler(secure bool) http.Handler {
	mux, pages := http.NewServeMux(), http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { plainText(rw, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) {
		if err := m.Health.Check(); err != nil {
			plainText(rw, http.StatusServiceUnavailable, err.Error())
			return
		}
		if m.sources.Warnings.Degraded() {
			plainText(rw, http.StatusOK, "ready, but for an attached table that cannot be read")
			return
		}
		plainText(rw, http.StatusOK, "ready")
	})
	pages.Handle("GET /metrics", m.guarded(m.Metrics.Handler()))
	pages.Handle("/console", m.console)
	pages.Handle("/console/", m.console)
	pages.Handle("/", m.dashboard)
	mux.Handle("/", m.http.Bounded(pages, func(rw http.ResponseWriter, _ *http.Request) {
		plainText(rw, http.StatusServiceUnavailable, "too many requests are being answered; ask again later")
	}))
	if secure {
		return mux
	}
	return ownHost(mux)
}

func plainText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}

// guarded asks for a DBA's or an auditor's name and password where the address is not a loopback
// one; on a loopback address who can ask is on the machine.
func (m *Monitor) guarded(next http.Handler) http.Handler {
	if host, _, _ := net.SplitHostPort(m.sources.Address); Loopback(host) {
		return next
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := m.dashboard.Basic(r); err != nil {
			rw.Header().Set("WWW-Authenticate", `Basic realm="scrim", charset="UTF-8"`)
			plainText(rw, http.StatusUnauthorized, fmt.Sprint(err))
			return
		}
		next.ServeHTTP(rw, r)
	})
}

// ownHost refuses requests for other names than this machine's own: a page of another site could
// make its name lead here and read what is served without a log-in.
func ownHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if !Loopback(strings.Trim(host, "[]")) {
			plainText(w, http.StatusMisdirectedRequest, "served at a loopback address only")
			return
		}
		next.ServeHTTP(w, r)
	})
}
