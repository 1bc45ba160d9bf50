package tree

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
)

// Column makes a reference to a column by its id.
func Column(id sql.ColumnId, table sql.TableId, t sql.Type, db, tab, name string) *expression.GetField {
	return expression.NewGetFieldWithTable(int(id), int(table), t, db, tab, name, true)
}

func fieldID(e sql.Expression) (sql.ColumnId, bool) {
	gf, ok := e.(*expression.GetField)
	if !ok {
		return 0, false
	}
	return gf.Id(), true
}

// ID is the id of the column that an expression of a list defines, 0 where it has none.
func ID(e sql.Expression) sql.ColumnId {
	if x, ok := e.(sql.IdExpression); ok {
		return x.Id()
	}
	return 0
}

// Same reports whether two expressions are the same function of the same columns, of at least one:
// they print alike and refer to the same column ids in the same order.
func Same(ctx *sql.Context, a, b sql.Expression) bool {
	if a.String() != b.String() {
		return false
	}
	x := Fields(ctx, a)
	return len(x) > 0 && slices.Equal(x, Fields(ctx, b))
}

// Unalias strips the alias that an expression of a list may carry.
func Unalias(e sql.Expression) sql.Expression {
	if a, ok := e.(*expression.Alias); ok {
		return a.Child
	}
	return e
}

// Untuple returns the only member of a tuple, and any other expression as it is.
func Untuple(e sql.Expression) sql.Expression {
	if t, ok := e.(expression.Tuple); ok && len(t) == 1 {
		return t[0]
	}
	return e
}

// Conjuncts splits a condition at its ANDs.
func Conjuncts(e sql.Expression) []sql.Expression {
	if e == nil {
		return nil
	}
	if a, ok := e.(*expression.And); ok {
		return append(Conjuncts(a.LeftChild), Conjuncts(a.RightChild)...)
	}
	return []sql.Expression{e}
}

// CountsRows reports whether a plain aggregate is COUNT(*) or COUNT of a constant other than NULL.
func CountsRows(a sql.Aggregation) bool {
	if _, ok := a.(*aggregation.Count); !ok || len(a.Children()) != 1 {
		return false
	}
	switch e := a.Children()[0].(type) {
	case *expression.Star:
		return true
	case *expression.Literal:
		return e.Value() != nil
	}
	return false
}
