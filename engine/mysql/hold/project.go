package hold

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/quota"
)

// filter passes on the rows of a condition.
func (b *Builder) filter(ctx *sql.Context, a *quota.Account, condition sql.Expression, n sql.Node, row sql.Row) (sql.RowIter, error) {
	subqueries(ctx, condition)
	rows, err := b.whole.Build(ctx, n, row)
	if err != nil {
		return nil, err
	}
	return plan.NewFilterIter(&watched{Expression: condition, account: a}, rows), nil
}

// project computes the columns of a result. Those that are more than columns and constants are
// metered, for as long as the row is the current one.
func (b *Builder) project(ctx *sql.Context, a *quota.Account, n *plan.Project, row sql.Row) (sql.RowIter, error) {
	if n.IncludesNestedIters {
		return nil, nil
	}
	var computed []*sized
	list := make([]sql.Expression, len(n.Projections))
	for i, e := range n.Projections {
		if list[i] = e; !plain(e) {
			subqueries(ctx, e)
			s := newSized(e, a)
			list[i], computed = &taking{s}, append(computed, s)
		}
	}
	if len(computed) == 0 {
		return nil, nil
	}
	rows, err := b.whole.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	copied := *n
	copied.Projections, copied.Child = list, &built{Node: n.Child, rows: rows}
	projected, err := b.plain.Build(ctx, &copied, row)
	if err != nil {
		return nil, err
	}
	return &current{RowIter: projected, account: a, columns: computed}, nil
}

// plain reports whether an expression hands on what is there. Values of columns that are left to
// their defaults are found by their type.
func plain(e sql.Expression) bool {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	switch e.(type) {
	case *expression.GetField, *expression.Literal, *expression.Wrapper, *sql.ColumnDefaultValue, plan.ColDefaultExpression:
		return true
	}
	return false
}

// taking takes the size of its value from the account.
type taking struct{ *sized }

// Eval implements sql.Expression.
func (t *taking) Eval(ctx *sql.Context, row sql.Row) (any, error) {
	before := *t.size
	v, err := t.sized.Eval(ctx, row)
	if err != nil {
		return nil, err
	}
	if err := t.account.Take(*t.size - before); err != nil {
		*t.size = before
		return nil, err
	}
	return v, nil
}

// current gives the values of a row back when the next one is asked for.
type current struct {
	sql.RowIter
	account *quota.Account
	columns []*sized
}

// Next implements sql.RowIter.
func (c *current) Next(ctx *sql.Context) (sql.Row, error) {
	c.free()
	return c.RowIter.Next(ctx)
}

// Close implements sql.RowIter.
func (c *current) Close(ctx *sql.Context) error {
	c.free()
	return c.RowIter.Close(ctx)
}

func (c *current) free() {
	n := int64(0)
	for _, s := range c.columns {
		n += s.spent()
	}
	c.account.Free(n)
}

// built is a node whose rows are there.
type built struct {
	sql.Node
	rows sql.RowIter
}

var _ sql.ExecBuilderNode = (*built)(nil)

// BuildRowIter implements sql.ExecBuilderNode.
func (b *built) BuildRowIter(*sql.Context, sql.NodeExecBuilder, sql.Row) (sql.RowIter, error) {
	return b.rows, nil
}

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
