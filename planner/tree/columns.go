package tree

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

// ColumnIDs lists the ids of a relation's columns in the order of its schema; nil when their number
// is not count.
func ColumnIDs(n interface{ Columns() sql.ColSet }, count int) []sql.ColumnId {
	var ids []sql.ColumnId
	n.Columns().ForEach(func(id sql.ColumnId) { ids = append(ids, id) })
	if len(ids) != count {
		return nil
	}
	return ids
}

// OutputIDs lists the ids of the columns that a node yields, in their order.
func OutputIDs(n sql.Node) []sql.ColumnId {
	var ids []sql.ColumnId
	switch n := n.(type) {
	case sql.Projector:
		for _, e := range n.ProjectedExprs() {
			ids = append(ids, ID(e))
		}
	case *plan.SetOp:
		return OutputIDs(n.Left())
	case *plan.TableAlias:
		return OutputIDs(n.Child)
	case plan.TableIdNode:
		n.Columns().ForEach(func(id sql.ColumnId) { ids = append(ids, id) })
	default:
		for _, c := range n.Children() {
			ids = append(ids, OutputIDs(c)...)
		}
	}
	return ids
}

// Types are the types of columns that differ from what the binder said.
type Types map[sql.ColumnId]sql.Type

// Note records that a column has another type than the binder gave it.
func (t Types) Note(id sql.ColumnId, was, is sql.Type) {
	if id != 0 && !was.Equals(is) {
		t[id] = is
	}
}
