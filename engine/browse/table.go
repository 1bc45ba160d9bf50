package browse

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/virtual"
	"scrim/internal/refuse"
)

// table is a virtual table: its rows are made when they are read, for the session that reads.
type table struct {
	virtual.Named
	read func(ctx *sql.Context) ([]sql.Row, error)
	// within, if it is set, reads the rows within bounds.
	within func(ctx *sql.Context, only bounds) ([]sql.Row, error)
	only   bounds
}

var _ sql.Table = (*table)(nil)

// newTable makes a table that read reads.
func newTable(name string, schema sql.Schema, read func(*sql.Context) ([]sql.Row, error)) *table {
	return &table{Named: virtual.Named{Title: name, Columns: schema}, read: read}
}

// Collation implements sql.Table.
func (t *table) Collation() sql.CollationID { return sql.Collation_Information_Schema_Default }

// PartitionRows implements sql.Table.
func (t *table) PartitionRows(*sql.Context, sql.Partition) (sql.RowIter, error) {
	if t.within != nil {
		return virtual.Rows(func(ctx *sql.Context) ([]sql.Row, error) { return t.within(ctx, t.only) }), nil
	}
	return virtual.Rows(t.read), nil
}

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
	virtual.Objects
	virtual.Triggers
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
	d.Objects, d.Triggers = d.refuse, d.refuse
	for _, t := range list {
		d.tables[strings.ToLower(t.Title)] = t
	}
	return d
}

// Name implements sql.Database.
func (d *database) Name() string { return d.name }

// IsReadOnly implements sql.ReadOnlyDatabase. A view of another database may select from
// information_schema, which go-mysql-server would take for a change of it; a table cannot be made
// in either.
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
