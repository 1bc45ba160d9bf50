// Package push hands queries on public tables to the store, as one generated query each.
//
// In goes a bound tree over tables that the session may read as they are. Out comes the tree with
// leaves that run generated queries in the place of what the store answers as MySQL would. It has
// no part in any private answer: relations are written as they stand, and charge nothing.
package push

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/engine/store"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	planned "scrim/planner/plan"
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
		if _, union := n.(*plan.SetOp); union && done && !x.Schema(s.ctx).Equals(c.Schema(s.ctx)) {
			x, done = c, false // both sides have the same types
		}
		out[i], changed = x, changed || done
	}
	if !changed {
		return n, false, nil
	}
	m, err := n.WithChildren(s.ctx, out...)
	return m, true, err
}

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
		if k := c.Expr.Type.Kind; types.IsText(schema[i].Type) && (k == lower.Date || k == lower.Datetime) {
			items[i] = lower.Convert(c.Expr, lower.Type{Kind: lower.String}).SQL
		}
		// day + 0.5 has more digits than the binder thinks
		if d, ok := schema[i].Type.(sql.DecimalType); ok && c.Expr.Type.Kind == lower.Decimal {
			if digits := c.Expr.Type.Precision - c.Expr.Type.Scale; digits > int(d.Precision())-int(d.Scale()) {
				q.Columns[i].Type = types.MustCreateDecimalType(uint8(min(digits+int(d.Scale()), types.DecimalTypeMaxPrecision)), d.Scale())
			}
		}
		if t, ok := s.types[c.ID]; ok {
			q.Columns[i].Type = t
		} else if c.Expr.Type.Kind == lower.Bytes && types.IsText(c.Type) && !types.IsBinaryType(c.Type) {
			q.Columns[i].Type = types.LongBlob
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
