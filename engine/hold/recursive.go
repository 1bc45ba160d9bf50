package hold

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
)

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
