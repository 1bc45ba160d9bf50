package dialect

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// Functions are the functions that the rules write into statements.
func Functions() []sql.Function {
	return []sql.Function{
		sql.Function2{Name: AssignFunction, Fn: newAssign},
		inversion.function(),
		wholeness.function(),
	}
}

// assign is @x := expr: it sets the variable for each row that it is evaluated for, and is the
// expression's value.
type assign struct {
	expression.UnaryExpressionStub
	variable sql.Expression // a literal
	name     string
	typ      sql.Type
}

var (
	_ sql.FunctionExpression         = (*assign)(nil)
	_ sql.NonDeterministicExpression = (*assign)(nil)
)

// newAssign binds an assignment. A variable that there is not yet gets the expression's type at
// once, since what reads it in the same statement is bound before the first row.
func newAssign(ctx *sql.Context, variable, value sql.Expression) sql.Expression {
	a := &assign{UnaryExpressionStub: expression.UnaryExpressionStub{Child: value}, variable: variable, typ: variableType(value.Type(ctx))}
	if l, ok := variable.(*expression.Literal); ok {
		a.name, _ = l.Value().(string)
	}
	if t, v, err := ctx.GetUserVariable(ctx, a.name); err == nil && v == nil && (t == nil || t == types.Null) {
		_ = ctx.SetUserVariable(ctx, a.name, nil, a.typ) // the session has its variables in memory
	}
	return a
}

// variableType is the type that a variable takes over from an expression: the widest of its kind.
func variableType(t sql.Type) sql.Type {
	switch {
	case types.IsUnsigned(t):
		return types.Uint64
	case types.IsInteger(t), types.IsBoolean(t):
		return types.Int64
	case types.IsFloat(t):
		return types.Float64
	case types.IsText(t), types.IsEnum(t), types.IsSet(t), types.IsJSON(t), types.IsTime(t):
		return types.LongText
	}
	return t
}

// Eval implements sql.Expression.
func (a *assign) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := a.Child.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if v != nil {
		if t := a.Child.Type(ctx); types.IsEnum(t) || types.IsSet(t) {
			if v, _, err = types.TypeAwareConversion(ctx, v, t, a.typ); err != nil {
				return nil, err
			}
		}
		if v, _, err = a.typ.Convert(ctx, v); err != nil {
			return nil, err
		}
	}
	return v, ctx.SetUserVariable(ctx, a.name, v, a.typ)
}

// FunctionName implements sql.FunctionExpression.
func (a *assign) FunctionName() string { return AssignFunction }

// Description implements sql.FunctionExpression.
func (a *assign) Description() string { return "sets a user variable and returns its value." }

// IsNonDeterministic implements sql.NonDeterministicExpression.
func (a *assign) IsNonDeterministic() bool { return true }

// Type implements sql.Expression.
func (a *assign) Type(*sql.Context) sql.Type { return a.typ }

// IsNullable implements sql.Expression.
func (a *assign) IsNullable(*sql.Context) bool { return true }

func (a *assign) String() string { return fmt.Sprintf("@%s := %s", a.name, a.Child) }

// WithChildren implements sql.Expression.
func (a *assign) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(a, len(children), 1)
	}
	n := *a
	n.Child = children[0]
	return &n, nil
}
