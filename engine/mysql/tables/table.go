package tables

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/store"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// Table is one stored table, perhaps with only some of its columns. It is immutable.
//
// It deliberately does not implement sql.StatisticsTable, sql.IndexAddressable or
// sql.AutoIncrementGetter's truth: nothing about the number of its rows can be asked for.
type Table struct {
	p         *Provider
	def       store.Table
	schema    sql.Schema  // all columns
	pk        []int       // ordinals of the primary key
	projected []string    // nil: all columns
	ordinals  []int       // of the projected columns
	eager     bool        // the inserter looks for duplicates row by row
	fractions map[int]int // digits of the seconds of TIME columns that have fewer than 6
	declared  int         // CHECK constraints
	checks    []check
}

var (
	_ sql.Table              = (*Table)(nil)
	_ sql.ProjectedTable     = (*Table)(nil)
	_ sql.PrimaryKeyTable    = (*Table)(nil)
	_ sql.CommentedTable     = (*Table)(nil)
	_ sql.InsertableTable    = (*Table)(nil)
	_ sql.ReplaceableTable   = (*Table)(nil)
	_ sql.UpdatableTable     = (*Table)(nil)
	_ sql.DeletableTable     = (*Table)(nil)
	_ sql.TruncateableTable  = (*Table)(nil)
	_ sql.AutoIncrementTable = (*Table)(nil)
	_ sql.TemporaryTable     = (*Table)(nil)
)

func newTable(ctx *sql.Context, p *Provider, def store.Table) (*Table, error) {
	t := &Table{p: p, def: def, schema: make(sql.Schema, len(def.Columns))}
	for i, c := range def.Columns {
		m := metaOf(c)
		typ, err := columnType(ctx, c, m)
		if err != nil {
			return nil, err
		}
		col := &sql.Column{
			Name: c.Name, Type: typ, Nullable: c.Nullable,
			Source: def.Ref.Name, DatabaseSource: def.Ref.Schema,
			Comment: m.Comment, AutoIncrement: m.Auto,
		}
		if digits, ok := fractionOf(m.MySQL); ok && digits < 6 {
			if t.fractions == nil {
				t.fractions = map[int]int{}
			}
			t.fractions[i] = digits
		}
		if m.Auto {
			col.Extra = "auto_increment"
		}
		if m.Default != "" {
			col.Default = sql.NewUnresolvedColumnDefaultValue(m.Default)
		}
		if m.OnUpdate != "" {
			col.OnUpdate = sql.NewUnresolvedColumnDefaultValue(m.OnUpdate)
		}
		t.schema[i] = col
	}
	for _, k := range def.Keys {
		if !k.Primary {
			continue
		}
		for _, name := range k.Columns {
			i := t.schema.IndexOfColName(name)
			t.schema[i].PrimaryKey = true
			t.schema[i].Nullable = false
			t.pk = append(t.pk, i)
		}
	}
	t.ordinals, t.declared = every(len(def.Columns)), len(tableMetaOf(def).Checks)
	return t, nil
}

func every(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// StoreRef returns the name of the table in the store.
func (t *Table) StoreRef() store.TableRef { return t.def.Ref }

// StoreColumns returns all columns of the stored table, whatever the projection.
func (t *Table) StoreColumns() []store.Column { return t.def.Columns }

// StoreSource is the kind of source that the table is read from, and what it promises; "" for the
// store's own.
func (t *Table) StoreSource() string {
	if t.def.Source == "" {
		return ""
	}
	return t.def.Source + "  " + t.def.Promise
}

// Name implements sql.Table.
func (t *Table) Name() string { return t.def.Ref.Name }

// String implements sql.Table.
func (t *Table) String() string { return t.def.Ref.Name }

// Comment implements sql.CommentedTable.
func (t *Table) Comment() string { return tableMetaOf(t.def).Comment }

// Collation implements sql.Table.
func (t *Table) Collation() sql.CollationID { return sql.Collation_Default }

// IsTemporary implements sql.TemporaryTable. Without it go-mysql-server's check of read-only
// transactions panics on a write.
func (t *Table) IsTemporary() bool { return false }

// Schema implements sql.Table: the projected columns.
func (t *Table) Schema(*sql.Context) sql.Schema {
	if t.projected == nil {
		return t.schema
	}
	s := make(sql.Schema, len(t.ordinals))
	for i, o := range t.ordinals {
		s[i] = t.schema[o]
	}
	return s
}

// PrimaryKeySchema implements sql.PrimaryKeyTable: all columns, also of a projected table.
func (t *Table) PrimaryKeySchema(*sql.Context) sql.PrimaryKeySchema {
	return sql.NewPrimaryKeySchema(t.schema, t.pk...)
}

// WithProjections implements sql.ProjectedTable.
func (t *Table) WithProjections(_ *sql.Context, columns []string) (sql.Table, error) {
	n := *t
	n.projected = columns
	n.ordinals = make([]int, 0, len(columns))
	for _, c := range columns {
		i := t.schema.IndexOfColName(c)
		if i < 0 {
			return nil, sql.ErrTableColumnNotFound.New(t.Name(), c)
		}
		n.ordinals = append(n.ordinals, i)
	}
	return &n, nil
}

// Projections implements sql.ProjectedTable.
func (t *Table) Projections() []string { return t.projected }

// whole is the one partition of every table.
type whole struct{}

func (whole) Key() []byte { return []byte("all") }

// Partitions implements sql.Table.
func (t *Table) Partitions(*sql.Context) (sql.PartitionIter, error) {
	return sql.PartitionsToPartitionIter(whole{}), nil
}

// PartitionRows implements sql.Table. It is where raw rows are refused; the query itself runs at
// the first call of Next, because the server may drop the iterator unused.
func (t *Table) PartitionRows(ctx *sql.Context, _ sql.Partition) (sql.RowIter, error) {
	return t.p.guarded(ctx, []store.TableRef{t.def.Ref}, newRows(t.selectSQL(t.ordinals), nil, t.Schema(ctx)))
}

// selectSQL returns a SELECT of the columns with the given ordinals, and of more.
func (t *Table) selectSQL(ordinals []int, more ...string) string {
	list := make([]string, len(ordinals))
	for i, o := range ordinals {
		list[i] = readSQL(t.def.Columns[o])
	}
	if list = append(list, more...); len(list) == 0 {
		list = []string{"1"}
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + quote(t.def.Ref)
}

// Truncate implements sql.TruncateableTable. It always reports 0 rows, as MySQL does.
func (t *Table) Truncate(ctx *sql.Context) (int, error) {
	if err := t.p.checkAlter(ctx, t.def.Ref, Change{Op: Truncate}); err != nil {
		return 0, err
	}
	if err := t.p.access.CheckWrite(ctx, t.def.Ref); err != nil {
		return 0, err
	}
	err := t.p.definition(ctx, []store.TableRef{t.def.Ref}, "DELETE FROM "+quote(t.def.Ref), nil)
	t.p.ids.forget(t.def.Ref)
	return 0, err
}

// asTable finds the stored table behind what go-mysql-server wraps around it.
func asTable(t sql.Table) (*Table, bool) {
	s, ok := sql.GetUnderlyingTable(t).(*Table)
	return s, ok
}

// unsupported is a refusal of a statement that has no form here.
func unsupported(remedy, format string, args ...any) error {
	return refuse.New(refuse.Unsupported, format, args...).With("%s", remedy)
}

// index describes a key to SHOW INDEX and SHOW CREATE TABLE. No plan uses it: the tables are not
// sql.IndexAddressable, so that nothing looks rows up, or counts them, by key behind CheckRead.
type index struct {
	table *Table
	key   keyDef
}

var _ sql.Index = index{}

// indexes returns the table's keys.
func (t *Table) indexes() []sql.Index {
	var list []sql.Index
	for _, k := range definitionOf(t.def).keys {
		list = append(list, index{table: t, key: k})
	}
	return list
}

// ID implements sql.Index.
func (i index) ID() string { return i.key.name }

// Database implements sql.Index.
func (i index) Database() string { return i.table.def.Ref.Schema }

// Table implements sql.Index.
func (i index) Table() string { return i.table.def.Ref.Name }

// Expressions implements sql.Index: the columns as table.column.
func (i index) Expressions() []string {
	list := make([]string, len(i.key.columns))
	for j, c := range i.key.columns {
		list[j] = i.table.def.Ref.Name + "." + c
	}
	return list
}

// IsUnique implements sql.Index.
func (i index) IsUnique() bool { return !i.key.plain }

// IsSpatial implements sql.Index.
func (index) IsSpatial() bool { return false }

// IsFullText implements sql.Index.
func (index) IsFullText() bool { return false }

// IsVector implements sql.Index.
func (index) IsVector() bool { return false }

// Comment implements sql.Index.
func (i index) Comment() string { return i.key.comment }

// IndexType implements sql.Index.
func (index) IndexType() string { return "BTREE" }

// IsGenerated implements sql.Index.
func (index) IsGenerated() bool { return false }

// ColumnExpressionTypes implements sql.Index.
func (i index) ColumnExpressionTypes(*sql.Context) []sql.ColumnExpressionType {
	list := make([]sql.ColumnExpressionType, len(i.key.columns))
	for j, e := range i.Expressions() {
		list[j] = sql.ColumnExpressionType{Expression: e, Type: i.table.schema[i.table.schema.IndexOfColName(i.key.columns[j])].Type}
	}
	return list
}

// CanSupport implements sql.Index: no look-ups.
func (index) CanSupport(*sql.Context, ...sql.Range) bool { return false }

// CanSupportOrderBy implements sql.Index.
func (index) CanSupportOrderBy(sql.Expression) bool { return false }

// CoversColumns implements sql.Index.
func (index) CoversColumns([]string) bool { return false }

// PrefixLengths implements sql.Index.
func (i index) PrefixLengths() []uint16 {
	list := make([]uint16, len(i.key.lengths))
	for j, n := range i.key.lengths {
		list[j] = uint16(n)
	}
	return list
}

// PeekNextAutoIncrementValue implements sql.AutoIncrementGetter. It always says 1, which SHOW
// CREATE TABLE and INFORMATION_SCHEMA leave out: the true value is a running count of the table's
// rows.
func (t *Table) PeekNextAutoIncrementValue(*sql.Context) (uint64, error) { return 1, nil }

// GetNextAutoIncrementValue implements sql.AutoIncrementTable. A given value moves the counter past
// it. The counter's first value comes from the rows, so the client must be allowed to read them.
func (t *Table) GetNextAutoIncrementValue(ctx *sql.Context, given any) (uint64, error) {
	if err := t.checkInsert(ctx); err != nil {
		return 0, err
	}
	c := &t.p.ids
	c.mu.Lock()
	defer c.mu.Unlock()
	next, ok := c.next[t.def.Ref]
	if !ok {
		var err error
		if next, err = t.largestID(ctx); err != nil {
			return 0, err
		}
		next = max(next+1, tableMetaOf(t.def).First)
	}
	value := next
	if given != nil {
		v, _, err := types.Uint64.Convert(ctx, given)
		if err != nil {
			return 0, err
		}
		value = v.(uint64)
	}
	c.next[t.def.Ref] = max(next, value+1)
	return value, nil
}

// largestID returns the largest stored value of the AUTO_INCREMENT column, 0 when there is none.
func (t *Table) largestID(ctx *sql.Context) (uint64, error) {
	for _, col := range t.schema {
		if !col.AutoIncrement {
			continue
		}
		id := sqltext.StoreName(col.Name)
		it := newRows("SELECT CAST(greatest(coalesce(max("+id+"), 0), 0) AS UBIGINT) FROM "+quote(t.def.Ref),
			nil, sql.Schema{{Name: "id", Type: types.Uint64}})
		defer it.Close(ctx)
		row, err := it.Next(ctx)
		if err != nil {
			return 0, err
		}
		return row[0].(uint64), nil
	}
	return 0, sql.ErrNoAutoIncrementCol
}

// AutoIncrementSetter implements sql.AutoIncrementTable.
func (t *Table) AutoIncrementSetter(*sql.Context) sql.AutoIncrementSetter { return idSetter{t} }

// idSetter is ALTER TABLE ... AUTO_INCREMENT = n.
type idSetter struct{ t *Table }

// SetAutoIncrementValue implements sql.AutoIncrementSetter. A value under what is stored has no
// effect.
func (s idSetter) SetAutoIncrementValue(ctx *sql.Context, v uint64) error {
	if err := s.t.p.access.CheckDDL(ctx, s.t.def.Ref); err != nil {
		return err
	}
	if err := s.t.checkInsert(ctx); err != nil {
		return err
	}
	d := &Database{p: s.t.p, name: s.t.def.Ref.Schema}
	return d.alter(ctx, s.t.Name(), alteration{change: Change{Op: ModifyColumn}, meta: true, apply: func(t *definition) error {
		t.first = v
		return nil
	}, done: func() { s.t.p.ids.forget(s.t.def.Ref) }})
}

// AcquireAutoIncrementLock implements sql.AutoIncrementSetter: each value is handed out under a
// lock already, and nothing promises that those of one statement follow each other.
func (s idSetter) AcquireAutoIncrementLock(*sql.Context) (func(), error) { return func() {}, nil }

// Close implements sql.AutoIncrementSetter.
func (s idSetter) Close(*sql.Context) error { return nil }
