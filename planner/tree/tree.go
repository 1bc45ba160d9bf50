// Package tree reads and makes go-mysql-server's bound trees: one walker over nodes and
// expressions, what an expression is whatever its rows are, the ids of columns, and a leaf of known
// rows. It knows nothing of privacy or of the store.
package tree

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// Holder is an expression that reads rows of nodes which are no children of any node.
type Holder interface{ Held() []sql.Node }

// Inspect visits every node and every expression of a statement, through opaque nodes and into the
// queries of subquery expressions and what other expressions hold. Either function may be nil.
func Inspect(ctx *sql.Context, n sql.Node, node func(sql.Node), expr func(sql.Expression)) {
	transform.InspectWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) bool {
		if n == nil {
			return false
		}
		if node != nil {
			node(n)
		}
		if ex, ok := n.(sql.Expressioner); ok {
			for _, e := range ex.Expressions() {
				Contains(ctx, e, func(e sql.Expression) bool {
					if expr != nil {
						expr(e)
					}
					switch e := e.(type) {
					case *plan.Subquery:
						Inspect(ctx, e.Query, node, expr)
					case Holder:
						for _, n := range e.Held() {
							Inspect(ctx, n, node, expr)
						}
					}
					return false
				})
			}
		}
		return true
	})
}

// Contains reports whether is holds of an expression or of one below it, not counting the queries
// of subqueries. It visits from above, left to right, until is holds.
func Contains(ctx *sql.Context, e sql.Expression, is func(sql.Expression) bool) bool {
	found := false
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		found = found || e != nil && is(e)
		return e != nil && !found
	})
	return found
}

// HasSubquery reports whether a subquery stands in an expression.
func HasSubquery(ctx *sql.Context, e sql.Expression) bool {
	return Contains(ctx, e, func(e sql.Expression) bool { _, is := e.(*plan.Subquery); return is })
}

// Fields lists the columns that an expression reads, left to right, each as often as it is read.
func Fields(ctx *sql.Context, e sql.Expression) []sql.ColumnId {
	var ids []sql.ColumnId
	Contains(ctx, e, func(e sql.Expression) bool {
		if id, ok := fieldID(e); ok {
			ids = append(ids, id)
		}
		return false
	})
	return ids
}

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
