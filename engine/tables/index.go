package tables

import (
	"github.com/dolthub/go-mysql-server/sql"
)

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
func (index) IsUnique() bool { return true }

// IsSpatial implements sql.Index.
func (index) IsSpatial() bool { return false }

// IsFullText implements sql.Index.
func (index) IsFullText() bool { return false }

// IsVector implements sql.Index.
func (index) IsVector() bool { return false }

// Comment implements sql.Index.
func (index) Comment() string { return "" }

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
func (i index) PrefixLengths() []uint16 { return nil }
