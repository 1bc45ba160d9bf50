package inbox

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/collect"
	"scrim/engine/collect/issue"
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

// maxReport is the declared length of a report. The collection's parameters say what its reports
// have; all have less.
const maxReport = 60000

// Table is one table of the database.
type Table struct {
	virtual.Named
	d *Database
}

var (
	_ sql.Table           = (*Table)(nil)
	_ sql.InsertableTable = (*Table)(nil)
	_ sql.TemporaryTable  = (*Table)(nil)
)

func newTable(d *Database, name string) *Table {
	return &Table{virtual.Named{Title: name, Columns: sql.Schema{
		{Name: columnToken, Type: tokenType, Source: name, DatabaseSource: Name},
		{Name: columnReport, Type: reportType, Source: name, DatabaseSource: Name},
	}}, d}
}

// IsTemporary implements sql.TemporaryTable. Without it go-mysql-server's check of read-only
// transactions panics.
func (t *Table) IsTemporary() bool { return false }

var tokenType, reportType = types.MustCreateBinary(sqltypes.Binary, issue.TokenSize), types.MustCreateBinary(sqltypes.VarBinary, maxReport)

// PartitionRows implements sql.Table: nobody reads.
func (t *Table) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	return nil, InsertOnly()
}

// Inserter implements sql.InsertableTable.
func (t *Table) Inserter(*sql.Context) sql.RowInserter { return &inserter{t: t} }

// inserter gathers the rows of one statement and hands them over at its end.
type inserter struct {
	t    *Table
	list []collections.Submission
}

var _ sql.RowInserter = (*inserter)(nil)

// StatementBegin implements sql.EditOpenerCloser.
func (i *inserter) StatementBegin(*sql.Context) {}

// DiscardChanges implements sql.EditOpenerCloser.
func (i *inserter) DiscardChanges(*sql.Context, error) error {
	i.list = nil
	return nil
}

// StatementComplete implements sql.EditOpenerCloser.
func (i *inserter) StatementComplete(ctx *sql.Context) error {
	list := i.list
	i.list = nil
	if len(list) == 0 {
		return nil
	}
	return i.t.d.Accept(ctx, i.t.Title, list)
}

// Insert implements sql.RowInserter.
func (i *inserter) Insert(ctx *sql.Context, row sql.Row) error {
	token, err := content(ctx, row[0])
	if err != nil {
		return err
	}
	report, err := content(ctx, row[1])
	if err != nil {
		return err
	}
	i.list = append(i.list, collections.Submission{Token: token, Report: report})
	return nil
}

// Close implements sql.Closer.
func (i *inserter) Close(*sql.Context) error { return nil }

// content returns a copy of the bytes of a value.
func content(ctx *sql.Context, v any) ([]byte, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case []byte:
		return append([]byte(nil), v...), nil
	case string:
		return []byte(v), nil
	}
	return nil, fmt.Errorf("inbox: a value of type %T", v)
}
