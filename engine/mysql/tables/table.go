package tables

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/proto/query"

	"scrim/engine/store"
	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// Table is one stored table, perhaps with only some of its columns. It is immutable.
//
// It deliberately does not implement sql.StatisticsTable or sql.IndexAddressable: nothing about the
// number of its rows can be asked for.
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
	foreign   []ForeignKey // that it declares
	// all are the columns with the hidden ones behind them, and kinds their types
	all      []store.Column
	kinds    sql.Schema
	computes bool // some of them follow from others
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
		if m.Generated != "" {
			col.Default, t.computes = &sql.ColumnDefaultValue{Expr: awaited{expression.NewLiteral(nil, types.Null)}, OutType: typ, ReturnNil: true, Parenthesized: true}, true
		}
		t.schema[i] = col
	}
	t.all, t.kinds = def.Columns, t.schema
	if len(def.Hidden) > 0 {
		t.all, t.kinds, t.computes = slices.Concat(def.Columns, def.Hidden), slices.Clone(t.schema), true
		for _, c := range def.Hidden {
			typ, err := columnType(ctx, c, metaOf(c))
			if err != nil {
				return nil, err
			}
			t.kinds = append(t.kinds, &sql.Column{Name: c.Name, Type: typ, Nullable: true, Source: def.Ref.Name, DatabaseSource: def.Ref.Schema})
		}
	}
	for _, k := range def.Keys {
		if !k.Primary {
			continue
		}
		columns := k.Columns
		if len(def.Hidden) > 0 {
			columns = definitionOf(def).keys[0].columns // which come first
		}
		for _, name := range columns {
			i := t.schema.IndexOfColName(name)
			t.schema[i].PrimaryKey = true
			t.schema[i].Nullable = false
			t.pk = append(t.pk, i)
		}
	}
	m := tableMetaOf(def)
	t.ordinals, t.declared, t.foreign = every(len(def.Columns)), len(m.Checks), m.Foreign
	return t, nil
}

func every(n int) []int {
	return lists.Make(n, func(i int) int { return i })
}

// StoreRef returns the name of the table in the store.
func (t *Table) StoreRef() store.TableRef { return t.def.Ref }

// StoreColumns returns all columns of the stored table, whatever the projection.
func (t *Table) StoreColumns() []store.Column { return t.def.Columns }

// StoreCollation implements stored.Table.
func (t *Table) StoreCollation(c store.Column) sql.CollationID { return CollationOf(c) }

// StoreSource is the kind of source that the table is read from, and what it promises; "" for the
// store's own.
func (t *Table) StoreSource() string {
	if t.def.Source == "" {
		return ""
	}
	return t.def.Source + "  " + t.def.Promise
}

// UniqueKeys lists the columns of each key that no two rows share and that has no NULLs.
func (t *Table) UniqueKeys() (keys [][]int) {
	for _, k := range definitionOf(t.def).keys {
		if k.plain || k.exprs != nil || slices.ContainsFunc(k.lengths, func(n int) bool { return n > 0 }) {
			continue
		}
		var key []int
		for _, name := range k.columns {
			i := t.schema.IndexOfColName(name)
			if i < 0 || t.schema[i].Nullable {
				key = nil
				break
			}
			key = append(key, i)
		}
		if key != nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// Name implements sql.Table.
func (t *Table) Name() string { return t.def.Ref.Name }

// String implements sql.Table.
func (t *Table) String() string { return t.def.Ref.Name }

// Comment implements sql.CommentedTable.
func (t *Table) Comment() string { return tableMetaOf(t.def).Comment }

// Collation implements sql.Table.
func (t *Table) Collation() sql.CollationID { return collationNamed(tableMetaOf(t.def).Collation) }

// IsTemporary implements sql.TemporaryTable. Without it go-mysql-server's check of read-only
// transactions panics on a write.
func (t *Table) IsTemporary() bool { return false }

// Schema implements sql.Table: the projected columns.
func (t *Table) Schema(*sql.Context) sql.Schema {
	if t.projected == nil {
		return t.schema
	}
	s := sql.Schema(lists.Map(t.ordinals, func(o int) *sql.Column { return t.schema[o] }))
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
	list := lists.Map(ordinals, func(o int) string { return readSQL(t.all[o]) })
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
	if foreignChecks(ctx) {
		list, err := t.p.referencing(ctx, t.def.Ref)
		if err != nil {
			return 0, err
		}
		for _, r := range list {
			if r.child != t.def.Ref {
				return 0, mysql.NewSQLError(1701, "42000", "Cannot truncate a table referenced in a foreign key constraint (%s.%s, CONSTRAINT %s)",
					sqltext.Name(r.child.Schema), sqltext.Name(r.child.Name), sqltext.Name(r.Name))
			}
		}
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

// PeekNextAutoIncrementValue implements sql.AutoIncrementGetter. It says 1, which SHOW CREATE TABLE
// and INFORMATION_SCHEMA leave out, to whom the rows are not shown: the true value is a running
// count of them.
func (t *Table) PeekNextAutoIncrementValue(ctx *sql.Context) (uint64, error) {
	auto := slices.IndexFunc(t.schema, func(c *sql.Column) bool { return c.AutoIncrement })
	if auto < 0 || t.p.access.CheckRead(ctx, t.def.Ref) != nil {
		return 1, nil
	}
	c := &t.p.ids
	c.mu.Lock()
	defer c.mu.Unlock()
	next, err := t.nextID(ctx)
	if n, ok := t.schema[auto].Type.(sql.NumberType); ok && n.IsNumericType() {
		next = min(next, largestOf(n)) // where the column is full
	}
	return next, err
}

// NextID is the next AUTO_INCREMENT value of a table, 0 where there is none or the account may not
// read the rows, of which it is a count.
func (p *Provider) NextID(ctx *sql.Context, ref store.TableRef) (uint64, error) {
	def, ok, err := p.store.Table(ctx, ref)
	if err != nil || !ok {
		return 0, err
	}
	t, err := newTable(ctx, p, def)
	if err != nil || p.access.CheckRead(ctx, ref) != nil {
		return 0, err
	}
	return t.PeekNextAutoIncrementValue(ctx)
}

// largestOf is the largest whole number of a type.
func largestOf(t sql.NumberType) uint64 {
	bits := map[query.Type]int{sqltypes.Int8: 8, sqltypes.Uint8: 8, sqltypes.Int16: 16, sqltypes.Uint16: 16,
		sqltypes.Int24: 24, sqltypes.Uint24: 24, sqltypes.Int32: 32, sqltypes.Uint32: 32}[t.Type()]
	bits = cmp.Or(bits, 64)
	if types.IsSigned(t) {
		bits--
	}
	return math.MaxUint64 >> (64 - bits)
}

// nextID is the next value of the counter, whose first one comes from the rows. The caller holds
// the counters' lock.
func (t *Table) nextID(ctx *sql.Context) (uint64, error) {
	if next, ok := t.p.ids.next[t.def.Ref]; ok {
		return next, nil
	}
	largest, err := t.largestID(ctx)
	return max(after(largest), tableMetaOf(t.def).First), err
}

// GetNextAutoIncrementValue implements sql.AutoIncrementTable. A given value moves the counter past
// it. The counter's first value comes from the rows, so the client must be allowed to read them.
func (t *Table) GetNextAutoIncrementValue(ctx *sql.Context, given any) (uint64, error) {
	if err := t.checkInsert(ctx); err != nil {
		return 0, err
	}
	c := &t.p.ids
	c.mu.Lock()
	defer c.mu.Unlock()
	next, err := t.nextID(ctx)
	if err != nil {
		return 0, err
	}
	value := next
	if given != nil {
		v, _, err := types.Uint64.Convert(ctx, given)
		if err != nil {
			return 0, err
		}
		value = v.(uint64)
	}
	c.next[t.def.Ref] = max(next, after(value))
	return value, nil
}

// after is the next number; that of the last one is itself.
func after(n uint64) uint64 { return n + min(1, math.MaxUint64-n) }

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

// idSetter is what TRUNCATE sets the counter by.
type idSetter struct{ t *Table }

// SetAutoIncrementValue implements sql.AutoIncrementSetter.
func (s idSetter) SetAutoIncrementValue(ctx *sql.Context, v uint64) error {
	return (&Database{p: s.t.p, name: s.t.def.Ref.Schema}).setFirst(ctx, s.t.Name(), v)
}

// setFirst runs ALTER TABLE ... AUTO_INCREMENT = n. A value under what is stored has no effect, nor
// has any where no column takes it.
func (d *Database) setFirst(ctx *sql.Context, table string, v uint64) error {
	ref := d.ref(table)
	if err := d.p.access.CheckDDL(ctx, ref); err != nil {
		return err
	}
	if err := d.p.access.CheckWrite(ctx, ref); err != nil {
		return err
	}
	return d.alter(ctx, table, alteration{change: Change{Op: ModifyColumn}, meta: true, reads: true, apply: func(t *definition) error {
		if slices.ContainsFunc(t.columns, func(c columnDef) bool { return c.meta.Auto }) {
			t.first = v
		}
		return nil
	}, done: func() { d.p.ids.forget(ref) }})
}

// AcquireAutoIncrementLock implements sql.AutoIncrementSetter: each value is handed out under a
// lock already, and nothing promises that those of one statement follow each other.
func (s idSetter) AcquireAutoIncrementLock(*sql.Context) (func(), error) { return func() {}, nil }

// Close implements sql.AutoIncrementSetter.
func (s idSetter) Close(*sql.Context) error { return nil }
