package tables

import (
	"context"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/store"
	"scrim/internal/collation"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// reserved are the names that CREATE DATABASE refuses and that never stand for a stored schema:
// those of MySQL and of the server's own virtual databases. The store adds its own.
var reserved = map[string]bool{
	"information_schema": true, "mysql": true, "performance_schema": true, "sys": true, "dp": true, "dp_in": true,
}

// Reserved reports whether a name, in any case, is that of a database which the server itself
// provides: a stored schema of that name would never be seen.
func Reserved(schema string) bool { return reserved[strings.ToLower(schema)] }

// Provider shows the schemas of a store as databases, beside virtual databases that the engine
// gives it. It is safe for concurrent use.
type Provider struct {
	store    store.Store
	access   Access
	virtual  map[string]sql.Database
	ids      counters
	views    viewCache
	defaults collations

	described described

	// Catalog has the functions of expressions that the catalogue keeps as texts. It is set once,
	// before the first statement.
	Catalog sql.Catalog
}

var (
	_ sql.DatabaseProvider         = (*Provider)(nil)
	_ sql.MutableDatabaseProvider  = (*Provider)(nil)
	_ sql.CollatedDatabaseProvider = (*Provider)(nil)
)

// NewProvider returns the databases of st together with the virtual ones, whose names must be
// reserved or unused.
func NewProvider(st store.Store, access Access, virtual ...sql.Database) *Provider {
	p := &Provider{store: st, access: access, virtual: map[string]sql.Database{}}
	p.ids.next = map[store.TableRef]uint64{}
	for _, db := range virtual {
		p.virtual[fold(db.Name())] = db
	}
	return p
}

// fold is the one place that says how names of databases and tables are compared and stored.
func fold(name string) string { return strings.ToLower(name) }

// visible reports whether a schema of the store is shown as a database. The name is folded.
func (p *Provider) visible(schema string) bool {
	return !reserved[schema] && p.virtual[schema] == nil && !p.store.ReservedSchema(schema)
}

// Database implements sql.DatabaseProvider.
func (p *Provider) Database(ctx *sql.Context, name string) (sql.Database, error) {
	folded := fold(name)
	if db, ok := p.virtual[folded]; ok {
		return db, nil
	}
	schemas, err := p.schemas(ctx)
	if err != nil {
		return nil, err
	}
	if slices.Contains(schemas, folded) {
		return &Database{p: p, name: folded}, nil
	}
	return nil, sql.ErrDatabaseNotFound.New(name)
}

// HasDatabase implements sql.DatabaseProvider.
func (p *Provider) HasDatabase(ctx *sql.Context, name string) bool {
	_, err := p.Database(ctx, name)
	return err == nil
}

// AllDatabases implements sql.DatabaseProvider: the databases in order of their names.
func (p *Provider) AllDatabases(ctx *sql.Context) []sql.Database {
	var dbs []sql.Database
	for _, db := range p.virtual {
		dbs = append(dbs, db)
	}
	schemas, err := p.schemas(ctx)
	if err != nil {
		schemas = nil // the interface has no error; a store that cannot list has nothing to show
	}
	dbs = append(dbs, lists.Map(schemas, func(s string) sql.Database { return &Database{p: p, name: s} })...)
	sort.Slice(dbs, func(i, j int) bool { return dbs[i].Name() < dbs[j].Name() })
	return dbs
}

func (p *Provider) schemas(ctx context.Context) ([]string, error) {
	all, err := p.store.Schemas(ctx)
	if err != nil {
		return nil, err
	}
	var shown []string
	for _, s := range all {
		if f := fold(s); p.visible(f) {
			shown = append(shown, f)
		}
	}
	return shown, nil
}

// CreateDatabase implements sql.MutableDatabaseProvider.
func (p *Provider) CreateDatabase(ctx *sql.Context, name string) error {
	return p.CreateCollatedDatabase(ctx, name, sql.Collation_Default)
}

// CreateCollatedDatabase implements sql.CollatedDatabaseProvider.
func (p *Provider) CreateCollatedDatabase(ctx *sql.Context, name string, c sql.CollationID) error {
	folded := fold(name)
	if err := p.access.CheckDDL(ctx, store.TableRef{Schema: folded}); err != nil {
		return err
	}
	if !p.visible(folded) {
		return refuse.New(refuse.Unsupported, "The database name %s is reserved.", folded).With("Choose another name.")
	}
	if p.HasDatabase(ctx, folded) {
		return sql.ErrDatabaseExists.New(name)
	}
	if err := collation.Check(c); err != nil {
		return err
	}
	return p.defaults.set(ctx, p, folded, c, func(s store.Session) error {
		_, err := s.Write(ctx, nil, "CREATE SCHEMA "+sqltext.StoreName(folded))
		return classify(err, nil)
	})
}

// DropDatabase implements sql.MutableDatabaseProvider: it drops every table and view of the
// database.
func (p *Provider) DropDatabase(ctx *sql.Context, name string) error {
	folded := fold(name)
	if err := p.access.CheckDDL(ctx, store.TableRef{Schema: folded}); err != nil {
		return err
	}
	if !p.visible(folded) {
		return refuse.New(refuse.Unsupported, "The database %s cannot be dropped.", folded).With("It is part of the server.")
	}
	list, err := p.store.Tables(ctx, folded)
	if err != nil {
		return err
	}
	var refs []store.TableRef
	for _, t := range list {
		if err := p.access.CheckAlter(ctx, t.Ref, Change{Op: DropTable}); err != nil {
			return err
		}
		refs = append(refs, t.Ref)
	}
	var viewsGone func()
	err = p.atomically(ctx, func(s store.Session) error {
		if _, err := s.Write(ctx, refs, "DROP SCHEMA "+sqltext.StoreName(folded)+" CASCADE"); err != nil {
			return classify(err, nil)
		}
		if err := lists.Each(refs, func(r store.TableRef) error { return p.access.Dropped(ctx, r) }); err != nil {
			return err
		}
		if viewsGone, err = p.dropViews(ctx, s, folded); err == nil {
			err = s.Meta().Delete(ctx, bucketCollations, folded)
		}
		return err
	})
	if err == nil {
		viewsGone()
		p.defaults.forget(folded)
	}
	for _, r := range refs {
		p.ids.forget(r)
	}
	return err
}

// definition runs one DDL statement, and then what belongs to it, in one transaction.
func (p *Provider) definition(ctx *sql.Context, refs []store.TableRef, statement string, after func() error) error {
	return p.atomically(ctx, func(s store.Session) error {
		if _, err := s.Write(ctx, refs, statement); err != nil {
			return classify(err, nil)
		}
		if after == nil {
			return nil
		}
		return after()
	})
}

// atomically runs change in a transaction of its own. As in MySQL, a definition first commits the
// transaction that the client has open.
func (p *Provider) atomically(ctx *sql.Context, change func(store.Session) error) error {
	s, err := SessionOf(ctx)
	if err != nil {
		return err
	}
	if s.InTransaction() {
		err := s.Commit(ctx)
		ctx.SetIgnoreAutoCommit(false) // see session.CommitTransaction
		ctx.SetTransaction(nil)
		if err != nil {
			return err
		}
	}
	if err := s.Begin(ctx); err != nil {
		return err
	}
	if err := change(s); err != nil {
		if rb := s.Rollback(ctx); rb != nil {
			return rb
		}
		return err
	}
	return s.Commit(ctx)
}

// counters holds the next AUTO_INCREMENT value of the tables that were inserted into since the
// server started; a table's first value is one more than the largest that is stored. As in MySQL,
// a value is never given twice, also when its transaction is rolled back.
type counters struct {
	mu   sync.Mutex
	next map[store.TableRef]uint64
}

func (c *counters) forget(ref store.TableRef) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.next, ref)
}

// Access decides who may do what, and is told what happened. The engine implements it. Every error
// it returns is sent to the client.
type Access interface {
	// CheckRead is asked before rows of a table are read, or anything exact about them is told:
	// protected tables need dp_raw, undeclared tables a DBA.
	CheckRead(ctx *sql.Context, ref store.TableRef) error
	// CheckWrite is asked before rows of a table are inserted, changed or removed.
	CheckWrite(ctx *sql.Context, ref store.TableRef) error
	// CheckDDL is asked before any definition is changed. The ref's Name is empty for a statement
	// on a whole schema.
	CheckDDL(ctx *sql.Context, ref store.TableRef) error
	// CheckAlter is asked, after CheckDDL, before a definition that policies may speak of is
	// changed.
	CheckAlter(ctx *sql.Context, ref store.TableRef, change Change) error
	// Renamed is told, in the transaction of the rename and before it commits, that a table has a
	// new name. Its error undoes the rename.
	Renamed(ctx *sql.Context, old, new store.TableRef) error
	// Dropped is told, in the transaction of the drop and before it commits, that a table is gone.
	// Its error undoes the drop.
	Dropped(ctx *sql.Context, ref store.TableRef) error
}

// Op is one kind of change of a definition.
type Op uint8

// Operations on a table or its columns.
const (
	DropTable Op = iota
	RenameTable
	Truncate
	AddColumn
	DropColumn
	RenameColumn
	ModifyColumn
	AddKey
	DropKey
)

// Change is one change of a table's definition.
type Change struct {
	Op      Op
	Column  string   // of column operations: the column's present name (AddColumn: its name)
	Columns []string // of AddKey and DropKey: the key's columns
	To      string   // of RenameColumn: the new name
	// of ModifyColumn: by which the column's texts will be compared, where that changes
	Collation sql.CollationID
}

// StoreSession is implemented by the engine's session: it hands out the client's own connection to
// the store.
type StoreSession interface {
	sql.Session
	// Store returns the connection. It is the same one for as long as the client stays connected.
	Store(ctx *sql.Context) (store.Session, error)
}

// SessionOf returns the store session of the client that runs the statement.
func SessionOf(ctx *sql.Context) (store.Session, error) {
	s, ok := ctx.Session.(StoreSession)
	if !ok {
		return nil, sql.ErrDatabaseAccessDeniedForUser.New(ctx.Session.Client().User, ctx.GetCurrentDatabase())
	}
	return s.Store(ctx)
}
