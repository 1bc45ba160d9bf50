package standard

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/collation"
	"scrim/internal/quota"
)

// Comparisons by a collation that is not by bytes are rewritten into comparisons by bytes, of what
// stands for the texts: a = b becomes key(a) = key(b). What evaluates expressions, go-mysql-server
// and the store, needs no more than the functions of package collation.

// Weighed is a text as a collation compares it.
type Weighed struct {
	expression.UnaryExpressionStub
	Collation sql.CollationID
	Use       collation.Use
}

var _ sql.Expression = (*Weighed)(nil)

func weighed(e sql.Expression, c sql.CollationID, use collation.Use) sql.Expression {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	return &Weighed{expression.UnaryExpressionStub{Child: e}, c, use}
}

// Unkeyed returns the text that a key is of, and any other expression as it is.
func Unkeyed(e sql.Expression) sql.Expression {
	if w, ok := e.(*Weighed); ok && w.Use == collation.ForKey {
		return w.Child
	}
	return e
}

// Eval implements sql.Expression.
func (w *Weighed) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := evaluated(ctx, w.Child, row)
	if err != nil || v == nil {
		return nil, err
	}
	s, err := words(ctx, v, w.Child.Type(ctx))
	if err != nil || len(s) < small {
		return w.Of(s), err
	}
	account, n := quota.Of(ctx), int64(len(s))
	mark := account.Mark()
	done, err := step(ctx, n)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := account.Push(mark, weighing*n); err != nil {
		return nil, err
	}
	k := w.Of(s)
	return k, account.Push(mark, int64(len(k)))
}

// weighing is how many bytes a sort key takes for each byte of a text, with what makes it.
const weighing = 6

// Of returns what stands for a text.
func (w *Weighed) Of(s string) string {
	switch w.Use {
	case collation.ForKey:
		return collation.Key(w.Collation, s)
	case collation.ForFold:
		return collation.Fold(w.Collation, s)
	}
	return collation.SortKey(w.Collation, s)
}

// Type implements sql.Expression.
func (*Weighed) Type(*sql.Context) sql.Type { return types.LongText }

// CollationCoercibility implements sql.CollationCoercible.
func (*Weighed) CollationCoercibility(*sql.Context) (sql.CollationID, byte) {
	return collation.Bytes, 0
}

// WithChildren implements sql.Expression.
func (w *Weighed) WithChildren(_ *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(w, len(children), 1)
	}
	return weighed(children[0], w.Collation, w.Use), nil
}

// String implements sql.Expression. A key has the text of what it is of, by which nodes above a
// GROUP BY know it.
func (w *Weighed) String() string {
	if w.Use == collation.ForKey {
		return w.Child.String()
	}
	return collation.Function(w.Collation, w.Use) + "(" + w.Child.String() + ")"
}

// DebugString implements sql.DebugStringer.
func (w *Weighed) DebugString(ctx *sql.Context) string {
	return collation.Function(w.Collation, w.Use) + "(" + sql.DebugString(ctx, w.Child) + ")"
}

// Keyed returns a text as one by whose bytes its groups differ; other values as they are. A text
// without a column is grouped by its bytes, unless constants in it are equal.
func Keyed(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	c, err := Collation(ctx, "group by", e)
	if err != nil || collation.ByBytes(c) {
		return e, err
	}
	if _, k := collationOf(ctx, e); k >= 4 {
		seen, twice := map[string]string{}, false
		transform.InspectExpr(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if l, ok := e.(*expression.Literal); ok {
				if s, ok := l.Value().(string); ok {
					key := collation.Key(c, s)
					was, ok := seen[key]
					twice = twice || ok && was != s
					seen[key] = s
				}
			}
			return false
		})
		if !twice {
			return e, nil
		}
	}
	return weighed(e, c, collation.ForKey), nil
}

// Sorted returns a text as one whose bytes are in its order; other values as they are.
func Sorted(ctx *sql.Context, e sql.Expression) (sql.Expression, error) {
	c, err := Collation(ctx, "order by", e)
	if err != nil || collation.ByBytes(c) {
		return e, err
	}
	return weighed(e, c, collation.ForSort), nil
}
