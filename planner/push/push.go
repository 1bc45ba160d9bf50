// Package push hands queries on public tables to the store, as one generated query each.
//
// In goes a bound tree over tables that the session may read as they are. Out comes the tree with
// leaves that run generated queries in the place of what the store answers as MySQL would. It has
// no part in any private answer: relations are written as they stand, and charge nothing.
package push

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
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
	tree.Inspect(ctx, n, nil, func(e sql.Expression) {
		if f, ok := e.(*expression.GetField); ok {
			s.read.Add(f.Id())
		}
	})
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
	read     sql.ColSet // columns that expressions of the statement read
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
	changed := false
	switch m := n.(type) {
	case *plan.Project, *plan.GroupBy, *plan.Window:
		var err error
		if n, changed, err = s.withoutUnread(n); err != nil {
			return n, false, err
		}
	case *plan.Sort, *plan.Limit, *plan.Offset, *plan.Distinct, *plan.Having, *plan.SetOp:
	case *plan.Filter:
		if tree.Constant(s.ctx, m.Expression) && tree.NeverHolds(s.ctx, m.Expression) {
			return tree.NoRows(s.ctx, n), true, nil // MySQL evaluates nothing below it
		}
		return n, false, nil
	case *plan.SubqueryAlias:
		if m.IsLateral || !m.Correlated.Empty() {
			return n, false, nil
		}
	default:
		return n, false, nil
	}
	children := n.Children()
	out := make([]sql.Node, len(children))
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

// withoutUnread makes NULL of what the derived tables of a query block compute and nothing reads:
// MySQL does not evaluate it, and it may be out of range. n is the node of the block that lists
// what goes up. The binder gives each column of each use of a derived table an id of its own, and
// all expressions read it by that id, those of subqueries, too. So only nodes that give on all
// columns as they come can need a column whose id no expression has. Of these, only filters, joins
// and the like are passed here, above which is the list.
func (s *pusher) withoutUnread(n sql.Node) (out sql.Node, changed bool, err error) {
	children := slices.Clone(n.Children())
	for i, c := range children {
		done := false
		switch c := c.(type) {
		case *plan.Filter, *plan.JoinNode, *plan.Having, *plan.Sort, *plan.Limit, *plan.Offset:
			if children[i], done, err = s.withoutUnread(c); err != nil {
				return n, false, err
			}
		case *plan.SubqueryAlias:
			p, ok := c.Child.(*plan.Project)
			if !ok {
				continue
			}
			exprs := slices.Clone(p.Projections)
			for k, id := range tree.ColumnIDs(c, len(exprs)) {
				x, ok := exprs[k].(*expression.Alias)
				if !ok || s.read.Contains(id) || tree.Contains(s.ctx, x, sets) {
					continue
				}
				exprs[k] = expression.NewAlias(s.ctx, x.Name(), expression.NewLiteral(nil, x.Type(s.ctx))).WithId(x.Id()).(sql.Expression)
				done = true
			}
			if done {
				children[i] = c.WithChild(plan.NewProject(s.ctx, exprs, p.Child))
			}
		}
		changed = changed || done
	}
	if !changed {
		return n, false, nil
	}
	out, err = n.WithChildren(s.ctx, children...)
	return out, true, err
}

// sets reports whether an expression sets a variable: it is evaluated for that.
func sets(e sql.Expression) bool {
	_, ok := e.(*expression.SetField)
	return ok
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
