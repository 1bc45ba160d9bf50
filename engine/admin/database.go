package admin

import (
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/refuse"
)

// Name is the name of the virtual database.
const Name = "dp"

// database is the read-only database of our tables.
type database struct{ a *Admin }

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
	if t.name == "ledger" {
		return newLog(d.a, t), true, nil
	}
	return t, true, nil
}

func readOnly() error {
	return refuse.New(refuse.Unsupported, "The database dp is read-only.").With("Create it in another database; policies are set with CALL dp_….")
}

// CreateView implements sql.ViewDatabase.
func (database) CreateView(*sql.Context, string, string, string) error { return readOnly() }

// DropView implements sql.ViewDatabase.
func (database) DropView(*sql.Context, string) error { return readOnly() }

// GetViewDefinition implements sql.ViewDatabase: there are none.
func (database) GetViewDefinition(*sql.Context, string) (sql.ViewDefinition, bool, error) {
	return sql.ViewDefinition{}, false, nil
}

// AllViews implements sql.ViewDatabase: there are none.
func (database) AllViews(*sql.Context) ([]sql.ViewDefinition, error) { return nil, nil }

// GetStoredProcedure implements sql.StoredProcedureDatabase: there are none.
func (database) GetStoredProcedure(*sql.Context, string) (sql.StoredProcedureDetails, bool, error) {
	return sql.StoredProcedureDetails{}, false, nil
}

// GetStoredProcedures implements sql.StoredProcedureDatabase: there are none.
func (database) GetStoredProcedures(*sql.Context) ([]sql.StoredProcedureDetails, error) {
	return nil, nil
}

// SaveStoredProcedure implements sql.StoredProcedureDatabase.
func (database) SaveStoredProcedure(*sql.Context, sql.StoredProcedureDetails) error {
	return readOnly()
}

// DropStoredProcedure implements sql.StoredProcedureDatabase.
func (database) DropStoredProcedure(*sql.Context, string) error { return readOnly() }

// table is one virtual table: its rows are made when they are read, for the session that reads.
type table struct {
	name   string
	schema sql.Schema
	// open returns a source that yields the rows in pages, and no rows at the end.
	open func(ctx *sql.Context) func() ([]sql.Row, error)
}

var _ sql.Table = (*table)(nil)

// Name implements sql.Table.
func (t *table) Name() string { return t.name }

// String implements sql.Table.
func (t *table) String() string { return t.name }

// Schema implements sql.Table.
func (t *table) Schema(*sql.Context) sql.Schema { return t.schema }

// Collation implements sql.Table.
func (t *table) Collation() sql.CollationID { return sql.Collation_Default }

type whole struct{}

// Key implements sql.Partition.
func (whole) Key() []byte { return []byte(Name) }

// Partitions implements sql.Table: there is one.
func (t *table) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(whole{}), nil
}

// PartitionRows implements sql.Table. Nothing is read before the first row is asked for.
func (t *table) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	return &rows{table: t}, nil
}

type rows struct {
	table *table
	next  func() ([]sql.Row, error)
	page  []sql.Row
}

// Next implements sql.RowIter.
func (r *rows) Next(ctx *sql.Context) (sql.Row, error) {
	if r.next == nil {
		r.next = r.table.open(ctx)
	}
	if len(r.page) == 0 {
		page, err := r.next()
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			return nil, io.EOF
		}
		r.page = page
	}
	row := r.page[0]
	r.page = r.page[1:]
	return row, nil
}

// Close implements sql.RowIter.
func (r *rows) Close(*sql.Context) error { return nil }

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
	return newPaged(name, func(ctx *sql.Context) func() ([]sql.Row, error) {
		done := false
		return func() ([]sql.Row, error) {
			if done {
				return nil, nil
			}
			done = true
			return read(ctx)
		}
	}, columns...)
}

func newPaged(name string, open func(ctx *sql.Context) func() ([]sql.Row, error), columns ...column) *table {
	return &table{name: name, open: open, schema: schemaOf(name, columns)}
}

// schemaOf is the schema of a table of dp, or of what a procedure returns; nil for no columns.
func schemaOf(name string, columns []column) sql.Schema {
	var s sql.Schema
	for _, c := range columns {
		s = append(s, &sql.Column{Name: c.name, Type: c.typ, Nullable: true, Source: name, DatabaseSource: Name})
	}
	return s
}

// orNull returns nil for an empty text.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
