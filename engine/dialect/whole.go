package dialect

import (
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
)

// WholeFunction is the name of the function that GROUP_CONCAT stands in.
const WholeFunction = "whole letters"

// whole takes the piece of a letter off the end of a text that was cut after so many bytes.
type whole struct{ expression.UnaryExpressionStub }

var _ sql.FunctionExpression = (*whole)(nil)

func newWhole(_ *sql.Context, e sql.Expression) sql.Expression {
	return &whole{expression.UnaryExpressionStub{Child: e}}
}

// Eval implements sql.Expression.
func (w *whole) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := w.Child.Eval(ctx, row)
	if err != nil || v == nil {
		return nil, err
	}
	if v, err = sql.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	s, ok := v.(string)
	if !ok {
		return v, nil
	}
	return wholeLetters(s), nil
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

// FunctionName implements sql.FunctionExpression.
func (w *whole) FunctionName() string { return WholeFunction }

// Description implements sql.FunctionExpression.
func (w *whole) Description() string { return "leaves an unfinished letter at the end out." }

// Type implements sql.Expression.
func (w *whole) Type(ctx *sql.Context) sql.Type { return w.Child.Type(ctx) }

func (w *whole) String() string { return w.Child.String() }

// WithChildren implements sql.Expression.
func (w *whole) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(w, len(children), 1)
	}
	return newWhole(ctx, children[0]), nil
}
