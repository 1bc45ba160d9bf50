package lower

import (
	"errors"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/refuse"
)

// ErrBindVar is returned for an expression that holds a place holder of a prepared statement: it
// can be lowered once values are bound.
var ErrBindVar = errors.New("lower: expression holds an unbound place holder")

// Lower translates e. Columns of the input are resolved by cols, values are added to b. The error
// is ErrBindVar, or a *refuse.Error of code refuse.Expression that names what is not allowed.
func Lower(ctx *sql.Context, e sql.Expression, b *Binder, cols Columns) (Expr, error) {
	return Expr{}, refuse.New(refuse.Expression, "%s is not allowed on protected rows.", e.String())
}

// LowerPredicate translates a condition of WHERE, ON or HAVING into a BOOLEAN that is never NULL:
// MySQL's truth of numbers and strings, with NULL as false.
func LowerPredicate(ctx *sql.Context, e sql.Expression, b *Binder, cols Columns) (Expr, error) {
	return Lower(ctx, e, b, cols)
}

// Literal binds a constant of an SQL type.
func Literal(ctx *sql.Context, v any, t sql.Type, b *Binder) (Expr, error) {
	return Expr{}, refuse.New(refuse.Expression, "A constant of type %s is not allowed on protected rows.", t.String())
}
