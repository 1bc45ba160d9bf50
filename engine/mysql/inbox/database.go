package inbox

import (
	"context"
	"fmt"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/mysql/virtual"
	"scrim/internal/refuse"
)

// Name is the name of the database.
const Name = "dp_in"

// Collections is what the database needs of collections; *collections.Collections is one.
type Collections interface {
	// Taking returns the names of the collections of the local model that take reports now.
	Taking() []string
	// Has reports whether there is a collection of that name.
	Has(name string) bool
	// Accept takes the reports of one statement, all or none.
	Accept(ctx context.Context, name string, list []Submission) error
}

// Submission is a token with the report that it brings.
type Submission struct {
	Token  []byte // others than of the collections' size were never issued
	Report []byte
}

// Database is dp_in. It is safe for concurrent use.
type Database struct {
	virtual.Objects
	virtual.Triggers
	c     Collections
	token sql.Type
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

// New returns the database over collections, whose tokens have so many bytes.
func New(c Collections, tokenSize int64) *Database {
	return &Database{InsertOnly, InsertOnly, c, types.MustCreateBinary(sqltypes.Binary, tokenSize)}
}

// Name implements sql.Database.
func (*Database) Name() string { return Name }

// GetTableNames implements sql.Database: the collections that take reports now.
func (d *Database) GetTableNames(*sql.Context) ([]string, error) {
	return d.c.Taking(), nil
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
	return !strings.Contains(name, ".") && d.c.Has(name)
}

// Accept takes the reports of one statement.
func (d *Database) Accept(ctx context.Context, name string, list []Submission) error {
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
		{Name: columnToken, Type: d.token, Source: name, DatabaseSource: Name},
		{Name: columnReport, Type: reportType, Source: name, DatabaseSource: Name},
	}}, d}
}

// IsTemporary implements sql.TemporaryTable. Without it go-mysql-server's check of read-only
// transactions panics.
func (t *Table) IsTemporary() bool { return false }

var reportType = types.MustCreateBinary(sqltypes.VarBinary, maxReport)

// PartitionRows implements sql.Table: nobody reads.
func (t *Table) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	return nil, InsertOnly()
}

// Inserter implements sql.InsertableTable.
func (t *Table) Inserter(*sql.Context) sql.RowInserter { return &inserter{t: t} }

// inserter gathers the rows of one statement and hands them over at its end.
type inserter struct {
	t    *Table
	list []Submission
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
	i.list = append(i.list, Submission{Token: token, Report: report})
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
