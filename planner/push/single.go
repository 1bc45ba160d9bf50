package push

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/planner/stored"
	"scrim/planner/tree"
)

// single reports whether a query has one row at most, whatever the rows of its tables are: it
// aggregates without keys, is limited to one, or reads a table by its primary key.
func (s *pusher) single(n sql.Node) bool {
	switch n := n.(type) {
	case *plan.GroupBy:
		return len(n.GroupByExprs) == 0
	case *plan.Limit:
		if l, ok := n.Limit.(*expression.Literal); ok {
			if v, ok := tree.Float(l.Value()); ok && v <= 1 {
				return true
			}
		}
		return s.single(n.Child)
	case *plan.Filter:
		return s.byKey(n) || s.single(n.Child)
	case *plan.Project, *plan.Having, *plan.Sort, *plan.Distinct, *plan.SubqueryAlias:
		return s.single(n.Children()[0])
	}
	return false
}

// byKey reports whether a condition gives each column of a table's primary key a value that does
// not depend on the table's row.
func (s *pusher) byKey(f *plan.Filter) bool {
	n := f.Child
	if a, ok := n.(*plan.TableAlias); ok {
		n = a.Child
	}
	rt, ok := n.(*plan.ResolvedTable)
	if !ok {
		return false
	}
	t, ok := stored.Under(rt.Table)
	if !ok {
		return false
	}
	keyed, ok := t.(sql.PrimaryKeyTable)
	if !ok {
		return false
	}
	schema := keyed.PrimaryKeySchema(s.ctx)
	ids := tree.ColumnIDs(rt, len(schema.Schema))
	if ids == nil || len(schema.PkOrdinals) == 0 {
		return false
	}
	given := map[sql.ColumnId]bool{}
	for _, c := range tree.Conjuncts(f.Expression) {
		eq, ok := c.(*expression.Equals)
		if !ok {
			continue
		}
		for _, sides := range [][2]sql.Expression{{eq.Left(), eq.Right()}, {eq.Right(), eq.Left()}} {
			gf, ok := sides[0].(*expression.GetField)
			if !ok || tree.HasSubquery(s.ctx, sides[1]) || !sameKind(s.ctx, gf, sides[1]) {
				continue
			}
			if !slices.ContainsFunc(tree.Fields(s.ctx, sides[1]), func(id sql.ColumnId) bool { return slices.Contains(ids, id) }) {
				given[gf.Id()] = true
			}
		}
	}
	return !slices.ContainsFunc(schema.PkOrdinals, func(i int) bool { return !given[ids[i]] })
}

// sameKind reports whether two expressions are integers both, or texts: a number is equal to many
// texts.
func sameKind(ctx *sql.Context, a, b sql.Expression) bool {
	x, y := a.Type(ctx), b.Type(ctx)
	return types.IsInteger(x) && types.IsInteger(y) || types.IsTextOnly(x) && types.IsTextOnly(y)
}
