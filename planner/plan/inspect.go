package plan

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// Inspect visits every node and every expression of a statement, through opaque nodes and into the
// queries of subquery expressions.
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
				sql.Inspect(ctx, e, func(ctx *sql.Context, e sql.Expression) bool {
					if e == nil {
						return false
					}
					if expr != nil {
						expr(e)
					}
					if sq, ok := e.(*plan.Subquery); ok {
						Inspect(ctx, sq.Query, node, expr)
					}
					return true
				})
			}
		}
		return true
	})
}
