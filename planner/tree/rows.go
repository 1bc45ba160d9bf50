package tree

import (
	"github.com/dolthub/go-mysql-server/sql"
)

// KnownRows is a leaf whose rows are known when the query is planned. Tools probe the shape of a
// result with WHERE 0=1 or LIMIT 0; such a subtree is empty whatever the data are, so its place is
// taken by no rows, at no cost.
type KnownRows struct {
	Rows    []sql.Row
	Exprs   []sql.Expression // one a column, with the id by which nodes above refer to it
	Columns sql.Schema
}

var (
	_ sql.ExecSourceRel      = (*KnownRows)(nil)
	_ sql.Projector          = (*KnownRows)(nil)
	_ sql.CollationCoercible = (*KnownRows)(nil)
)

// NoRows is a leaf with the columns of a node and no rows.
func NoRows(ctx *sql.Context, n sql.Node) *KnownRows {
	ids := OutputIDs(n)
	leaf := &KnownRows{Columns: n.Schema(ctx)}
	for i, c := range leaf.Columns {
		var id sql.ColumnId
		if i < len(ids) {
			id = ids[i]
		}
		leaf.Exprs = append(leaf.Exprs, Column(id, 0, c.Type, c.DatabaseSource, c.Source, c.Name))
	}
	return leaf
}

// Resolved implements sql.Node.
func (n *KnownRows) Resolved() bool { return true }

// IsReadOnly implements sql.Node.
func (n *KnownRows) IsReadOnly() bool { return true }

// Schema implements sql.Node.
func (n *KnownRows) Schema(*sql.Context) sql.Schema { return n.Columns }

// Children implements sql.Node.
func (n *KnownRows) Children() []sql.Node { return nil }

// ProjectedExprs implements sql.Projector.
func (n *KnownRows) ProjectedExprs() []sql.Expression { return n.Exprs }

// String names the leaf.
func (n *KnownRows) String() string { return "NoRows" }

// WithChildren implements sql.Node.
func (n *KnownRows) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return Leaf(n, children)
}

// Leaf returns a node that has no children, and an error where it is given some.
func Leaf(n sql.Node, children []sql.Node) (sql.Node, error) {
	if len(children) != 0 {
		return nil, sql.ErrInvalidChildrenNumber.New(n, len(children), 0)
	}
	return n, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (n *KnownRows) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return sql.Collation_binary, 7
}

// RowIter implements sql.ExecSourceRel.
func (n *KnownRows) RowIter(*sql.Context, sql.Row) (sql.RowIter, error) {
	return sql.RowsToRowIter(n.Rows...), nil
}
