package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/audit"
	"scrim/engine/dashboard"
	"scrim/engine/datadir"
	"scrim/engine/exec"
	"scrim/engine/metrics"
	"scrim/engine/version"
)

// watching is what the server shows over HTTP: the dashboard, the metrics and whether it is well. It is nil without --http.
type watching struct {
	server    *Server
	started   time.Time
	metrics   *metrics.Metrics
	recent    *dashboard.Recent
	dashboard *dashboard.Dashboard
	listener  net.Listener
	http      *http.Server
	health    health
	stopping  atomic.Bool
}

// checkHTTP refuses an address to which passwords would cross a network in clear. There is no switch to allow it.
func (c Config) checkHTTP(bad func(field, format string, args ...any)) {
	host, port, err := net.SplitHostPort(c.HTTP)
	if err == nil && c.TLSCert == "" && !loopback(host) {
		bad("HTTP", "HTTP address %q: passwords would cross the network in clear: give a TLS certificate, or a loopback address such as 127.0.0.1:%s", c.HTTP, port)
	}
}

// watch makes what is told about statements, before there are any.
func (s *Server) watch() error {
	if s.cfg.HTTP == "" {
		return nil
	}
	w := &watching{server: s, started: time.Now(), recent: dashboard.NewRecent(time.Now())}
	w.health = health{ledger: s.ledger, store: s.store, audit: s.mustAudit(), directory: s.cfg.DataDir, stopping: &w.stopping}
	w.metrics = metrics.New(metrics.Sources{
		Version:        version.Number,
		Status:         func() (accounting.Status, error) { return s.ledger.Status(dashboard.Entities(s.catalog.Snapshot())) },
		Names:          func() map[string][]string { return dashboard.Names(s.catalog.Snapshot()) },
		Ledger:         w.ledger,
		Audit:          func() (bool, uint64) { return !s.audit.Failing(), s.audit.Missing() },
		Connections:    func() int { return s.sockets.Connections() },
		MaxConnections: func() int { return s.sockets.MaxConnections() },
		Ready:          w.health.check,
		Now:            time.Now,
	})
	s.observers = append(s.observers, w.metrics, w.recent)
	s.watching = w
	return nil
}

// mustAudit is the audit log where no statement may run without it, else nil.
func (s *Server) mustAudit() *audit.Log {
	if s.cfg.Audit == string(audit.Refuse) {
		return s.audit
	}
	return nil
}

// listenHTTP opens the second socket.
func (s *Server) listenHTTP() error {
	w := s.watching
	if w == nil {
		return nil
	}
	certificate := s.certificate.operators()
	var err error
	if w.listener, err = net.Listen("tcp", s.cfg.HTTP); err != nil {
		return fmt.Errorf("engine: http: %w", err)
	}
	w.dashboard = dashboard.New(dashboard.Options{
		Ledger:   s.ledger,
		Catalog:  func() *catalog.Snapshot { return s.catalog.Snapshot() },
		Accounts: viewers{s.analyzer.Catalog.MySQLDb, s.sessionOptions(), s.logins},
		Recent:   w.recent,
		Server:   w.facts,
		Secure:   certificate != nil,
		Logger:   s.log,
		Logged:   w.logged,
		Now:      time.Now,
	})
	w.listener = limited(w.listener, maxHTTP)
	w.http = &http.Server{
		Handler:           w.handler(certificate != nil),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      60 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          nil, // of package log, which prepareProcess silences: it quotes requests
	}
	if certificate != nil {
		certificate.NextProtos = []string{"h2", "http/1.1"}
		w.listener = tls.NewListener(w.listener, certificate)
	}
	return nil
}

// HTTPAddr returns the address of the dashboard, nil without one.
func (s *Server) HTTPAddr() net.Addr {
	if s.watching == nil {
		return nil
	}
	return s.watching.listener.Addr()
}

// serve answers until close.
func (w *watching) serve() {
	if w == nil {
		return
	}
	w.server.log.Info().Str("address", w.listener.Addr().String()).Msg("dashboard")
	if err := w.http.Serve(w.listener); !errors.Is(err, http.ErrServerClosed) {
		w.server.log.Error().Err(err).Msg("the dashboard ended")
	}
}

// stop makes /readyz say that the server is ending.
func (w *watching) stop() {
	if w != nil {
		w.stopping.Store(true)
	}
}

// close ends the second socket and what it serves, before the ledger closes.
func (w *watching) close() {
	if w == nil || w.listener == nil {
		return
	}
	w.stop()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if w.http == nil || w.http.Shutdown(ctx) != nil {
		_ = w.http.Close()
	}
	_ = w.listener.Close()
}

// logged records an attempt to log in to the dashboard. One that succeeds is refused where the audit log has to have it and cannot.
func (w *watching) logged(a dashboard.Attempt) error {
	s, note := w.server, "dashboard"
	if a.Result != dashboard.Out {
		w.metrics.Login(a.Result)
	}
	switch a.Result {
	case dashboard.Accepted:
		place, err := s.audit.Admit()
		if err != nil {
			return err
		}
		place.Write(audit.Record{Kind: audit.Login, Principal: a.Principal, From: a.From, Note: note})
		s.log.Info().Str("principal", a.Principal).Str("from", a.From).Msg("dashboard: logged in")
	case dashboard.Out:
		s.audit.Write(audit.Record{Kind: audit.Logout, Principal: a.Principal, From: a.From, Note: note})
	default:
		if a.Result == dashboard.Limited {
			note = "dashboard, too many attempts"
		}
		s.audit.Write(audit.Record{Kind: audit.LoginRefused, Principal: a.Principal, From: a.From, Note: note})
		s.log.Warn().Str("user", a.Principal).Str("from", a.From).Str("result", a.Result).Msg("dashboard: login refused")
	}
	return nil
}

// ledger is the state of the ledger's file.
func (w *watching) ledger() metrics.Ledger {
	from, u := w.server.ledger, w.server.ledger.Upkeep()
	l := metrics.Ledger{
		Up: from.Err() == nil, Records: from.Position().Record, Damaged: u.Damage != nil, Checkpoint: u.Checkpoint,
	}
	if u.VerifiedAt.IsZero() {
		l.Unverified = u.Resumed - u.Verified
	}
	if fi, err := os.Stat(w.server.place.Path(datadir.LedgerFile)); err == nil {
		l.Bytes = fi.Size()
	}
	return l
}

// facts are those of the page about the server.
func (w *watching) facts() dashboard.Server {
	s, l := w.server, w.ledger()
	return dashboard.Server{
		Version: version.Number, Comment: version.Comment, Go: runtime.Version(), Started: w.started,
		Listen: s.Addr().String(), HTTP: w.listener.Addr().String(), TLS: s.cfg.TLSCert != "", RequireTLS: s.cfg.RequireTLS,
		Connections: s.sockets.Connections(), MaxConnections: s.sockets.MaxConnections(),
		LedgerRecords: l.Records, LedgerBytes: l.Bytes, LedgerUnverified: l.Unverified, NotReady: w.health.check(), Warnings: s.warnings.texts(),
	}
}

// account is the account that private statements are charged to; with metrics, one that measures how long charges wait.
func (s *Server) account() exec.Account {
	if s.watching == nil {
		return s.ledger
	}
	return timed{s.ledger, s.watching.metrics}
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
