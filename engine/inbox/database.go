package inbox

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/engine/collect"
	"scrim/engine/collections"
	"scrim/engine/virtual"
	"scrim/internal/refuse"
)

// Name is the name of the database.
const Name = "dp_in"

// Collections is what the database needs of collections; *collections.Collections is one.
type Collections interface {
	List() []collections.Summary
	Lookup(name string) (collections.Summary, bool)
	Accept(ctx context.Context, name string, list []collections.Submission) error
}

var _ Collections = (*collections.Collections)(nil)

// Database is dp_in. It is safe for concurrent use.
type Database struct {
	virtual.Objects
	virtual.Triggers
	c Collections
}

var (
	_ sql.Database                = (*Database)(nil)
	_ sql.TableCreator            = (*Database)(nil)
	_ sql.TableDropper            = (*Database)(nil)
	_ sql.TableRenamer            = (*Database)(nil)
	_ sql.ViewDatabase            = (*Database)(nil)
	_ sql.StoredProcedureDatabase = (*Database)(nil)
	_ sql.TriggerDatabase         = (*Database)(nil)
)

// New returns the database over collections.
func New(c Collections) *Database { return &Database{InsertOnly, InsertOnly, c} }

// Name implements sql.Database.
func (*Database) Name() string { return Name }

// GetTableNames implements sql.Database: the collections that take reports now.
func (d *Database) GetTableNames(*sql.Context) ([]string, error) {
	var names []string
	for _, c := range d.c.List() {
		if c.Model == collect.Local && c.State == collections.Open {
			names = append(names, c.Name)
		}
	}
	return names, nil
}

// GetTableInsensitive implements sql.Database: any collection, because Accept knows best why one
// takes no reports.
func (d *Database) GetTableInsensitive(_ *sql.Context, name string) (sql.Table, bool, error) {
	if !d.Has(name) {
		return nil, false, nil
	}
	return newTable(d, strings.ToLower(name)), true, nil
}

// Has reports whether there is a collection of that short name.
func (d *Database) Has(name string) bool {
	if strings.Contains(name, ".") {
		return false
	}
	_, ok := d.c.Lookup(name)
	return ok
}

// Accept takes the reports of one statement.
func (d *Database) Accept(ctx context.Context, name string, list []collections.Submission) error {
	return d.c.Accept(ctx, strings.ToLower(name), list)
}

// InsertOnly refuses everything else about a table of the database.
func InsertOnly() error {
	return refuse.New(refuse.Unsupported, "The tables of the database %s take reports by INSERT, and nothing else.", Name).
		With("Reports are read from the collection's own table; collections are made and dropped with CALL dp_create_collection and CALL dp_drop_collection.")
}

// CreateTable implements sql.TableCreator.
func (*Database) CreateTable(*sql.Context, string, sql.PrimaryKeySchema, sql.CollationID, string) error {
	return InsertOnly()
}

// DropTable implements sql.TableDropper.
func (*Database) DropTable(*sql.Context, string) error { return InsertOnly() }

// RenameTable implements sql.TableRenamer.
func (*Database) RenameTable(*sql.Context, string, string) error { return InsertOnly() }
