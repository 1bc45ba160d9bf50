package hold

import (
	"github.com/dolthub/go-mysql-server/sql"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/quota"
)

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
	case *gmsplan.CachedResults:
		n.Child = holding(n.Child)
	case *gmsplan.HashLookup:
		n.Child = holding(n.Child)
	case *gmsplan.Into:
		n.Child = holding(n.Child)
	case *gmsplan.JoinNode:
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
			if s, ok := e.(*gmsplan.Subquery); ok {
				if _, done := s.Query.(*held); !done {
					s.Query = &held{Node: s.Query, always: !s.IsNonDeterministic()}
				}
			}
			return true
		})
	}
}
