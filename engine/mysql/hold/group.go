package hold

import (
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/hash"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions/standard"
	"scrim/internal/quota"
)

// groupBy aggregates the rows of groups. Aggregates that read single values only, as a SELECT
// without GROUP BY may have, pass rows on and stay with go-mysql-server.
func (b *Builder) groupBy(ctx *sql.Context, a *quota.Account, n *plan.GroupBy, row sql.Row) (sql.RowIter, error) {
	if len(n.GroupByExprs) == 0 && onlyAnyValue(n.SelectDeps) {
		return nil, nil
	}
	subqueries(ctx, n.GroupByExprs...)
	subqueries(ctx, n.SelectDeps...)
	g := &groups{account: a, by: n.GroupByExprs, schema: make(sql.Schema, len(n.GroupByExprs)), byHash: map[uint64]*group{}}
	for i, e := range n.GroupByExprs {
		g.schema[i] = &sql.Column{Type: e.Type(ctx)}
	}
	for _, e := range n.SelectDeps {
		c, err := newGathered(ctx, a, e)
		if err != nil {
			return nil, err
		}
		g.columns = append(g.columns, c)
	}
	var err error
	g.rows, err = b.whole.Build(ctx, n.Child, row)
	return g, err
}

func onlyAnyValue(list []sql.Expression) bool {
	for _, e := range list {
		if _, ok := e.(sql.Aggregation); !ok {
			continue
		}
		if _, ok := e.(*aggregation.AnyValue); !ok {
			return false
		}
	}
	return true
}

// gathered is one column of an aggregation.
type gathered struct {
	aggregate sql.Aggregation
	values    []*sized // what it reads, where that is of any length
	row       bool     // it keeps whole rows
	all       bool     // it keeps all values, not one at a time
}

// newGathered makes the column of an expression. One that is no aggregate, and ANY_VALUE, take
// their value from the first row of a group, as MySQL does.
func newGathered(ctx *sql.Context, a *quota.Account, e sql.Expression) (*gathered, error) {
	agg, ok := e.(sql.Aggregation)
	if any, is := e.(*aggregation.AnyValue); is {
		agg = aggregation.NewFirst(any.Child)
	} else if !ok {
		agg = aggregation.NewFirst(e)
	}
	c := &gathered{aggregate: agg}
	switch standard.Plain(agg).(type) {
	case *aggregation.GroupConcat:
		c.row, c.all = true, true
	case *aggregation.JsonArray, *aggregation.JSONObjectAgg, *aggregation.CountDistinct:
		c.all = true
	default:
		if t := agg.Type(ctx); !types.IsText(t) && !types.IsJSON(t) {
			return c, nil
		}
	}
	children := agg.Children()
	list := make([]sql.Expression, len(children))
	for i, e := range children {
		s := newSized(e, a)
		list[i], c.values = s, append(c.values, s)
	}
	out, err := agg.WithChildren(ctx, list...)
	if err != nil {
		return nil, err
	}
	c.aggregate = out.(sql.Aggregation)
	switch g := standard.Plain(c.aggregate).(type) {
	case *aggregation.GroupConcat:
		c.aggregate, err = standard.Joined(ctx, g, children)
	case *aggregation.CountDistinct:
		c.aggregate = standard.Counted(g)
	}
	return c, err
}

// update adds a row to a buffer, which holds kept bytes by then, and returns how many it holds now.
func (c *gathered) update(ctx *sql.Context, buffer sql.AggregationBuffer, row sql.Row, kept int64) (int64, error) {
	if err := buffer.Update(ctx, row); err != nil {
		return kept, err
	}
	size := int64(0)
	for _, s := range c.values {
		size += s.spent()
	}
	if !c.all {
		return max(kept, size), nil
	}
	if c.row {
		size += quota.Row(row) + boxedRow
	}
	return kept + size + boxed, nil
}

// boxed is what a list or a set adds to a value.
const boxed = 32

// group is the rows of one key so far.
type group struct {
	buffers []sql.AggregationBuffer
	kept    []int64 // by buffer
}

// emptyBuffer is what a buffer takes before it has rows, or a little more.
const emptyBuffer = 160

// groups is the iterator.
type groups struct {
	rows    sql.RowIter
	account *quota.Account
	columns []*gathered
	by      []sql.Expression
	schema  sql.Schema

	byHash map[uint64]*group
	list   []*group
	taken  int64
	read   bool
	next   int
}

// Next implements sql.RowIter.
func (g *groups) Next(ctx *sql.Context) (sql.Row, error) {
	if !g.read {
		g.read = true
		if err := g.gather(ctx); err != nil {
			return nil, err
		}
	}
	if g.next == len(g.list) {
		return nil, io.EOF
	}
	out := make(sql.Row, len(g.columns))
	var err error
	for i, b := range g.list[g.next].buffers {
		if out[i], err = b.Eval(ctx); err != nil {
			return nil, err
		}
	}
	g.next++
	return out, ctx.Err()
}

// gather reads all rows. Without keys there is one group, also of no rows.
func (g *groups) gather(ctx *sql.Context) error {
	if len(g.by) == 0 {
		if _, err := g.group(ctx, 0); err != nil {
			return err
		}
	}
	key := make(sql.Row, len(g.by))
	for n := 1; ; n++ {
		if n%lookEvery == 0 {
			if err := look(ctx); err != nil {
				return err
			}
		}
		row, err := g.rows.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := g.add(ctx, row, key); err != nil {
			return err
		}
	}
}

// add brings a row to its group.
func (g *groups) add(ctx *sql.Context, row, key sql.Row) error {
	mark := g.account.Mark()
	defer g.account.Reset(mark)
	h, err := g.hash(ctx, row, key)
	if err != nil {
		return err
	}
	to, err := g.group(ctx, h)
	if err != nil {
		return err
	}
	for i, c := range g.columns {
		kept, err := c.update(ctx, to.buffers[i], row, to.kept[i])
		if err != nil {
			return err
		}
		if err := g.take(kept - to.kept[i]); err != nil {
			return err
		}
		to.kept[i] = kept
	}
	return nil
}

func (g *groups) take(n int64) error {
	if err := g.account.Take(n); err != nil {
		return err
	}
	g.taken += n
	return nil
}

// hash is the hash of a row's key.
func (g *groups) hash(ctx *sql.Context, row, key sql.Row) (uint64, error) {
	if len(g.by) == 0 {
		return 0, nil
	}
	var err error
	for i, e := range g.by {
		if key[i], err = e.Eval(ctx, row); err != nil {
			return 0, err
		}
	}
	return hash.HashOf(ctx, g.schema, key)
}

// group finds or begins the group of a hash.
func (g *groups) group(ctx *sql.Context, h uint64) (*group, error) {
	if found, ok := g.byHash[h]; ok {
		return found, nil
	}
	if err := g.take(hashedRow + int64(len(g.columns))*emptyBuffer); err != nil {
		return nil, err
	}
	made := &group{buffers: make([]sql.AggregationBuffer, len(g.columns)), kept: make([]int64, len(g.columns))}
	var err error
	for i, c := range g.columns {
		if made.buffers[i], err = c.aggregate.NewBuffer(ctx); err != nil {
			return nil, err
		}
	}
	g.byHash[h] = made
	g.list = append(g.list, made)
	return made, nil
}

// Close implements sql.RowIter.
func (g *groups) Close(ctx *sql.Context) error {
	for _, made := range g.list {
		for _, b := range made.buffers {
			b.Dispose(ctx)
		}
	}
	g.byHash, g.list, g.next = nil, nil, 0
	g.account.Free(g.taken)
	g.taken = 0
	return g.rows.Close(ctx)
}
