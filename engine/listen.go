package engine

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/sirupsen/logrus"

	"scrim/engine/collections"
	"scrim/engine/collections/collect"
	"scrim/engine/collections/intake"
	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/gate"
	"scrim/engine/mysql/inbox"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/statement"
	"scrim/engine/mysql/statement/trace"
	"scrim/engine/mysql/wire"
	"scrim/engine/observe/audit"
	"scrim/engine/observe/version"
	"scrim/engine/observe/watch"
	"scrim/engine/ops/datadir"
	"scrim/engine/ops/monitor"
	"scrim/internal/digest"
	"scrim/internal/processors"
	"scrim/internal/refuse"
	"scrim/internal/selfsigned"
	"scrim/internal/sqltext"
	"scrim/internal/turns"
)

// listen opens the socket and puts the protocol on it.
func (s *Server) listen() error {
	if err := s.certificate.load(s.cfg); err != nil {
		return err
	}
	raw, err := net.Listen("tcp", s.cfg.Listen)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	s.doors = wire.NewDoors(raw)
	s.sockets = wire.NewListener(s.doors, wire.Config{
		TLS:              s.certificate.config(),
		RequireTLS:       s.cfg.RequireTLS,
		MaxConnections:   s.cfg.MaxConnections,
		AuthTimeout:      s.cfg.AuthTimeout,
		MaxPreAuthPacket: s.cfg.MaxPreAuthPacket,
		MaxPacket:        s.cfg.MaxPacket,
	})
	return s.speak()
}

// listenHTTP opens the second socket.
func (s *Server) listenHTTP() error {
	return s.monitor.Listen(monitor.Clients{
		Accounts:    monitor.Viewers{DB: s.analyzer.Catalog.MySQLDb, Session: s.sessions, Logins: s.logins},
		Certificate: s.certificate.operators(),
		Dial:        s.doors.Dial,
		Listen:      s.Addr().String(), TLS: s.cfg.TLSCert != "", CertificateEnds: s.certificate.ends, RequireTLS: s.cfg.RequireTLS,
		Tables: s.tables.Stored,
	})
}

// speak puts the MySQL protocol on the socket, with our handler in the place of go-mysql-server's.
func (s *Server) speak() error {
	s.sessions = s.sessionOptions()
	var err error
	s.protocol, err = server.NewServer(server.Config{
		Listener:                 addressed{s.sockets},
		Protocol:                 "tcp",
		Address:                  s.cfg.Listen,
		Version:                  version.Number,
		DisableConnectionWatcher: true, // our handler watches
		Options:                  []server.Option{s.handle},
		ProtocolListenerFactory:  s.protocolListener,
	}, s.engine, sql.NewContext, builderOf(s.sessions), nil)
	if err != nil {
		return err
	}
	return tellLimits(s.cfg)
}

// addressed is the socket as go-mysql-server sees it: it asks for the address, and accepts nothing.
type addressed struct{ *wire.Listener }

// Accept implements net.Listener.
func (addressed) Accept() (net.Conn, error) { return nil, net.ErrClosed }

// sessionOptions are what the sessions of all clients share.
func (s *Server) sessionOptions() *session.Options {
	return &session.Options{
		Store:  s.store,
		Memory: s.cfg.limits(),
		Turns:  turns.New(processors.Count()),
		IsDBA:  func(ctx *sql.Context) bool { return auth.IsDBA(ctx, s.analyzer.Catalog.MySQLDb) },
		Account: func(principal string) *mysql_db.User {
			return auth.Named(s.analyzer.Catalog.MySQLDb, principal)
		},
		LastID: s.ledger.LastID,
		Roles: func(ctx *sql.Context) []string {
			c := ctx.Session.Client()
			return auth.Roles(s.analyzer.Catalog.MySQLDb, c.User, c.Address)
		},
		NoteRaw: func(_ *sql.Context, principal string) error {
			return s.ledger.Note(principal, "dp_raw", "SET dp_raw = ON")
		},
	}
}

// handle is a server option that puts our handler on go-mysql-server's own.
func (s *Server) handle(e *sqle.Engine, sm *server.SessionManager, h mysql.Handler) (*sqle.Engine, *server.SessionManager, mysql.Handler) {
	s.handler = &statement.Handler{
		Inner: h, Sessions: sm, Engine: e, Errors: &mysqlerr.Translator{Log: s.log, Debug: s.cfg.DebugErrors, TablesAt: s.tablesAt},
		Inbox: s.inbox, Observe: s.observers.Statement, Steps: s.cfg.Steps, Audit: s.audit, Connections: s.sockets.Connections, Since: time.Now(),
	}
	return e, sm, h
}

// protocolListener speaks the protocol.
func (s *Server) protocolListener(server.Config, mysql.ListenerConfig, server.ServerEventListener) (server.ProtocolListener, error) {
	key, err := auth.NewKey(s.place.Path(datadir.LoginKeyFile))
	if err != nil {
		return nil, err
	}
	s.logins = auth.NewServer(s.analyzer.Catalog.MySQLDb, key, monitor.Logins{Monitor: s.monitor, Audit: s.audit, Log: s.log}.Tried)
	return wire.NewServer(s.sockets, s.handler, gate.Admitting(s.logins.Login, s.analyzer.Catalog.MySQLDb, s.sessions), version.Number, auth.DefaultPlugin), nil
}

// builderOf makes the session of an authenticated client.
func builderOf(options *session.Options) server.SessionBuilder {
	quiet := logrus.New()
	quiet.SetOutput(io.Discard)
	quiet.SetLevel(logrus.PanicLevel)
	return func(_ context.Context, c *mysql.Conn, addr string) (sql.Session, error) {
		client := sql.Client{Capabilities: c.Capabilities}
		u, _ := c.UserData.(session.Account)
		client.User, client.Address = u.User, u.Host
		base := sql.NewBaseSessionWithClientServer(addr, client, c.ConnectionID)
		base.SetLogger(logrus.NewEntry(quiet))
		own := session.New(base, options)
		own.Conn, own.Identity = c.Conn, u.Identity
		c.ClientData = own
		return own, nil
	}
}

// tellLimits makes the variables that tell of the server's limits and defaults true.
// go-mysql-server would take them for limits of its own while it is assembled.
func tellLimits(c Config) error {
	return sql.SystemVariables.AssignValues(map[string]any{
		"max_allowed_packet": int64(c.MaxPacket), "max_connections": int64(c.MaxConnections), "collation_server": c.CollationServer, "collation_connection": c.CollationServer,
		gate.MaxUserConnections: int64(c.MaxUserConnections),
	})
}

// certificate is the server's, which a reload replaces: the operator's, or one that the first start
// has made. The latter keeps who only listens from reading passwords and answers; a client that
// would know the server by it takes its file as the authority to trust.
type certificate struct {
	now   atomic.Pointer[tls.Certificate]
	given atomic.Bool // by the operator
}

// load reads the operator's files, or else the server's own, which it makes where there are none.
func (t *certificate) load(c Config) error {
	certFile, keyFile, given := c.TLSCert, c.TLSKey, c.TLSCert != ""
	if !given {
		certFile, keyFile = c.Place().Path(datadir.CertificateFile), c.Place().Path(datadir.CertificateKeyFile)
		if err := selfsigned.Make(certFile, keyFile, "Scrim server", c.Listen); err != nil {
			return fmt.Errorf("engine: TLS certificate: %w", err)
		}
	}
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		if !given {
			return fmt.Errorf("engine: TLS certificate: %w; remove %s and %s, and others are made", err, certFile, keyFile)
		}
		return fmt.Errorf("engine: TLS certificate: %w", err)
	}
	t.now.Store(&cert)
	t.given.Store(given)
	return nil
}

// config offers the certificate.
func (t *certificate) config() *tls.Config {
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return t.now.Load(), nil },
		MinVersion:     tls.VersionTLS12,
	}
}

// ends is when the certificate ends.
func (t *certificate) ends() time.Time { return t.now.Load().Leaf.NotAfter }

// operators is config where the operator has given the certificate, else nil.
func (t *certificate) operators() *tls.Config {
	if !t.given.Load() {
		return nil
	}
	return t.config()
}

// listenContribute opens the socket of contributors.
func (s *Server) listenContribute() error {
	if s.cfg.ContributeListen == "" {
		return nil
	}
	origins, err := intake.ParseOrigins(s.cfg.ContributeOrigins)
	if err != nil {
		return err
	}
	certificate := s.certificate.operators()
	s.intake, err = intake.Listen(s.cfg.ContributeListen, intake.Options{
		Backend: contributors{s}, TLS: certificate, Secure: certificate != nil, Origins: origins,
		Page: true, MaxBody: intake.MaxLocal, MaxConnections: s.cfg.MaxConnections, Log: s.log,
	})
	return err
}

// contributors are served over HTTP as they are over the MySQL protocol by an INSERT into dp_in:
// the same place in the audit log first, the same checks and transaction of collections.Accept, and
// of a report that was taken no record of who sent it.
type contributors struct{ s *Server }

var _ intake.Backend = contributors{}

// httpContributor is the principal of refused reports: there is no account.
const httpContributor = "(contributor over HTTP)"

// Round implements intake.Backend.
func (c contributors) Round(name string, round int, stratum string) (*collect.Params, error) {
	if round == 0 {
		found, _ := c.s.collections.Lookup(name)
		round = found.Round
	}
	return c.s.collections.Params(name, round, stratum)
}

// Accept implements intake.Backend.
func (c contributors) Accept(ctx context.Context, name string, token, report []byte) error {
	place, err := c.s.audit.Admit()
	if err != nil {
		return err
	}
	begun := time.Now()
	err = c.s.collections.Accept(ctx, name, []collections.Submission{{Token: token, Report: report}})
	e := c.event(name, begun)
	if err == nil {
		place.Free()
		c.s.observers.Statement(e)
		return nil
	}
	e.ID, e.Principal, e.Outcome = trace.NewID(), httpContributor, watch.Failed
	if r, ok := refuse.As(err); ok {
		e.Outcome, e.Cause, e.Errno, e.SQLState = watch.Refused, string(r.Code), refuse.MySQLErrno, refuse.Lookup(r.Code).SQLState
	} else {
		public := c.s.handler.Errors.Public(err, mysqlerr.Context{Principal: e.Principal, ID: e.ID, Statement: mysqlerr.Statement{Text: e.Statement}})
		own, _ := mysqlerr.AsSQLError(public)
		own = cmp.Or(own, mysql.NewSQLError(mysql.ERUnknownError, mysql.SSUnknownSQLState, "internal error"))
		e.Errno, e.SQLState = own.Num, own.State
	}
	place.Write(audit.Of(e))
	c.s.observers.Statement(e)
	return err
}

// event is that of an INSERT of one report. A name that is no collection's is not repeated.
func (c contributors) event(name string, begun time.Time) watch.Event {
	table := "?"
	if found, ok := c.s.collections.Lookup(name); ok {
		table = sqltext.Name(found.Name)
	}
	text := "INSERT INTO " + inbox.Name + "." + table + " (token, report) VALUES (?, ?)"
	return watch.Event{At: begun, Duration: time.Since(begun), Statement: text, Digest: digest.Of(text), Outcome: watch.Answered}
}
