package hold

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/quota"
)

// sort sorts all rows of an input.
func (b *Builder) sort(ctx *sql.Context, a *quota.Account, by sql.SortConditions, n sql.Node, row sql.Row) (sql.RowIter, error) {
	rows, err := b.child(ctx, a, n, row)
	if err != nil {
		return nil, err
	}
	return iters.NewSortIter(watchedOrder(ctx, a, by), rows), nil
}

// top sorts the first rows of an order.
func (b *Builder) top(ctx *sql.Context, a *quota.Account, n *plan.TopN, row sql.Row) (sql.RowIter, error) {
	rows, err := b.whole.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	limit, err := iters.GetInt64Value(ctx, n.Limit)
	if err != nil {
		return nil, err
	}
	by := watchedOrder(ctx, a, n.SortConditions)
	largest := &largest{interruptible: interruptible{RowIter: rows}, account: a, limit: limit}
	if limit == 1 {
		return iters.NewTopRowIter(by, n.CalcFoundRows, largest), nil
	}
	return iters.NewTopRowsIter(by, limit, n.CalcFoundRows, largest), nil
}

// watchedOrder is an order whose expressions look at the context: a sort evaluates them at every
// comparison.
func watchedOrder(ctx *sql.Context, a *quota.Account, by sql.SortConditions) sql.SortConditions {
	list := by.ToExpressions()
	subqueries(ctx, list...)
	for i, e := range list {
		list[i] = &watched{Expression: e, account: a}
	}
	return by.FromExpressions(ctx, list...)
}

// largest takes the memory of as many rows as whoever reads it keeps, each as large as the largest
// so far.
type largest struct {
	interruptible
	account    *quota.Account
	limit      int64
	rows, size int64
	taken      int64
}

// Next implements sql.RowIter.
func (l *largest) Next(ctx *sql.Context) (sql.Row, error) {
	r, err := l.interruptible.Next(ctx)
	if err != nil {
		return nil, err
	}
	if l.rows < l.limit {
		l.rows++
	}
	l.size = max(l.size, quota.Row(r)+boxedRow)
	if more := l.rows*l.size - l.taken; more > 0 {
		if err := l.account.Take(more); err != nil {
			return nil, err
		}
		l.taken += more
	}
	return r, nil
}

// boxedRow is what a heap of rows adds to each.
const boxedRow = 48

// Close implements sql.RowIter.
func (l *largest) Close(ctx *sql.Context) error {
	l.account.Free(l.taken)
	l.taken = 0
	return l.RowIter.Close(ctx)
}
