package tree

import "github.com/dolthub/go-mysql-server/sql"

// Types are the types of columns that differ from what the binder said.
type Types map[sql.ColumnId]sql.Type

// Note records that a column has another type than the binder gave it.
func (t Types) Note(id sql.ColumnId, was, is sql.Type) {
	if id != 0 && !was.Equals(is) {
		t[id] = is
	}
}
