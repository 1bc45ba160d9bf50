package hold

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/quota"
)

// window computes window functions. They keep every row, once more for every different window, and
// all of their values.
func (b *Builder) window(ctx *sql.Context, a *quota.Account, n *plan.Window, row sql.Row) (sql.RowIter, error) {
	rows, err := b.child(ctx, a, n.Child, row)
	if err != nil {
		return nil, err
	}
	list := make([]sql.Expression, len(n.SelectExprs))
	for i, e := range n.SelectExprs {
		if list[i] = watchedWindow(ctx, a, e); list[i] != e {
			rows.weight++
		}
	}
	return b.plain.Build(ctx, plan.NewWindow(list, &built{Node: n.Child, rows: rows}), row)
}

// watchedWindow puts what watches a window function around it; other expressions stay.
func watchedWindow(ctx *sql.Context, a *quota.Account, e sql.Expression) sql.Expression {
	inner := e
	if alias, ok := e.(*expression.Alias); ok {
		inner = alias.Child
	}
	switch f := inner.(type) {
	case sql.Aggregation:
		return &windowAggregate{f, newWindowed(ctx, a, f)}
	case sql.WindowAggregation:
		return &windowFunction{f, newWindowed(ctx, a, f)}
	}
	return e
}

// windowed is what both kinds of window functions are replaced by.
type windowed struct {
	of      sql.WindowAdaptableExpression
	window  *sql.WindowDefinition // its sort looks at the context
	account *quota.Account
}

func newWindowed(ctx *sql.Context, a *quota.Account, f sql.WindowAdaptableExpression) windowed {
	d := f.Window()
	if d != nil && len(d.OrderBy) > 0 {
		watching := *d
		watching.OrderBy = watchedOrder(ctx, a, d.OrderBy)
		d = &watching
	}
	return windowed{f, d, a}
}

func (w windowed) function(ctx *sql.Context) (sql.WindowFunction, error) {
	f, err := w.of.NewWindowFunction(ctx)
	if err != nil {
		return nil, err
	}
	return &watchedFunction{WindowFunction: f, account: w.account}, nil
}

type windowAggregate struct {
	sql.Aggregation
	windowed
}

// Window implements sql.WindowAdaptableExpression.
func (w *windowAggregate) Window() *sql.WindowDefinition { return w.window }

// NewWindowFunction implements sql.WindowAdaptableExpression.
func (w *windowAggregate) NewWindowFunction(ctx *sql.Context) (sql.WindowFunction, error) {
	return w.function(ctx)
}

type windowFunction struct {
	sql.WindowAggregation
	windowed
}

// Window implements sql.WindowAdaptableExpression.
func (w *windowFunction) Window() *sql.WindowDefinition { return w.window }

// NewWindowFunction implements sql.WindowAdaptableExpression.
func (w *windowFunction) NewWindowFunction(ctx *sql.Context) (sql.WindowFunction, error) {
	return w.function(ctx)
}

// watchedFunction is a window function whose values are taken from the account, until the statement
// ends.
type watchedFunction struct {
	sql.WindowFunction
	account *quota.Account
}

// Compute implements sql.WindowFunction.
func (w *watchedFunction) Compute(ctx *sql.Context, frame sql.WindowInterval, rows sql.WindowBuffer) (any, error) {
	if err := look(ctx); err != nil { // each value may read a frame of any number of rows
		return nil, err
	}
	mark := w.account.Mark()
	v, err := w.WindowFunction.Compute(ctx, frame, rows)
	w.account.Reset(mark)
	if err != nil {
		return nil, err
	}
	return v, w.account.Take(quota.Size(v) + boxed)
}
