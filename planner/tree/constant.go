package tree

import (
	"fmt"
	"strconv"

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

// Float reads the numbers among SQL values, and texts of a type of their own that are numbers.
func Float(v any) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case float32:
		return float64(x), true
	case int:
		return float64(x), true
	case int8:
		return float64(x), true
	case int16:
		return float64(x), true
	case int32:
		return float64(x), true
	case int64:
		return float64(x), true
	case uint8:
		return float64(x), true
	case uint16:
		return float64(x), true
	case uint32:
		return float64(x), true
	case uint64:
		return float64(x), true
	case fmt.Stringer:
		f, err := strconv.ParseFloat(x.String(), 64)
		return f, err == nil
	}
	return 0, false
}
