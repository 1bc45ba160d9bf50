package hold

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"

	"scrim/internal/quota"
)

// Builder is the priority builder that bounds what go-mysql-server's operators hold.
type Builder struct {
	next  sql.NodeExecBuilder
	whole sql.NodeExecBuilder // go-mysql-server's, which asks the Builder
	plain sql.NodeExecBuilder // go-mysql-server's without it, for one node whose inputs are built
}

var _ sql.NodeExecBuilder = (*Builder)(nil)

// NewBuilder returns the Builder that is about to become the priority builder of whole. It asks
// next first.
func NewBuilder(next sql.NodeExecBuilder, whole *rowexec.BaseBuilder) *Builder {
	plain := *whole
	plain.PriorityBuilder = nil
	return &Builder{next: next, whole: whole, plain: &plain}
}

// Build implements sql.NodeExecBuilder: nil, nil leaves the node to the SQL engine.
func (b *Builder) Build(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if iter, err := b.next.Build(ctx, n, row); iter != nil || err != nil {
		return iter, err
	}
	a := quota.Of(ctx)
	caches(ctx, a, n)
	switch n := n.(type) {
	case *plan.Sort:
		return b.sort(ctx, a, n.SortConditions, n.Child, row)
	case *plan.TopN:
		return b.top(ctx, a, n, row)
	case *plan.Distinct:
		return b.distinct(ctx, a, n, row)
	case *plan.SetOp:
		return b.setOp(ctx, a, n, row)
	case *plan.GroupBy:
		return b.groupBy(ctx, a, n, row)
	case *plan.Window:
		return b.window(ctx, a, n, row)
	case *plan.RecursiveCte:
		return b.recursive(ctx, n, row)
	case *plan.Project:
		return b.project(ctx, a, n, row)
	case *plan.Filter:
		return b.filter(ctx, a, n.Expression, n.Child, row)
	case *plan.Having:
		return b.filter(ctx, a, n.Cond, n.Child, row)
	case *plan.ValueDerivedTable:
		return b.values(ctx, n, row), nil
	case *plan.ResolvedTable, *plan.RecursiveTable, *plan.JSONTable:
		return b.leaf(ctx, n, row)
	}
	return nil, nil
}

// child builds an input whose rows are all held.
func (b *Builder) child(ctx *sql.Context, a *quota.Account, n sql.Node, row sql.Row) (*metered, error) {
	rows, err := b.whole.Build(ctx, n, row)
	if err != nil {
		return nil, err
	}
	return &metered{rows: rows, account: a, weight: 1}, nil
}

// leaf builds a node without inputs, whose rows end with the context.
func (b *Builder) leaf(ctx *sql.Context, n sql.Node, row sql.Row) (sql.RowIter, error) {
	rows, err := b.plain.Build(ctx, n, row)
	if err != nil {
		return nil, err
	}
	return &interruptible{RowIter: rows}, nil
}
