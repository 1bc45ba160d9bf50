package dialect

import (
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// The names of functions of one argument that rules write into statements.
const (
	// what ~x becomes: all 64 bits of a whole number the other way round
	InvertFunction = "~"
	WholeFunction  = "whole letters" // what GROUP_CONCAT stands in: no piece of a letter at the end
)

// operation is what such a function does. Its value is NULL of NULL.
type operation struct {
	name, doc string
	prefix    string // of the text
	typ       sql.Type
	eval      func(ctx *sql.Context, v any) (any, error)
}

var (
	inversion = operation{InvertFunction, "inverts all bits of a whole number.", "~", types.Uint64, invert}
	wholeness = operation{WholeFunction, "leaves an unfinished letter at the end out.", "", nil, whole}
)

func invert(ctx *sql.Context, v any) (any, error) {
	if u, ok := v.(uint64); ok {
		return ^u, nil
	}
	n, _, err := types.Int64.Convert(ctx, v)
	if err != nil || n == nil {
		return nil, err
	}
	return ^uint64(n.(int64)), nil
}

func whole(ctx *sql.Context, v any) (any, error) {
	v, err := sql.UnwrapAny(ctx, v)
	if s, ok := v.(string); ok && err == nil {
		return wholeLetters(s), nil
	}
	return v, err
}

// wholeLetters leaves an unfinished letter at the end of a text out. Bytes that begin none stay.
func wholeLetters(s string) string {
	for n := 1; n < utf8.UTFMax && n <= len(s); n++ {
		if b := s[len(s)-n]; utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-n:]) {
				return s[:len(s)-n]
			}
			return s
		}
	}
	return s
}

// function is the operation as go-mysql-server calls it.
func (o *operation) function() sql.Function {
	return sql.Function1{Name: o.name, Fn: func(_ *sql.Context, e sql.Expression) sql.Expression { return o.of(e) }}
}

func (o *operation) of(e sql.Expression) *unary {
	return &unary{expression.UnaryExpressionStub{Child: e}, o}
}

// unary is an operation on an expression.
type unary struct {
	expression.UnaryExpressionStub
	op *operation
}

var _ sql.FunctionExpression = (*unary)(nil)

// Eval implements sql.Expression.
func (u *unary) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := u.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	return u.op.eval(ctx, v)
}

// FunctionName implements sql.FunctionExpression.
func (u *unary) FunctionName() string { return u.op.name }

// Description implements sql.FunctionExpression.
func (u *unary) Description() string { return u.op.doc }

// Type implements sql.Expression.
func (u *unary) Type(ctx *sql.Context) sql.Type {
	if u.op.typ == nil {
		return u.Child.Type(ctx)
	}
	return u.op.typ
}

func (u *unary) String() string { return u.op.prefix + u.Child.String() }

// WithChildren implements sql.Expression.
func (u *unary) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(u, len(children), 1)
	}
	return u.op.of(children[0]), nil
}
