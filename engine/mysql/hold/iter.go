package hold

import (
	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/quota"
	"scrim/internal/turns"
)

// lookEvery is after how many rows, or values, a loop looks at its context.
const lookEvery = 64

// look looks at the context, and takes turns with others: a statement that turns over rows would
// otherwise keep its processor for 10 ms at a time, and a short one waits for that at each of its
// steps.
func look(ctx *sql.Context) error { return turns.Of(ctx).Look(ctx) }

// interruptible is an iterator that ends with the context.
type interruptible struct {
	sql.RowIter
	n int
}

// Next implements sql.RowIter.
func (i *interruptible) Next(ctx *sql.Context) (sql.Row, error) {
	if i.n++; i.n%lookEvery == 0 {
		if err := look(ctx); err != nil {
			return nil, err
		}
	}
	return i.RowIter.Next(ctx)
}

// metered takes the memory of all its rows from the account, and gives it back when it is closed.
type metered struct {
	rows    sql.RowIter
	account *quota.Account
	weight  int64 // how often whoever reads it holds a row
	fixed   int64 // held for each row, in the place of the row itself, if not 0
	n       int
	taken   int64
	kept    *int64 // counts what is taken, where the rows stay when it is closed
}

// Next implements sql.RowIter.
func (m *metered) Next(ctx *sql.Context) (sql.Row, error) {
	if m.n++; m.n%lookEvery == 0 {
		if err := look(ctx); err != nil {
			return nil, err
		}
	}
	r, err := m.rows.Next(ctx)
	if err != nil {
		return nil, err
	}
	size := m.fixed
	if size == 0 {
		size = m.weight * quota.Row(r)
	}
	if err := m.account.Take(size); err != nil {
		return nil, err
	}
	m.taken += size
	if m.kept != nil {
		*m.kept += size
	}
	return r, nil
}

// Close implements sql.RowIter.
func (m *metered) Close(ctx *sql.Context) error {
	if m.kept == nil {
		m.account.Free(m.taken)
	}
	m.taken = 0
	return m.rows.Close(ctx)
}

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
