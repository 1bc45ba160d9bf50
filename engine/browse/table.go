package browse

import (
	"io"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/internal/refuse"
)

// table is a virtual table: its rows are made when they are read, for the session that reads.
type table struct {
	database, name string
	schema         sql.Schema
	read           func(ctx *sql.Context) ([]sql.Row, error)
	// within, if it is set, reads the rows within bounds.
	within func(ctx *sql.Context, only bounds) ([]sql.Row, error)
	only   bounds
}

var _ sql.Table = (*table)(nil)

// Name implements sql.Table.
func (t *table) Name() string { return t.name }

// String implements sql.Table.
func (t *table) String() string { return t.name }

// Schema implements sql.Table.
func (t *table) Schema(*sql.Context) sql.Schema { return t.schema }

// Collation implements sql.Table.
func (t *table) Collation() sql.CollationID { return sql.Collation_Information_Schema_Default }

type whole struct{}

// Key implements sql.Partition.
func (whole) Key() []byte { return []byte("all") }

// Partitions implements sql.Table: there is one.
func (t *table) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(whole{}), nil
}

// PartitionRows implements sql.Table. Nothing is read before the first row is asked for: the server may drop the iterator unused.
func (t *table) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	return &rows{table: t}, nil
}

func (t *table) rows(ctx *sql.Context) ([]sql.Row, error) {
	if t.within != nil {
		return t.within(ctx, t.only)
	}
	return t.read(ctx)
}

type rows struct {
	table  *table
	list   []sql.Row
	opened bool
}

// Next implements sql.RowIter.
func (r *rows) Next(ctx *sql.Context) (sql.Row, error) {
	if !r.opened {
		list, err := r.table.rows(ctx)
		if err != nil {
			return nil, err
		}
		r.list, r.opened = list, true
	}
	if len(r.list) == 0 {
		return nil, io.EOF
	}
	row := r.list[0]
	r.list = r.list[1:]
	return row, nil
}

// Close implements sql.RowIter.
func (r *rows) Close(*sql.Context) error { return nil }

// Types of the columns. Texts compare without case, as in MySQL's catalogue.
var (
	name    = types.MustCreateString(sqltypes.VarChar, 64, sql.Collation_Information_Schema_Default)
	long    = types.MustCreateString(sqltypes.VarChar, 2048, sql.Collation_Information_Schema_Default)
	text    = types.LongText
	number  = types.Int64
	natural = types.Uint64
	moment  = types.Datetime
)

// columns makes a schema from pairs of a name and a type.
func columns(database, table string, pairs ...any) sql.Schema {
	s := make(sql.Schema, len(pairs)/2)
	for i := range s {
		s[i] = &sql.Column{Name: pairs[2*i].(string), Type: pairs[2*i+1].(sql.Type), Nullable: true, Source: table, DatabaseSource: database}
	}
	return s
}

// named makes a schema of texts.
func named(database, table string, names ...string) sql.Schema {
	pairs := make([]any, 0, 2*len(names))
	for _, n := range names {
		pairs = append(pairs, n, sql.Type(long))
	}
	return columns(database, table, pairs...)
}

func none(*sql.Context) ([]sql.Row, error) { return nil, nil }

// database is a read-only database of virtual tables.
type database struct {
	name   string
	tables map[string]*table // by lower-case name
	// make finds the tables that are not listed. It may be nil.
	make func(ctx *sql.Context, name string) (sql.Table, error)
}

var (
	_ sql.ReadOnlyDatabase        = (*database)(nil)
	_ sql.ViewDatabase            = (*database)(nil)
	_ sql.StoredProcedureDatabase = (*database)(nil)
	_ sql.TriggerDatabase         = (*database)(nil)
)

func newDatabase(name string, list ...*table) *database {
	d := &database{name: name, tables: map[string]*table{}}
	for _, t := range list {
		d.tables[strings.ToLower(t.name)] = t
	}
	return d
}

// Name implements sql.Database.
func (d *database) Name() string { return d.name }

// IsReadOnly implements sql.ReadOnlyDatabase. A view of another database may select from information_schema, which
// go-mysql-server would take for a change of it; a table cannot be made in either.
func (d *database) IsReadOnly() bool { return d.name != sql.InformationSchemaDatabaseName }

// GetTableInsensitive implements sql.Database.
func (d *database) GetTableInsensitive(ctx *sql.Context, name string) (sql.Table, bool, error) {
	if t, ok := d.tables[strings.ToLower(name)]; ok {
		return t, true, nil
	}
	if d.make == nil {
		return nil, false, nil
	}
	t, err := d.make(ctx, name)
	return t, t != nil && err == nil, err
}

// GetTableNames implements sql.Database.
func (d *database) GetTableNames(*sql.Context) ([]string, error) { return sorted(d.tables), nil }

func (d *database) refuse() error {
	return refuse.New(refuse.Unsupported, "The database %s is read-only.", strings.TrimSpace(d.name)).With("Use a database of your own.")
}

// CreateView implements sql.ViewDatabase.
func (d *database) CreateView(*sql.Context, string, string, string) error { return d.refuse() }

// DropView implements sql.ViewDatabase.
func (d *database) DropView(*sql.Context, string) error { return d.refuse() }

// GetViewDefinition implements sql.ViewDatabase: there are none.
func (*database) GetViewDefinition(*sql.Context, string) (sql.ViewDefinition, bool, error) {
	return sql.ViewDefinition{}, false, nil
}

// AllViews implements sql.ViewDatabase: there are none.
func (*database) AllViews(*sql.Context) ([]sql.ViewDefinition, error) { return nil, nil }

// GetStoredProcedure implements sql.StoredProcedureDatabase: there are none.
func (*database) GetStoredProcedure(*sql.Context, string) (sql.StoredProcedureDetails, bool, error) {
	return sql.StoredProcedureDetails{}, false, nil
}

// GetStoredProcedures implements sql.StoredProcedureDatabase: there are none.
func (*database) GetStoredProcedures(*sql.Context) ([]sql.StoredProcedureDetails, error) {
	return nil, nil
}

// SaveStoredProcedure implements sql.StoredProcedureDatabase.
func (d *database) SaveStoredProcedure(*sql.Context, sql.StoredProcedureDetails) error {
	return d.refuse()
}

// DropStoredProcedure implements sql.StoredProcedureDatabase.
func (d *database) DropStoredProcedure(*sql.Context, string) error { return d.refuse() }

// GetTriggers implements sql.TriggerDatabase: there are none.
func (*database) GetTriggers(*sql.Context) ([]sql.TriggerDefinition, error) { return nil, nil }

// CreateTrigger implements sql.TriggerDatabase.
func (d *database) CreateTrigger(*sql.Context, sql.TriggerDefinition) error { return d.refuse() }

// DropTrigger implements sql.TriggerDatabase.
func (d *database) DropTrigger(*sql.Context, string) error { return d.refuse() }
