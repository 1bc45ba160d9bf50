package hold

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/quota"
)

// watched is an expression that looks at the context now and then, and whose texts are done with
// when it has a value.
type watched struct {
	sql.Expression
	account *quota.Account
	n       int
}

// Eval implements sql.Expression.
func (w *watched) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	if w.n++; w.n%lookEvery == 0 {
		if err := look(ctx); err != nil {
			return nil, err
		}
	}
	mark := w.account.Mark()
	v, err := w.Expression.Eval(ctx, row)
	w.account.Reset(mark)
	return v, err
}

// WithChildren implements sql.Expression.
func (w *watched) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := w.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &watched{Expression: e, account: w.account}, nil
}

// sized is a watched expression that notes the sizes of its values, so that whoever asked can take
// them. Buffers of aggregates evaluate copies of it, which note them in the same place.
type sized struct {
	watched
	size *int64
}

func newSized(e sql.Expression, a *quota.Account) *sized {
	return &sized{watched{Expression: e, account: a}, new(int64)}
}

// Eval implements sql.Expression.
func (s *sized) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	v, err := s.watched.Eval(ctx, row)
	if err == nil {
		*s.size += quota.Size(v)
	}
	return v, err
}

// WithChildren implements sql.Expression.
func (s *sized) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	e, err := s.Expression.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &sized{watched{Expression: e, account: s.account}, s.size}, nil
}

// spent returns the sizes noted since the last time.
func (s *sized) spent() int64 {
	n := *s.size
	*s.size = 0
	return n
}
