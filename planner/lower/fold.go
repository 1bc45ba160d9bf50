package lower

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/internal/refuse"
)

// constants names the functions whose value is fixed for a statement. GMS keeps the time of the
// statement in its context, so two uses agree.
var constants = map[string]bool{
	"now": true, "current_timestamp": true, "localtime": true, "localtimestamp": true, "curdate": true, "current_date": true,
	"curtime": true, "current_time": true, "utc_timestamp": true, "utc_date": true, "utc_time": true,
	"user": true, "current_user": true, "session_user": true, "system_user": true, "database": true, "schema": true,
	"version": true, "connection_id": true, "pi": true,
}

var today = map[string]bool{"curdate": true, "current_date": true, "utc_date": true}

// folded names the functions of constants that tools write where a constant is needed, such as LIKE
// CONCAT('%', 'text', '%').
var folded = map[string]bool{"concat": true, "lower": true, "upper": true, "lcase": true, "ucase": true, "convert_tz": true}

// literals tells whether all arguments are literals, system variables or folded calls of these.
func literals(e sql.Expression) bool {
	for _, c := range e.Children() {
		switch c := c.(type) {
		case *expression.Literal, *expression.SystemVar:
		case sql.FunctionExpression:
			if !folded[strings.ToLower(c.FunctionName())] || !literals(c) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// statementConstant tells whether a call is fixed for the statement: one of the names with constant
// arguments, or UNIX_TIMESTAMP() without an argument.
func statementConstant(name string, e sql.FunctionExpression) bool {
	if name == "unix_timestamp" {
		return len(e.Children()) == 0
	}
	if !constants[name] {
		return false
	}
	for _, c := range e.Children() {
		if _, ok := c.(*expression.Literal); !ok {
			return false
		}
	}
	return true
}

// fold evaluates a constant of the statement and binds its value.
func (l *lowerer) fold(e sql.Expression) (Expr, error) {
	v, err := e.Eval(l.ctx, nil)
	if err != nil {
		return Expr{}, refuse.New(refuse.Expression, "%s has no value.", e.String())
	}
	x, err := l.literal(v, e.Type(l.ctx))
	if f, ok := e.(sql.FunctionExpression); ok && err == nil && x.text != nil && today[strings.ToLower(f.FunctionName())] {
		return l.toDate(x), nil // GMS gives the date of today as text
	}
	return x, err
}
