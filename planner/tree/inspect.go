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
