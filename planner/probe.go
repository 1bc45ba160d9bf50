package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// constantFalse reports whether a condition is false or NULL whatever the row.
func constantFalse(ctx *sql.Context, e sql.Expression) bool {
	for _, c := range conjuncts(e) {
		if !constant(ctx, c) {
			continue
		}
		v, err := sql.EvaluateCondition(ctx, c, nil)
		if err == nil && !sql.IsTrue(v) {
			return true
		}
	}
	return false
}

// constant reports whether an expression is made of literals and operators only.
func constant(ctx *sql.Context, e sql.Expression) bool {
	ok := true
	sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
		switch e.(type) {
		case nil, *expression.Literal, *expression.Equals, *expression.LessThan, *expression.GreaterThan,
			*expression.LessThanOrEqual, *expression.GreaterThanOrEqual, *expression.NullSafeEquals,
			*expression.And, *expression.Or, *expression.Not:
		default:
			ok = false
		}
		return ok
	})
	return ok
}

// isZero reports whether a LIMIT is the constant 0.
func isZero(e sql.Expression) bool {
	l, ok := e.(*expression.Literal)
	if !ok {
		return false
	}
	switch v := l.Value().(type) {
	case int8:
		return v == 0
	case int64:
		return v == 0
	case uint64:
		return v == 0
	case int:
		return v == 0
	case int16:
		return v == 0
	case int32:
		return v == 0
	}
	return false
}
