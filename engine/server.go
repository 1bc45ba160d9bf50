package engine

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/rs/zerolog"

	"scrim/accounting"
	"scrim/catalog"
	"scrim/engine/admin"
	"scrim/engine/admin/price"
	"scrim/engine/admin/simulate"
	"scrim/engine/collections"
	"scrim/engine/collections/intake"
	"scrim/engine/estimator/noise"
	"scrim/engine/exec"
	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/inbox"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/statement"
	"scrim/engine/mysql/tables"
	"scrim/engine/mysql/wire"
	"scrim/engine/observe/audit"
	"scrim/engine/observe/watch"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/datadir/backup"
	"scrim/engine/ops/datadir/rollback"
	"scrim/engine/ops/monitor"
	"scrim/engine/store/duckdb"
	"scrim/engine/views"
	"scrim/internal/spill"
	"scrim/planner"
)

// Server is an open data directory behind a listening socket.
type Server struct {
	cfg   Config
	place datadir.Place
	log   zerolog.Logger

	dir      *datadir.Directory
	store    *duckdb.Store
	spill    *spill.Pool
	ledger   *accounting.Ledger
	catalog  *catalog.Catalog
	follower *rollback.Follower // of the ledger; nil until it was found to be no older one

	collections *collections.Collections
	views       *views.Views
	totals      *views.Totals
	schedules   *views.Schedules
	admin       *admin.Admin
	inbox       *inbox.Database

	tables    *tables.Provider
	planner   *planner.Planner
	runner    *exec.Executor
	prices    *price.Teller
	simulator *simulate.Simulator
	backups   *backup.Server
	analyzer  *analyzer.Analyzer
	engine    *sqle.Engine
	doors     *wire.Doors // from outside, and from within for the console
	sockets   *wire.Listener
	sessions  *session.Options // of all clients
	protocol  *server.Server
	handler   *statement.Handler
	logins    *auth.Server

	certificate certificate
	audit       *audit.Log
	// told about every statement that ended; set before the first client
	observers watch.Observers
	monitor   *monitor.Monitor // nil without HTTP
	warnings  *monitor.Warnings
	intake    *intake.Server // nil without an address for contributors

	noise        func() noise.Noiser
	rootPassword string

	keeping keeping // of schedules
	looking keeping // at sources

	noticing sync.Once // that the store is halted
	once     sync.Once
	closed   error
}

// Open creates or opens the data directory and listens; clients are answered once Serve runs. A
// directory that is damaged, incomplete or in use by another process is refused in words.
func Open(cfg Config) (*Server, error) { return open(cfg, noise.Secure) }

// open is Open with the source of noise, which tests replace; nothing that a client or an operator
// can say reaches it.
func open(cfg Config, source func() noise.Noiser) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	s := &Server{cfg: cfg, place: cfg.Place(), log: cfg.Logger, noise: source}
	if err := s.start(); err != nil {
		_ = s.Close()
		return nil, err
	}
	s.handler.Longest.Store(int64(cfg.StatementTime))
	return s, nil
}

// RootPassword returns the password that the first start generated for root, "" when it was given
// or the account was there already. It is kept nowhere else.
func (s *Server) RootPassword() string { return s.rootPassword }

// Root is the account that the first start makes.
const Root = auth.Root

// AdmitRoot lets this process log in as root: until the server ends, root's password is one that it
// makes, keeps in memory, and returns. It is for a process that serves a data directory to itself,
// whose files it could change as well. A root that was dropped or locked stays so.
func (s *Server) AdmitRoot() (password string, err error) { return s.logins.AdmitRoot() }

// Addr returns the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.sockets.Addr() }

// HTTPAddr returns the address of the dashboard, nil without one.
func (s *Server) HTTPAddr() net.Addr { return s.monitor.Addr() }

// ContributeAddr returns the address that contributors send reports to over HTTP, nil without one.
func (s *Server) ContributeAddr() net.Addr { return s.intake.Addr() }

// ErrHalted is what Serve returns after a commit or a checkpoint that the disk failed, once the
// disk has room: close the server and open its directory anew. Until then the server refuses
// statements that read or change tables, and /readyz says why.
var ErrHalted = errors.New("engine: the store does nothing until its directory is opened anew")

// reopens reports whether the store is halted, its disk has room, and the server has been up for
// longer than shortestLife.
func (s *Server) reopens(up time.Duration) bool {
	halted := s.store.Halted()
	if halted == nil {
		return false
	}
	s.noticing.Do(func() {
		s.log.Error().Str("cause", errors.Unwrap(halted).Error()).
			Msg("a commit or a checkpoint of the store failed by the disk: nothing is read or changed until the data directory is opened anew from the disk, which happens by itself once the disk has room")
	})
	return up > shortestLife && s.store.Room() == nil
}

// shortestLife bounds how often a server whose disk fails opens its directory anew.
const shortestLife = 5 * time.Second

// Serve answers clients until ctx ends or Close is called, or with ErrHalted.
func (s *Server) Serve(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.protocol.Listener.Accept()
	}()
	go s.monitor.Serve()
	go s.intake.Serve()
	s.keeping.begin(s.keepSchedules)
	s.looking.begin(func(ctx context.Context) { s.warnings.WatchSources(ctx, s.store) })
	s.log.Info().Str("address", s.Addr().String()).Msg("serving")
	defer s.log.Info().Msg("no longer serving")
	since, tick := time.Now(), time.NewTicker(time.Second)
	defer tick.Stop()
	stop := func(err error) error {
		s.monitor.Stop()
		s.protocol.Listener.Close()
		<-done
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return stop(nil)
		case <-done:
			return nil
		case now := <-tick.C:
			if s.reopens(now.Sub(since)) {
				return stop(ErrHalted)
			}
			// Clients divide by it.
			sql.StatusVariables.SetGlobal("Uptime", uint64(1+now.Sub(since)/time.Second))
		}
	}
}

// Close ends the server: it accepts nobody, interrupts what runs, closes the connections, and then
// the ledger, the store and the directory. It may be called more than once.
func (s *Server) Close() error {
	s.once.Do(func() { s.closed = s.close() })
	return s.closed
}

func (s *Server) close() error {
	var errs []error
	s.monitor.Stop()
	s.keeping.end()
	s.looking.end()
	s.intake.Close()
	if s.protocol != nil {
		_ = s.protocol.Close()
	}
	if s.engine != nil {
		for _, p := range s.engine.ProcessList.Processes() {
			s.engine.ProcessList.Kill(p.Connection)
		}
	}
	if s.sockets != nil {
		_ = s.sockets.Close()
		s.sockets.CloseConnections()
	}
	s.waitForSessions()
	s.monitor.Close()
	if s.engine != nil {
		errs = append(errs, s.engine.Close())
	}
	if s.planner != nil {
		s.planner.Close(s.analyzer)
	}
	if s.ledger != nil {
		errs = append(errs, s.ledger.Close())
	}
	if s.collections != nil {
		errs = append(errs, s.collections.Shutdown())
	}
	errs = append(errs, s.follower.Close())
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	s.audit.Write(audit.Record{Kind: audit.Stop})
	errs = append(errs, s.audit.Close())
	if s.dir != nil {
		errs = append(errs, s.dir.Close())
	}
	return errors.Join(errs...)
}

// stopTimeout bounds how long Close waits for statements to notice that they have been ended. What
// still runs then finds the ledger and the store closed.
const stopTimeout = 5 * time.Second

func (s *Server) waitForSessions() {
	if s.protocol == nil {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.protocol.SessionManager().WaitForClosedConnections()
	}()
	select {
	case <-ended:
	case <-time.After(stopTimeout):
		s.log.Warn().Msg("statements still run; closing anyway")
	}
}

// Reloadable lists the fields of a Config that Reload puts into effect.
var Reloadable = []string{"TLSCert", "TLSKey", "MaxConnections", "MaxUserConnections", "StatementTime", "AuthTimeout", "AuditDays"}

// Reload puts the Reloadable fields of c into effect, all of them or, where c has a problem, none:
// the certificate and its key are read again, connections beyond a lower limit stay until they end.
// note says for the audit log what has changed.
func (s *Server) Reload(c Config, note string) error {
	if err := c.Validate(); err != nil {
		return err
	}
	c = c.withDefaults()
	// whose certificate it is stays for as long as the server runs
	if s.certificate.given.Load() == (c.TLSCert != "") {
		if err := s.certificate.load(c); err != nil {
			return err
		}
	}
	s.sockets.SetLimits(c.MaxConnections, c.AuthTimeout)
	s.intake.SetMaxConnections(c.MaxConnections)
	if err := tellLimits(c); err != nil {
		return err
	}
	s.handler.Longest.Store(int64(c.StatementTime))
	s.audit.Keep(c.AuditDays)
	s.audit.Write(audit.Record{Kind: audit.Reload, Note: note})
	return nil
}
