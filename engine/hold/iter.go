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
