package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
)

// keyField is a grouping expression and the column of the answer that has its value. The binder has
// the nodes above compute YEAR(placed) from placed again; the answer has no placed, so they are made
// to read the key instead.
type keyField struct {
	expr  sql.Expression
	field *expression.GetField
}

// retype records that a column of an answer has another type than the binder gave it.
func (s *statement) retype(id sql.ColumnId, was, is sql.Type) {
	if id != 0 && !was.Equals(is) {
		s.retyped[id] = is
	}
}

// follow rewrites the expressions of a node over an answer: keys, column types, subqueries.
func (s *statement) follow(n sql.Node, keys []keyField) (sql.Node, error) {
	ex, ok := n.(sql.Expressioner)
	if !ok {
		return n, nil
	}
	exprs := ex.Expressions()
	out := make([]sql.Expression, len(exprs))
	for i, e := range exprs {
		x, err := s.followExpr(e, keys)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return ex.WithExpressions(s.ctx, out...)
}

func (s *statement) followExpr(e sql.Expression, keys []keyField) (sql.Expression, error) {
	for _, k := range keys {
		if sameExpr(s.ctx, e, k.expr) {
			return k.field, nil
		}
	}
	switch e := e.(type) {
	case *plan.Subquery:
		return s.subquery(e)
	case *expression.GetField:
		if t, ok := s.retyped[e.Id()]; ok {
			return field(e.Id(), e.TableId(), t, e.Database(), e.Table(), e.Name()), nil
		}
		return e, nil
	}
	children := e.Children()
	if len(children) == 0 {
		return e, nil
	}
	out, changed := make([]sql.Expression, len(children)), false
	for i, c := range children {
		x, err := s.followExpr(c, keys)
		if err != nil {
			return nil, err
		}
		out[i], changed = x, changed || x != c
	}
	if !changed {
		return e, nil
	}
	return e.WithChildren(s.ctx, out...)
}

// field makes a reference to a column by its id.
func field(id sql.ColumnId, table sql.TableId, t sql.Type, db, tab, name string) *expression.GetField {
	return expression.NewGetFieldWithTable(int(id), int(table), t, db, tab, name, true)
}

// sameExpr reports whether two expressions are the same function of the same columns: they print
// alike and refer to the same column ids in the same order.
func sameExpr(ctx *sql.Context, a, b sql.Expression) bool {
	if a.String() != b.String() {
		return false
	}
	x, y := fieldIDs(ctx, a), fieldIDs(ctx, b)
	if len(x) != len(y) || len(x) == 0 {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

func fieldIDs(ctx *sql.Context, e sql.Expression) []sql.ColumnId {
	var ids []sql.ColumnId
	transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		if gf, ok := e.(*expression.GetField); ok {
			ids = append(ids, gf.Id())
		}
		return false
	})
	return ids
}
