package hold

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/rowexec"

	"scrim/internal/quota"
	"scrim/internal/turns"
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

// held is a node whose rows are cached by whoever reads them.
type held struct {
	sql.Node
	always bool  // the rows stay until the statement ends, or until they are read anew
	rounds bool  // of a recursion, which keeps the rows of a round beside those of the one before
	sorted bool  // of a recursion whose rows are sorted, and stay
	taken  int64 // by the rows that stay
}

var _ sql.ExecBuilderNode = (*held)(nil)

// Children implements sql.Node.
func (h *held) Children() []sql.Node { return []sql.Node{h.Node} }

// WithChildren implements sql.Node.
func (h *held) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	if len(children) != 1 {
		return nil, sql.ErrInvalidChildrenNumber.New(h, len(children), 1)
	}
	return &held{Node: children[0], always: h.always, rounds: h.rounds, sorted: h.sorted}, nil
}

// CollationCoercibility implements sql.CollationCoercible.
func (h *held) CollationCoercibility(ctx *sql.Context) (sql.CollationID, byte) {
	return sql.GetCoercibility(ctx, h.Node)
}

// BuildRowIter implements sql.ExecBuilderNode. A cache that is filled once more takes the place of
// the first one.
func (h *held) BuildRowIter(ctx *sql.Context, b sql.NodeExecBuilder, row sql.Row) (sql.RowIter, error) {
	rows, err := b.Build(ctx, h.Node, row)
	if err != nil {
		return nil, err
	}
	m := &metered{rows: rows, account: quota.Of(ctx), weight: 1}
	if h.rounds {
		m.weight = 2
	}
	if h.always {
		if !h.sorted {
			h.free(ctx)
		}
		m.kept = &h.taken
	}
	return m, nil
}

// free gives back what the rows have taken.
func (h *held) free(ctx *sql.Context) {
	quota.Of(ctx).Free(h.taken)
	h.taken = 0
}

// holding puts a held node around one that a cache reads, once.
func holding(n sql.Node) sql.Node {
	if h, ok := n.(*held); ok {
		return h
	}
	return &held{Node: n, always: true}
}

// caches puts metering nodes under a node that caches rows or values. It changes the node, which
// belongs to the running statement alone.
func caches(ctx *sql.Context, a *quota.Account, n sql.Node) {
	switch n := n.(type) {
	case *plan.CachedResults:
		n.Child = holding(n.Child)
	case *plan.HashLookup:
		n.Child = holding(n.Child)
	case *plan.Into:
		n.Child = holding(n.Child)
	case *plan.JoinNode:
		if _, ok := n.Filter.(*watched); n.Filter != nil && !ok && !n.Op.IsMerge() {
			subqueries(ctx, n.Filter)
			n.Filter = &watched{Expression: n.Filter, account: a}
		}
	}
}

// subqueries puts metering nodes under the subqueries of expressions, whose rows are read into a
// list, and kept where they cannot change.
func subqueries(ctx *sql.Context, list ...sql.Expression) {
	for _, e := range list {
		sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			if s, ok := e.(*plan.Subquery); ok {
				if _, done := s.Query.(*held); !done {
					s.Query = &held{Node: s.Query, always: !s.IsNonDeterministic()}
				}
			}
			return true
		})
	}
}

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
