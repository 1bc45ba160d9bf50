package push

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/sqltext"
	"scrim/planner/lower"
	planned "scrim/planner/plan"
	"scrim/planner/rel"
	"scrim/planner/tree"
)

// storeQuery is a leaf that runs a generated query on public tables.
type storeQuery struct {
	tree.KnownRows
	query    string
	args     []any
	relation *rel.Relation
	executor Executor
}

func (q *storeQuery) String() string { return "StoreQuery" }

func (q *storeQuery) WithChildren(_ *sql.Context, children ...sql.Node) (sql.Node, error) {
	return tree.Leaf(q, children)
}

func (q *storeQuery) RowIter(ctx *sql.Context, _ sql.Row) (sql.RowIter, error) {
	return q.executor.QueryTables(ctx, q.relation.Reads, q.query, q.args, q.Columns)
}

// storeQuery translates a whole query block, or says that it stays.
func (s *pusher) storeQuery(n sql.Node) (sql.Node, error) {
	s.Begin()
	s.reads, s.with, s.shared = nil, nil, s.readOften(n)
	b, err := s.block(n)
	if err != nil {
		return nil, err
	}
	s.readsOf(b.rel)
	if len(b.rel.Reads) == 0 || !b.worth && len(s.reads) == 0 && len(b.rel.Reads) == 1 {
		return nil, rel.ErrStay
	}
	schema := n.Schema(s.ctx)
	if len(schema) != len(b.rel.Columns) {
		return nil, rel.ErrStay
	}
	q := &storeQuery{executor: s.executor, relation: b.rel}
	q.Columns = schema.Copy()
	items := make([]string, len(schema))
	for i, c := range b.rel.Columns {
		if c.Opaque {
			return nil, rel.ErrStay
		}
		items[i] = c.Expr.SQL
		if t, ok := s.types[c.ID]; ok {
			q.Columns[i].Type = t
		} else if c.Expr.Type.Kind == lower.String && c.Expr.Type.Members == "" && !types.IsText(c.Type) {
			q.Columns[i].Type = types.LongText // UPPER() and others are of their argument's type to the binder
		}
		q.Exprs = append(q.Exprs, tree.Column(c.ID, 0, q.Columns[i].Type, schema[i].DatabaseSource, schema[i].Source, schema[i].Name))
	}
	// A projection that another replaces leaves values behind that nothing uses, and the store
	// wants none of these.
	used := rel.Renumbered(planned.Scan{SQL: s.clauseWith() + "SELECT " + sqltext.List(items) + s.Clause(b.rel) + b.suffix(), Args: s.Args()})
	q.query, q.args = used.SQL, used.Args
	return q, nil
}
