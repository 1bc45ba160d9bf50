package push

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/engine/store"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// Executor runs a generated query that reads public tables only.
type Executor interface {
	// QueryTables runs the SQL, which reads the tables named, and returns rows with values of the
	// schema's types. It checks once more that the client may read the tables.
	QueryTables(ctx *sql.Context, reads []store.TableRef, query string, args []any, schema sql.Schema) (sql.RowIter, error)
}

// Down hands the query n on public tables to the store:
//
//	SELECT city, COUNT(*) FROM stores WHERE size > 3 GROUP BY city ORDER BY 2 DESC LIMIT 5
//
// becomes one generated query. What does not translate wholly stays with go-mysql-server, with the
// largest query blocks below it pushed. changed is false where nothing is pushed, on errors too.
// All tables of the query must be public to the session, as t.Catalog has them.
func Down(ctx *sql.Context, t rel.Tables, x Executor, n sql.Node) (out sql.Node, changed bool) {
	switch n.(type) {
	case *plan.Project, *plan.Sort, *plan.Limit, *plan.Offset, *plan.Distinct, *plan.Having, *plan.Filter, *plan.GroupBy, *plan.SetOp:
	default:
		return n, false
	}
	t.AsWritten = true
	s := &pusher{Writer: rel.NewWriter(ctx, t), ctx: ctx, executor: x, types: tree.Types{}}
	s.Subquery = s.subquery
	out, changed, err := s.push(n)
	if err != nil || !changed {
		return n, false
	}
	return out, true
}

// pusher writes the query blocks of one statement for the store.
type pusher struct {
	*rel.Writer
	ctx      *sql.Context
	executor Executor
	types    tree.Types // of columns that the store gives other types than the binder
	// of the query being written:
	reads  []store.TableRef           // tables of its subqueries
	with   []string                   // its common table expressions
	shared map[sql.Node]func() *block // what makes one of their uses; nil while none is written
}

// push replaces the query block n, or the blocks below it, by store queries.
func (s *pusher) push(n sql.Node) (sql.Node, bool, error) {
	if q, err := s.storeQuery(n); err == nil {
		return q, true, nil
	}
	var children []sql.Node
	switch n := n.(type) {
	case *plan.Project, *plan.Sort, *plan.Limit, *plan.Offset, *plan.Distinct, *plan.Having, *plan.GroupBy, *plan.Window, *plan.SetOp:
		children = n.Children()
	case *plan.SubqueryAlias:
		if n.IsLateral || !n.Correlated.Empty() {
			return n, false, nil
		}
		children = n.Children()
	default:
		return n, false, nil
	}
	out, changed := make([]sql.Node, len(children)), false
	for i, c := range children {
		x, done, err := s.push(c)
		if err != nil {
			return n, false, err
		}
		out[i], changed = x, changed || done
	}
	if !changed {
		return n, false, nil
	}
	m, err := n.WithChildren(s.ctx, out...)
	return m, true, err
}
