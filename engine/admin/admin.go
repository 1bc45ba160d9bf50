package admin

import (
	"context"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/accounting"
	"scrim/accounting/budget"
	"scrim/catalog"
	"scrim/engine/collections"
	"scrim/engine/mysql/virtual"
	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/planner/plan"
)

// Ledger is what the package needs of the account; *accounting.Ledger is one.
type Ledger interface {
	SetBudget(ctx context.Context, b budget.Budget) error
	RemoveBudget(ctx context.Context, account string, entity bool, principal, by string) error
	ResetBudget(ctx context.Context, account string, entity bool, principal, by, reason string) error
	Budgets() []budget.Budget
	Note(principal, kind, text string) error
	Status(entitiesOf map[string][]string) (accounting.Status, error)
	Entries(ctx context.Context, f accounting.Filter) ([]accounting.Entry, error)
	Renewed(ctx context.Context, first uint64) (accounting.Entry, error)
	Count(ctx context.Context, f accounting.Filter) (entries, lines uint64, err error)
	Recheck(ctx context.Context) (accounting.Rechecked, error)
	StoredAnswers(ctx context.Context, f accounting.AnswerFilter) ([]accounting.StoredAnswer, uint64, error)
}

var _ Ledger = (*accounting.Ledger)(nil)

// Options are what the package works on. All fields but IsAuditor, HasAccount, HasRole,
// StoredTables and Accounts are required.
type Options struct {
	Catalog *catalog.Catalog
	Ledger  Ledger
	// Schema returns what the store holds, for the checks of policies; StoreSchema makes one.
	Schema func(*sql.Context) catalog.Schema
	// Columns lists the columns of a table that the store holds; none where there is no such table.
	Columns func(ctx *sql.Context, table string) sql.Schema
	// Price plans a query and tells what it would cost; it runs nothing.
	Price func(ctx *sql.Context, query string) ([]PriceLine, error)
	// DefaultLoss tells what a statement costs where nobody says. Nil: no number of questions is
	// told.
	DefaultLoss accounting.DefaultLoss
	// IsDBA reports whether the session's account is a DBA.
	IsDBA func(*sql.Context) bool
	// IsAuditor reports whether the session's account sees the ledger and the budgets of all. Nil:
	// none does.
	IsAuditor func(*sql.Context) bool
	// Principal names the session's account, user@host; "" when there is none.
	Principal func(*sql.Context) string
	// Backup writes a backup of that name, and returns where it is and its size. Nil: there is none
	// to be had.
	Backup func(ctx *sql.Context, name string) (path string, bytes int64, err error)
	// NextLoad has the session's next LOAD DATA do what it says beside inserting rows; it refuses a
	// file that is in the table already.
	NextLoad func(ctx *sql.Context, l *store.Load) error
	// HasAccount reports whether a MySQL account exists. Nil: budgets are set for any name.
	HasAccount func(ctx *sql.Context, principal string) bool
	// HasRole reports whether a role exists. Nil: budgets are set for any.
	HasRole func(ctx *sql.Context, name string) bool
	// Collections are the server's. Nil: it has none, and the procedures for them are refused.
	Collections Collections
	// IsCollector reports whether the session's account administers collections, and IsShuffler
	// whether it loads batches. Nil: DBAs only.
	IsCollector, IsShuffler func(*sql.Context) bool
	// HasView reports whether a database has a view of a name, which no collection can have then.
	// Nil: none has.
	HasView func(ctx *sql.Context, schema, name string) (bool, error)
	// Views are the DP views of the server. Nil: it has none, and the procedures for them must not
	// be called.
	Views Views
	// Sources attaches files of others as tables. Nil: there are none, and the procedures for them
	// must not be called.
	Sources Sources
	// Totals are its series of running totals, likewise.
	Totals Totals
	// Schedules are those of both, and Forecast tells what budgets would say to a refresh. They are
	// required where there are Views.
	Schedules Schedules
	Forecast  func(ctx *sql.Context, st *plan.Statement) ([]accounting.Forecast, error)
	// Simulate runs a collection over values that the server holds. It is required where there are
	// Collections.
	Simulate func(ctx *sql.Context, q Simulation) ([]collections.Trial, error)
	// StoredTables lists the tables of the store, as schema.table: all, or those that the session
	// may see. Nil: dp.policies has declared tables only.
	StoredTables func(ctx *sql.Context, all bool) ([]string, error)
	// Accounts lists the accounts and roles. Nil: dp.accounts is empty.
	Accounts func() []Account
}

// Admin holds the procedures and the database dp. It is safe for concurrent use.
type Admin struct {
	o      Options
	tables map[string]*table
	names  []string
	// budgetsMu orders checks of budgets and changes of them, altering whole calls of
	// dp_alter_budget.
	budgetsMu, altering sync.Mutex
	forecasting         chan struct{} // holds the one forecast that is being made
}

// New returns the procedures and the database. It panics when a required option is missing.
func New(o Options) *Admin {
	if o.Catalog == nil || o.Ledger == nil || o.Schema == nil || o.IsDBA == nil || o.Principal == nil {
		panic("admin: missing option")
	}
	a := &Admin{o: o, tables: map[string]*table{}, forecasting: make(chan struct{}, 1)}
	for _, t := range a.views() {
		a.tables[t.Title] = t
		a.names = append(a.names, t.Title)
	}
	return a
}

// Database returns the virtual read-only database dp.
func (a *Admin) Database() sql.Database { return database{readOnly, a} }

// seesAll reports whether the session sees the budgets and the entries of everybody.
func (a *Admin) seesAll(ctx *sql.Context) bool {
	return a.o.IsDBA(ctx) || a.o.IsAuditor != nil && a.o.IsAuditor(ctx)
}

// Name is the name of the virtual database.
const Name = "dp"

// database is the read-only database of our tables.
type database struct {
	virtual.Objects
	a *Admin
}

var (
	_ sql.ReadOnlyDatabase        = database{}
	_ sql.ViewDatabase            = database{}
	_ sql.StoredProcedureDatabase = database{}
)

// Name implements sql.Database.
func (database) Name() string { return Name }

// IsReadOnly implements sql.ReadOnlyDatabase.
func (database) IsReadOnly() bool { return true }

// GetTableNames implements sql.Database.
func (d database) GetTableNames(*sql.Context) ([]string, error) { return d.a.names, nil }

// GetTableInsensitive implements sql.Database.
func (d database) GetTableInsensitive(_ *sql.Context, name string) (sql.Table, bool, error) {
	t, ok := d.a.tables[strings.ToLower(name)]
	if !ok {
		return nil, false, nil
	}
	if t.Title == "ledger" {
		return &logTable{table: t, a: d.a, whole: true}, true, nil
	}
	return t, true, nil
}

func readOnly() error {
	return refuse.New(refuse.Unsupported, "The database dp is read-only.").With("Create it in another database; policies are set with CALL dp_….")
}

// table is one virtual table: its rows are made when they are read, for the session that reads.
type table struct {
	virtual.Named
	// open returns a source that yields the rows in pages, and no rows at the end.
	open func(ctx *sql.Context) func() ([]sql.Row, error)
}

var _ sql.Table = (*table)(nil)

// PartitionRows implements sql.Table.
func (t *table) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	return virtual.Pages(t.open), nil
}

// column describes one column of a virtual table.
type column struct {
	name string
	typ  sql.Type
}

func text(name string) column   { return column{name, types.LongText} }
func real(name string) column   { return column{name, types.Float64} }
func count(name string) column  { return column{name, types.Int64} }
func moment(name string) column { return column{name, types.DatetimeMaxPrecision} }

// newTable builds a table whose rows come all at once.
func newTable(name string, read func(ctx *sql.Context) ([]sql.Row, error), columns ...column) *table {
	return newPaged(name, virtual.Once(read), columns...)
}

func newPaged(name string, open func(ctx *sql.Context) func() ([]sql.Row, error), columns ...column) *table {
	return &table{virtual.Named{Title: name, Columns: schemaOf(name, columns)}, open}
}

// schemaOf is the schema of a table of dp, or of what a procedure returns; nil for no columns.
func schemaOf(name string, columns []column) sql.Schema {
	var s sql.Schema
	for _, c := range columns {
		s = append(s, &sql.Column{Name: c.name, Type: c.typ, Nullable: true, Source: name, DatabaseSource: Name})
	}
	return s
}

// yes says yes or no.
func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// orNull returns a value, nil for an empty text and 0.
func orNull[T comparable](x T) any {
	if x == *new(T) {
		return nil
	}
	return x
}
