package hold

import (
	"io"
	"slices"

	"github.com/cockroachdb/apd/v3"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/iters"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/functions/standard"
	"scrim/internal/collation"
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
	return distinctRows(ctx, a, rows, keyed(ctx, n.Child, n.Hasher())), nil
}

// collated hashes rows by what their texts are in comparisons.
type collated struct {
	iters.DistinctHasher
	by []sql.CollationID
}

func keyed(ctx *sql.Context, n sql.Node, h iters.DistinctHasher) iters.DistinctHasher {
	by := standard.Collations(ctx, n)
	if !slices.ContainsFunc(by, func(c sql.CollationID) bool { return !collation.ByBytes(c) }) {
		return h
	}
	return collated{h, by}
}

// HashOf implements iters.DistinctHasher.
func (c collated) HashOf(ctx *sql.Context, row sql.Row) (uint64, error) {
	row = slices.Clone(row)
	for i := range min(len(row), len(c.by)) {
		v, err := sql.UnwrapAny(ctx, row[i])
		if err != nil {
			return 0, err
		}
		if s, ok := v.(string); ok {
			row[i] = collation.Key(c.by[i], s)
		}
	}
	return c.DistinctHasher.HashOf(ctx, row)
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
		rows = distinctRows(ctx, a, rows, keyed(ctx, n, plan.DistinctHasher{}))
	}
	return limited(ctx, a, n, rows)
}

func (b *Builder) combined(ctx *sql.Context, a *quota.Account, n *plan.SetOp, left sql.RowIter, row sql.Row) (sql.RowIter, error) {
	if by := standard.Collations(ctx, n); n.SetOpType != plan.UnionType {
		for _, c := range by {
			if !collation.ByBytes(c) {
				return nil, mysql.NewSQLError(1235, "42000", "INTERSECT and EXCEPT of texts of the collation %s are not supported. Use x COLLATE %s.", c.Name(), collation.Bytes.Name())
			}
		}
	}
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

// values computes the rows of VALUES one by one. go-mysql-server computes all of them first, and
// the table's columns again for each of their values.
func (b *Builder) values(ctx *sql.Context, n *plan.ValueDerivedTable, row sql.Row) sql.RowIter {
	return &interruptible{RowIter: &tuples{list: n.ExpressionTuples, columns: n.Schema(ctx), row: row}}
}

// tuples are the rows of VALUES.
type tuples struct {
	list    [][]sql.Expression
	columns sql.Schema
	row     sql.Row // of the statement around it
}

// Next implements sql.RowIter.
func (t *tuples) Next(ctx *sql.Context) (sql.Row, error) {
	if len(t.list) == 0 {
		return nil, io.EOF
	}
	out := make(sql.Row, len(t.list[0]))
	for i, e := range t.list[0] {
		v, err := e.Eval(ctx, t.row)
		if err != nil {
			return nil, err
		}
		if out[i], err = converted(ctx, t.columns[i].Type, v); err != nil {
			return nil, err
		}
	}
	t.list = t.list[1:]
	return out, nil
}

// Close implements sql.RowIter.
func (t *tuples) Close(*sql.Context) error { return nil }

// converted makes a value one of a column's type.
func converted(ctx *sql.Context, t sql.Type, v any) (any, error) {
	v, _, err := t.Convert(ctx, v)
	if err != nil {
		return nil, err
	}
	d, ok := v.(*apd.Decimal)
	if t, scaled := t.(sql.DecimalType); ok && scaled {
		return sql.DecimalRound(d, int32(t.Scale()))
	}
	return v, nil
}

// recursive meters a recursive common table expression: what it was made of in one round stays
// until the next one ends, and all of it where it is sorted. go-mysql-server runs it over a copy
// with metering nodes, about which it asks once more.
func (b *Builder) recursive(ctx *sql.Context, n *plan.RecursiveCte, row sql.Row) (sql.RowIter, error) {
	if _, metering := n.Left().(*held); metering {
		return nil, nil
	}
	sorted := len(n.Union().SortConditions) > 0
	first := &held{Node: n.Left(), always: true, rounds: true, sorted: sorted}
	next := &held{Node: n.Right(), always: true, rounds: true, sorted: sorted}
	copied, err := n.WithChildren(ctx, first, next)
	if err != nil {
		return nil, err
	}
	rows, err := b.whole.Build(ctx, copied, row)
	if err != nil {
		return nil, err
	}
	return &closing{rows, []*held{first, next}}, nil
}

// closing gives back what nodes have taken when it is closed.
type closing struct {
	sql.RowIter
	nodes []*held
}

// Close implements sql.RowIter.
func (c *closing) Close(ctx *sql.Context) error {
	for _, n := range c.nodes {
		n.free(ctx)
	}
	return c.RowIter.Close(ctx)
}
