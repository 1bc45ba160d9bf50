package hold

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/quota"
)

// hashedRow is what a set of hashes takes for a row, or a little more.
const hashedRow = 96

// distinct passes rows on once. The set of those that were seen is metered where a row gets
// through.
func (b *Builder) distinct(ctx *sql.Context, a *quota.Account, n *plan.Distinct, row sql.Row) (sql.RowIter, error) {
	rows, err := b.whole.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	return distinctRows(ctx, a, rows, n.Hasher()), nil
}

func distinctRows(ctx *sql.Context, a *quota.Account, rows sql.RowIter, by iters.DistinctHasher) sql.RowIter {
	return &metered{rows: iters.NewDistinctIter(ctx, rows, by), account: a, fixed: hashedRow}
}

// setOp puts the rows of two inputs together.
func (b *Builder) setOp(ctx *sql.Context, a *quota.Account, n *plan.SetOp, row sql.Row) (sql.RowIter, error) {
	left, err := b.whole.Build(ctx, n.Left(), row)
	if err != nil {
		return nil, err
	}
	rows, err := b.combined(ctx, a, n, left, row)
	if err != nil {
		_ = left.Close(ctx)
		return nil, err
	}
	if n.Distinct && n.SetOpType != plan.ExceptType {
		rows = distinctRows(ctx, a, rows, plan.DistinctHasher{})
	}
	return limited(ctx, a, n, rows)
}

func (b *Builder) combined(ctx *sql.Context, a *quota.Account, n *plan.SetOp, left sql.RowIter, row sql.Row) (sql.RowIter, error) {
	if n.SetOpType == plan.UnionType {
		return &iters.UnionIter{Cur: left, NextIter: func(ctx *sql.Context) (sql.RowIter, error) {
			return b.whole.Build(ctx, n.Right(), row)
		}}, nil
	}
	right, err := b.whole.Build(ctx, n.Right(), row)
	if err != nil {
		return nil, err
	}
	if n.SetOpType == plan.IntersectType {
		return &iters.IntersectIter{LIter: left, RIter: &metered{rows: right, account: a, fixed: hashedRow}}, nil
	}
	if n.Distinct {
		left, right = distinctRows(ctx, a, left, plan.DistinctHasher{}), distinctRows(ctx, a, right, plan.DistinctHasher{})
	}
	return &iters.ExceptIter{LIter: left, RIter: &metered{rows: right, account: a, fixed: hashedRow}}, nil
}

// limited applies ORDER BY, LIMIT and OFFSET of a union and the like; rows that are passed over do
// not count towards the limit.
func limited(ctx *sql.Context, a *quota.Account, n *plan.SetOp, rows sql.RowIter) (sql.RowIter, error) {
	if n.Offset != nil {
		skip, err := iters.GetInt64Value(ctx, n.Offset)
		if err != nil {
			return nil, err
		}
		rows = &offset{RowIter: rows, skip: skip}
	}
	by := watchedOrder(ctx, a, n.SortConditions)
	if n.Limit == nil {
		if len(by) == 0 {
			return rows, nil
		}
		return iters.NewSortIter(by, &metered{rows: rows, account: a, weight: 1}), nil
	}
	limit, err := iters.GetInt64Value(ctx, n.Limit)
	switch {
	case err != nil:
		return nil, err
	case len(by) > 0:
		return iters.NewTopRowsIter(by, limit, false, &largest{interruptible: interruptible{RowIter: rows}, account: a, limit: limit}), nil
	}
	return &iters.LimitIter{Limit: limit, ChildIter: rows}, nil
}

// offset passes over rows.
type offset struct {
	sql.RowIter
	skip int64
}

// Next implements sql.RowIter.
func (o *offset) Next(ctx *sql.Context) (sql.Row, error) {
	for ; o.skip > 0; o.skip-- {
		if _, err := o.RowIter.Next(ctx); err != nil {
			return nil, err
		}
	}
	return o.RowIter.Next(ctx)
}
