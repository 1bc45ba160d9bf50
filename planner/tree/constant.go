package tree

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// NeverHolds reports whether a condition is false or NULL whatever the row, as its constants tell.
func NeverHolds(ctx *sql.Context, e sql.Expression) bool {
	for _, c := range Conjuncts(e) {
		if !Constant(ctx, c) {
			continue
		}
		v, err := sql.EvaluateCondition(ctx, c, nil)
		if err == nil && !sql.IsTrue(v) {
			return true
		}
	}
	return false
}

// Constant reports whether an expression is made of literals and operators only.
func Constant(ctx *sql.Context, e sql.Expression) bool {
	return !Contains(ctx, e, func(e sql.Expression) bool {
		switch e.(type) {
		case *expression.Literal, *expression.Equals, *expression.LessThan, *expression.GreaterThan,
			*expression.LessThanOrEqual, *expression.GreaterThanOrEqual, *expression.NullSafeEquals,
			*expression.And, *expression.Or, *expression.Not:
			return false
		}
		return true
	})
}

// IsZero reports whether a LIMIT is the constant 0.
func IsZero(e sql.Expression) bool {
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
