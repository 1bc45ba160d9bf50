package admin

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/mysql/virtual"
	"scrim/internal/refuse"
)

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
