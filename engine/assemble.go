package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/sirupsen/logrus"

	"scrim/catalog"
	"scrim/engine/admin"
	"scrim/engine/auth"
	"scrim/engine/browse"
	"scrim/engine/datadir"
	"scrim/engine/datadir/backup"
	"scrim/engine/dialect"
	"scrim/engine/estimates"
	"scrim/engine/exec"
	"scrim/engine/gate"
	"scrim/engine/hold"
	"scrim/engine/inbox"
	"scrim/engine/monitor"
	"scrim/engine/mysqlerr"
	"scrim/engine/price"
	"scrim/engine/session"
	"scrim/engine/simulate"
	"scrim/engine/statement"
	"scrim/engine/statement/infile"
	"scrim/engine/statement/processlist"
	"scrim/engine/statement/trace"
	"scrim/engine/store"
	"scrim/engine/tables"
	"scrim/engine/version"
	"scrim/engine/wire"
	"scrim/functions"
	"scrim/functions/standard"
	"scrim/internal/gcpace"
	"scrim/internal/processors"
	"scrim/internal/turns"
	"scrim/planner"
	"scrim/planner/plan"
	"scrim/planner/stored"
)

var process sync.Once

// prepareProcess sets what go-mysql-server keeps for the whole process: our rules for the statements
// that skip an engine's own, our variables, closed file functions, and no log of its own, because
// its lines quote errors and statements.
func prepareProcess() {
	process.Do(func() {
		gcpace.Set()
		processors.Count()
		rules := append([]analyzer.Rule{gate.Rule(), browse.Rule()}, slices.Concat(admin.Rules(), tables.Rules())...)
		analyzer.AlwaysBeforeDefault = append(rules, analyzer.AlwaysBeforeDefault...)
		analyzer.SetOutput(io.Discard)
		logrus.SetOutput(io.Discard)
		logrus.SetLevel(logrus.PanicLevel)
		log.SetOutput(io.Discard) // the protocol implementation logs here
		session.RegisterVariables()
		sql.SystemVariables.AddSystemVariables([]sql.SystemVariable{gate.SecureFilePriv()})
		if err := sql.SystemVariables.AssignValues(map[string]any{
			"local_infile":    int8(1),
			"version":         version.Number,
			"version_comment": version.Comment,
		}); err != nil {
			panic("engine: system variables: " + err.Error()) // names and types are fixed
		}
	})
}

// databases is what the SQL engine asks for databases and for the procedures.
type databases struct {
	*tables.Provider
	procedures sql.ExternalStoredProcedureRegistry
}

var (
	_ sql.ExternalStoredProcedureProvider = databases{}
	_ sql.FunctionProvider                = databases{}
)

// Function implements sql.FunctionProvider: it is asked before go-mysql-server's own functions.
func (databases) Function(_ *sql.Context, _, name string) (sql.Function, bool) {
	return standard.Function(strings.ToLower(name))
}

// ExternalStoredProcedure implements sql.ExternalStoredProcedureProvider.
func (d databases) ExternalStoredProcedure(_ *sql.Context, name string, params int) (*sql.ExternalStoredProcedureDetails, error) {
	return d.procedures.LookupByNameAndParamCount(name, params)
}

// ExternalStoredProcedures implements sql.ExternalStoredProcedureProvider.
func (d databases) ExternalStoredProcedures(_ *sql.Context, name string) ([]sql.ExternalStoredProcedureDetails, error) {
	return d.procedures.LookupByName(name)
}

// assemble builds the SQL engine over the open stores, and loads the accounts.
func (s *Server) assemble() error {
	prepareProcess()
	dpFunctions := functions.Register()
	s.backups = &backup.Server{
		Source: backup.Source{Place: s.place, ID: s.dir.ID, Ledger: s.ledger, Store: s.store},
		Into:   s.cfg.BackupDir, Settle: s.collections.Settle, Audit: s.audit, Log: s.log,
	}
	s.runner = s.executor()
	s.prices = &price.Teller{Ledger: s.ledger, Runner: s.runner}
	s.simulator = &simulate.Simulator{Runner: s.runner, Collections: s.collections}
	s.admin = s.administration()
	s.browse = browse.New()
	s.inbox = inbox.New(s.collections)
	s.tables = tables.NewProvider(s.store, &gate.Access{Catalog: s.catalog, Store: s.store, Holds: s.collections.Holds},
		append(s.browse.Databases(), s.admin.Database(), s.inbox)...)
	s.planner = planner.New(planner.Config{
		Catalog:  func() catalog.Reader { return s.catalog.Snapshot() },
		Executor: trace.Executor{Executor: s.runner},
		Session:  session.Facts{},
		Pure: func(ctx *sql.Context, account string, entity bool) bool {
			return s.ledger.Pure(account, entity, session.Principal(ctx), session.Roles(ctx)...)
		},
		Forecast:    s.prices.Forecast,
		Earlier:     s.prices.Earlier,
		Domains:     tables.Domains{Provider: s.tables},
		Public:      s.tables,
		Parser:      grammar(),
		Memory:      s.cfg.ReleaseMemory << 20,
		StoreMemory: s.cfg.storeMemory(),
	})
	builder := analyzer.NewBuilder(databases{s.tables, s.admin.Registry()}).
		AddOverrides(sql.EngineOverrides{Builder: sql.BuilderOverrides{Parser: newParser()}})
	estimates.Add(builder, estimates.Config{
		Collections: s.collections,
		Protected: func(ref store.TableRef) bool {
			return s.catalog.Snapshot().Table(ref.String()).State == catalog.Protected
		},
		NullIfFew: session.NullIfFew,
	})
	s.analyzer = s.planner.Build(builder)
	own := tables.NewBuilder(s.tables, infile.Builder{Next: dialect.Explainer{Next: gate.Locking{}}})
	s.analyzer.ExecBuilder.PriorityBuilder = hold.NewBuilder(own, s.analyzer.ExecBuilder)
	ctx := sql.NewEmptyContext()
	s.analyzer.Catalog.RegisterFunction(ctx, sql.FunctionN{Name: "version", Fn: version.Function}, sql.FunctionN{Name: "current_role", Fn: gate.CurrentRole})
	s.engine = sqle.New(s.analyzer, &sqle.Config{})
	s.prices.Engine, s.simulator.Engine = s.engine, s.engine
	s.analyzer.Catalog.RegisterFunction(ctx, dpFunctions...)
	s.browse.Open(s.analyzer.Catalog, s.browsing(s.tables))
	s.analyzer.Catalog.RegisterFunction(ctx, dialect.Functions()...)
	return errors.Join(s.loadAccounts(ctx), s.declareCollections(ctx))
}

// administration is the DBA's side in SQL: the procedures, and the database dp.
func (s *Server) administration() *admin.Admin {
	o := admin.Options{
		Catalog:   s.catalog,
		Ledger:    s.ledger,
		Schema:    func(ctx *sql.Context) catalog.Schema { return admin.StoreSchema(ctx, s.store) },
		Price:     s.prices.Price,
		IsDBA:     session.IsDBA,
		IsAuditor: session.IsAuditor,
		Principal: session.Principal,
		Backup:    s.backup,
		HasAccount: func(_ *sql.Context, principal string) bool {
			return auth.Exists(s.analyzer.Catalog.MySQLDb, principal)
		},
		Accounts:    s.accounts,
		Collections: s.collections,
		Simulate:    s.simulator.Run,
		HasView: func(ctx *sql.Context, schema, name string) (bool, error) {
			return s.tables.HasView(ctx, schema, name)
		},
		IsCollector: session.IsCollector,
		IsShuffler:  session.IsShuffler,
		HasRole: func(_ *sql.Context, name string) bool {
			return auth.IsRole(s.analyzer.Catalog.MySQLDb, name)
		},
	}
	return admin.New(o)
}

// accounts lists the accounts and roles for dp.accounts.
func (s *Server) accounts() []admin.Account {
	var list []admin.Account
	for _, a := range auth.Accounts(s.analyzer.Catalog.MySQLDb) {
		list = append(list, admin.Account{Name: a.Name, Role: a.Role, Roles: a.Roles, DBA: a.DBA, Grants: a.Grants})
	}
	return list
}

// backup makes a backup for CALL dp_backup.
func (s *Server) backup(ctx *sql.Context, name string) (path string, size int64, err error) {
	return s.backups.Make(ctx, session.Principal(ctx), name)
}

// executor runs private statements.
func (s *Server) executor() *exec.Executor {
	return &exec.Executor{
		Store:     s.store,
		Account:   s.monitor.Account(s.ledger),
		Noise:     s.noise,
		Principal: session.Principal,
		Roles:     session.Roles,
		Fixed:     session.Fixed,
		Memory:    s.cfg.ReleaseMemory << 20,
		Spill:     s.spill,
		Unchanged: s.unchanged,
		Progress:  processlist.ShowStep,
		Ran:       func(ctx *sql.Context, replayed, charged int) { trace.Of(ctx).Ran(replayed, charged) },
		Lost: func(err error) {
			s.log.Warn().Str("type", mysqlerr.ErrorType(err)).Msg("an answer was not kept for replays")
		},
	}
}

// unchanged looks a table up as it is now and compares it with what a plan took from it.
func (s *Server) unchanged(ctx *sql.Context, d plan.Definition) error {
	db, err := s.analyzer.Catalog.DbProvider.Database(ctx, d.Ref.Schema)
	if err != nil {
		return plan.Changed(d.Ref)
	}
	t, ok, err := db.GetTableInsensitive(ctx, d.Ref.Name)
	if err != nil {
		return err
	}
	now, held := t.(stored.Table)
	if !ok || !held || stored.Definition(ctx, now, s.catalog.Snapshot().Table(d.Ref.String())) != d {
		return plan.Changed(d.Ref)
	}
	return nil
}

// loadAccounts reads the accounts, or makes the first one.
func (s *Server) loadAccounts(ctx *sql.Context) error {
	db := s.analyzer.Catalog.MySQLDb
	if s.dir.Fresh {
		// An earlier first start may have ended before it could show the password that it made.
		if err := os.Remove(s.place.Path(datadir.UsersFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("engine: %w", err)
		}
	}
	generated, err := auth.Load(ctx, db, auth.NewPersister(s.place.Path(datadir.UsersFile), s.dir.ID), s.cfg.RootPassword)
	if err != nil {
		return err
	}
	s.rootPassword = generated
	for _, name := range auth.Audit(db) {
		s.log.Warn().Str("account", name).Msg("the account has no password and cannot log in")
	}
	for _, name := range auth.Shadowed(db) {
		s.log.Warn().Str("account", name+"@%").Msg("the account has the name of a role, which is therefore missing: drop the account and start again")
	}
	return nil
}

// speak puts the MySQL protocol on the socket, with our handler in the place of go-mysql-server's.
func (s *Server) speak() error {
	var err error
	s.protocol, err = server.NewServer(server.Config{
		Listener:                 addressed{s.sockets},
		Protocol:                 "tcp",
		Address:                  s.cfg.Listen,
		Version:                  version.Number,
		DisableConnectionWatcher: true, // our handler watches
		Options:                  []server.Option{s.handle},
		ProtocolListenerFactory:  s.protocolListener,
	}, s.engine, sql.NewContext, builderOf(s.sessionOptions()), nil)
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
		Exists: func(user, host string) bool {
			return auth.Exists(s.analyzer.Catalog.MySQLDb, user+"@"+host)
		},
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
		Inner: h, Sessions: sm, Engine: e, Errors: &mysqlerr.Translator{Log: s.log, Debug: s.cfg.DebugErrors},
		Inbox: s.inbox, Observe: s.observers.Statement, Audit: s.audit, Connections: s.sockets.Connections, Since: time.Now(),
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
	return wire.NewServer(s.sockets, s.handler, gate.Admitting(s.logins.Login, s.analyzer.Catalog.MySQLDb, s.sessionOptions()), version.Number, auth.DefaultPlugin), nil
}

// builderOf makes the session of an authenticated client.
func builderOf(options *session.Options) server.SessionBuilder {
	quiet := logrus.New()
	quiet.SetOutput(io.Discard)
	quiet.SetLevel(logrus.PanicLevel)
	return func(_ context.Context, c *mysql.Conn, addr string) (sql.Session, error) {
		client := sql.Client{Capabilities: c.Capabilities}
		if u, ok := c.UserData.(sql.MysqlConnectionUser); ok {
			client.User, client.Address = u.User, u.Host
		}
		base := sql.NewBaseSessionWithClientServer(addr, client, c.ConnectionID)
		base.SetLogger(logrus.NewEntry(quiet))
		own := session.New(base, options)
		own.Conn = c.Conn
		c.ClientData = own
		return own, nil
	}
}
