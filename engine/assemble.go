package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/catalog"
	"scrim/engine/admin"
	"scrim/engine/admin/price"
	"scrim/engine/admin/simulate"
	"scrim/engine/collections/collect/issue"
	"scrim/engine/collections/estimates"
	"scrim/engine/exec"
	"scrim/engine/mysql/auth"
	"scrim/engine/mysql/browse"
	"scrim/engine/mysql/dialect"
	"scrim/engine/mysql/gate"
	"scrim/engine/mysql/hold"
	"scrim/engine/mysql/inbox"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/statement/infile"
	"scrim/engine/mysql/statement/processlist"
	"scrim/engine/mysql/statement/trace"
	"scrim/engine/mysql/tables"
	"scrim/engine/mysql/wire"
	"scrim/engine/observe/version"
	"scrim/engine/ops/datadir/backup"
	"scrim/engine/store"
	"scrim/functions"
	"scrim/functions/standard"
	"scrim/planner"
	"scrim/planner/parse"
	"scrim/planner/plan"
	"scrim/planner/stored"
)

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
func (databases) Function(ctx *sql.Context, _, name string) (sql.Function, bool) {
	name = strings.ToLower(name)
	if f, closed := gate.Function(ctx, name); closed {
		return f, true
	}
	return standard.Function(name)
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
	s.prices = &price.Teller{Ledger: s.ledger, Runner: s.runner, DefaultLoss: price.DefaultLoss(s.catalog.Snapshot),
		View: func(ctx *sql.Context, query, options string) (*plan.Statement, error) {
			return s.views.Statement(ctx, query, options)
		}}
	s.simulator = &simulate.Simulator{Runner: s.runner, Collections: s.collections}
	catalogue := browse.New()
	s.admin = s.administration(catalogue)
	s.inbox = inbox.New(s.collections, issue.TokenSize)
	s.tables = tables.NewProvider(s.store, &gate.Access{Catalog: s.catalog, Store: s.store, Holds: s.collections.Holds, Views: s.views.Holds, Totals: s.totals.Holds, Attached: s.attached},
		append(catalogue.Databases(), s.admin.Database(), s.inbox)...)
	s.planner = planner.New(planner.Config{
		Catalog:  func() catalog.Reader { return s.catalog.Snapshot() },
		Executor: trace.NotingExecutor{Executor: s.runner},
		Session:  session.Facts{},
		Pure: func(ctx *sql.Context, account string, entity bool) bool {
			return s.ledger.Pure(account, entity, session.Principal(ctx), session.Roles(ctx)...)
		},
		Forecast:    s.prices.Forecast,
		Earlier:     s.prices.Earlier,
		Views:       s.views.Of,
		Domains:     tables.Domains{Provider: s.tables},
		Public:      s.tables,
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
	own := tables.NewBuilder(s.tables, infile.Builder{Next: dialect.Explainer{Next: session.Locking{}}})
	own.Whole, s.tables.Catalog = s.analyzer.ExecBuilder, s.analyzer.Catalog
	s.analyzer.ExecBuilder.PriorityBuilder = hold.NewBuilder(own, s.analyzer.ExecBuilder)
	ctx := sql.NewEmptyContext()
	s.analyzer.Catalog.RegisterFunction(ctx, sql.FunctionN{Name: "version", Fn: version.Function}, sql.FunctionN{Name: "current_role", Fn: gate.CurrentRole})
	s.engine = sqle.New(s.analyzer, &sqle.Config{})
	s.prices.Engine, s.simulator.Engine = s.engine, s.engine
	s.views.Engine, s.views.Runner, s.views.Tables = s.engine, s.runner, s.tables
	s.views.Domains = tables.Domains{Provider: s.tables}
	s.views.Policy = func(table string) catalog.Table { return s.catalog.Snapshot().Table(table) }
	s.analyzer.Catalog.RegisterFunction(ctx, dpFunctions...)
	catalogue.Open(s.analyzer.Catalog, s.browsing())
	s.analyzer.Catalog.RegisterFunction(ctx, dialect.Functions()...)
	return errors.Join(s.loadAccounts(ctx), s.declareCollections(ctx), s.declareViews(ctx))
}

// attached reports whether a name is that of files of others, and whether it is attached.
func (s *Server) attached(ref store.TableRef) (live, known bool) {
	a, known := s.store.Attachments()[ref]
	return known && a.Live(), known
}

// executor runs private statements.
func (s *Server) executor() *exec.Executor {
	return &exec.Executor{
		Store:     s.store,
		Account:   trace.NotingAccount{Account: s.monitor.Account(s.ledger)},
		Noise:     s.noise,
		Principal: session.Principal,
		Owner:     session.Owner,
		Roles:     session.Roles,
		Units: func(entity string, first, last time.Time) (int64, bool) {
			return s.catalog.Snapshot().UnitsOf(entity, first, last)
		},
		Fixed:     session.Fixed,
		Memory:    s.cfg.ReleaseMemory << 20,
		Spill:     s.spill,
		Unchanged: s.unchanged,
		Progress: func(ctx *sql.Context, name string, step, steps int) {
			processlist.ShowStep(ctx, name, step, steps)
			trace.Of(ctx).Next(name, step)
		},
		Ran: func(ctx *sql.Context, replayed, charged int) { trace.Of(ctx).Ran(replayed, charged) },
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

// administration is the DBA's side in SQL: the procedures, and the database dp.
func (s *Server) administration(catalogue *browse.Server) *admin.Admin {
	o := admin.Options{
		Catalog:     s.catalog,
		Ledger:      s.ledger,
		Schema:      func(ctx *sql.Context) catalog.Schema { return admin.StoreSchema(ctx, s.store) },
		Columns:     func(ctx *sql.Context, table string) sql.Schema { return s.tables.Columns(ctx, table) },
		Price:       s.prices.Price,
		DefaultLoss: s.prices.DefaultLoss,
		IsDBA:       session.IsDBA,
		IsAuditor:   session.IsAuditor,
		Principal:   session.Principal,
		Backup:      s.backup,
		NextLoad:    func(ctx *sql.Context, l *store.Load) error { return s.tables.Announce(ctx, l) },
		HasAccount: func(_ *sql.Context, principal string) bool {
			return auth.Named(s.analyzer.Catalog.MySQLDb, principal) != nil
		},
		StoredTables: catalogue.StoredTables,
		Accounts:     s.accounts,
		Collections:  s.collections,
		Simulate:     s.simulator.Run,
		Views:        s.views,
		Sources:      s.store,
		Totals:       s.totals,
		Schedules:    s.schedules,
		Forecast:     s.prices.Forecast,
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

// browsing is what the catalogue that clients browse is made of.
func (s *Server) browsing() browse.Options {
	o := browse.Options{
		Tables: s.tables,
		Public: func(ref store.TableRef) bool { return s.catalog.Snapshot().Table(ref.String()).State == catalog.Public },
		DBA:    session.IsDBA,
		All:    func(ctx *sql.Context) bool { return session.IsDBA(ctx) || session.IsAuditor(ctx) },
		Roles:  session.Roles,
		ShowCreateUser: func(user, host string) (string, bool) {
			return auth.ShowCreateUser(s.analyzer.Catalog.MySQLDb, user, host)
		},
		Traffic: s.traffic,
		TLS:     tlsOf,
	}
	for _, p := range admin.Procedures() {
		o.Routines = append(o.Routines, browse.Routine{Name: p.Name, Signature: p.Signature, Doc: p.Doc})
	}
	return o
}

// clientConn is the client's connection, nil where there is none.
func clientConn(ctx *sql.Context) *wire.Conn {
	own, ok := session.From(ctx)
	if !ok {
		return nil
	}
	c, _ := own.Conn.(*wire.Conn)
	return c
}

// traffic counts the bytes of the session's connection, or of all.
func (s *Server) traffic(ctx *sql.Context, all bool) (received, sent uint64) {
	if all {
		return s.sockets.Traffic()
	}
	if c := clientConn(ctx); c != nil {
		return c.Traffic()
	}
	return 0, 0
}

// tlsOf names the cipher and the version of TLS of the session's connection.
func tlsOf(ctx *sql.Context) (cipher, version string) {
	c := clientConn(ctx)
	if c == nil {
		return "", ""
	}
	version, cipher = c.TLS()
	return cipher, version
}

// newParser builds the parser of all statements.
func newParser() sql.Parser {
	return dialect.Parser(sql.NewMysqlParser(), forms()...).Admit(gate.CheckLength).Then(adapt)
}

// adapt makes of a statement's tree what the binder takes, and refuses what it would take wrongly.
func adapt(ctx context.Context, s ast.Statement) (ast.Statement, error) {
	current := currentDatabase(ctx)
	if err := dialect.CheckNames(s, current); err != nil {
		return s, err
	}
	s = parse.Adapt(s)
	if err := gate.CheckRename(current, s); err != nil {
		return s, err
	}
	s = auth.AsCreateUser(s)
	browse.OwnRows(s, current)
	gate.Lift(s)
	qualifyView(s)
	return s, nil
}

// forms are the statements that others answer, or nothing does. The first that fits counts.
func forms() []dialect.Form {
	return slices.Concat(
		browse.Forms(),
		dialect.Forms,
	)
}

// qualifyView is the step that names a view's database where go-mysql-server looks for it.
func qualifyView(s ast.Statement) {
	if n, ok := s.(*ast.DDL); ok && n.ViewSpec != nil && n.Table.DbQualifier.IsEmpty() {
		n.Table.DbQualifier = n.ViewSpec.ViewName.DbQualifier
	}
}

// currentDatabase is the database of the session in ctx, "" without one.
func currentDatabase(ctx context.Context) string {
	if c, ok := ctx.(*sql.Context); ok && c.Session != nil {
		return c.GetCurrentDatabase()
	}
	return ""
}
