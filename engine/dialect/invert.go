package dialect

import (
	"fmt"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// InvertFunction is the name of the function that ~x becomes.
const InvertFunction = "~"

// invert is ~x: all 64 bits of a whole number the other way round.
type invert struct{ expression.UnaryExpressionStub }

var _ sql.FunctionExpression = (*invert)(nil)

func newInvert(_ *sql.Context, e sql.Expression) sql.Expression {
	return &invert{expression.UnaryExpressionStub{Child: e}}
}

// Eval implements sql.Expression.
func (i *invert) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := i.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if u, ok := v.(uint64); ok {
		return ^u, nil
	}
	n, _, err := types.Int64.Convert(ctx, v)
	if err != nil || n == nil {
		return nil, err
	}
	return ^uint64(n.(int64)), nil
}

// FunctionName implements sql.FunctionExpression.
func (i *invert) FunctionName() string { return InvertFunction }

// Description implements sql.FunctionExpression.
func (i *invert) Description() string { return "inverts all bits of a whole number." }

// Type implements sql.Expression.
func (i *invert) Type(*sql.Context) sql.Type { return types.Uint64 }

func (i *invert) String() string { return fmt.Sprintf("~%s", i.Child) }

// WithChildren implements sql.Expression.
func (i *invert) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(i, len(children), 1)
	}
	return newInvert(ctx, children[0]), nil
}
