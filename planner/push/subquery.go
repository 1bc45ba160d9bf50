package push

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions/standard"
	"scrim/internal/collation"
	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rel"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// subquery translates a subquery in an expression into one of the store's, which makes a join of
// it; outer resolves the columns around it. NULL means the same in both for EXISTS and IN. The only
// value of a subquery is asked of the store where there is no other: two rows are MySQL's error
// 1242 where a row needs the value, and the store may look at other rows.
func (s *pusher) subquery(e sql.Expression, outer lower.Columns) (lower.Expr, error) {
	around := s.Outer
	s.Outer = outer
	defer func() { s.Outer = around }()
	switch e := e.(type) {
	case *plan.ExistsSubquery:
		n := e.Query.Query
		if p, ok := n.(*plan.Project); ok { // what is selected does not matter
			n = p.Child
		}
		b, err := s.rows(n)
		if err != nil {
			return lower.Expr{}, err
		}
		return lower.Expr{SQL: "(EXISTS (SELECT 1" + s.Clause(b.rel) + b.suffix() + "))", Type: lower.Type{Kind: lower.Bool}}, nil
	case *plan.InSubquery:
		q, ok := e.Right().(*plan.Subquery)
		if !ok {
			return lower.Expr{}, rel.ErrStay
		}
		left := []sql.Expression{e.Left()}
		if row, ok := e.Left().(expression.Tuple); ok {
			left = row
		}
		if len(left) > 1 && !q.Correlated().Empty() {
			// the store compares no rows with a subquery that has columns of those around
			return lower.Expr{}, rel.ErrStay
		}
		b, err := s.columns(q, len(left))
		if err != nil {
			return lower.Expr{}, err
		}
		xs, ys := make([]string, len(left)), make([]string, len(left))
		for i, l := range left {
			s.Outer = around
			x, err := s.Lower(l, outer)
			s.Outer = outer
			if err != nil {
				return x, err
			}
			by, err := standard.InCollation(s.ctx, l, q, i)
			if err != nil {
				return x, err
			}
			x, y, ok := lower.Alike(lower.By(x, by, collation.ForKey), lower.By(b.rel.Columns[i].Expr, by, collation.ForKey))
			if !ok || len(left) > 1 && (x.Nullable || y.Nullable) {
				return x, rel.ErrStay // to the store, rows with NULLs are equal
			}
			xs[i], ys[i] = x.SQL, y.SQL
		}
		row := xs[0]
		if len(xs) > 1 {
			row = "(" + sqltext.List(xs) + ")"
		}
		return lower.Expr{SQL: "(" + row + " IN (SELECT " + sqltext.List(ys) + s.Clause(b.rel) + "))", Type: lower.Type{Kind: lower.Bool}, Nullable: true}, nil
	case *plan.Subquery:
		if !s.single(e.Query) {
			return lower.Expr{}, rel.ErrStay
		}
		b, err := s.columns(e, 1)
		if err != nil {
			return lower.Expr{}, err
		}
		x := b.rel.Columns[0].Expr
		return lower.Expr{SQL: "(SELECT " + x.SQL + s.Clause(b.rel) + ")", Type: x.Type, Nullable: true}, nil
	}
	return lower.Expr{}, rel.ErrStay
}

// rows is the block of a subquery; the tables that it reads are those of the statement.
func (s *pusher) rows(n sql.Node) (*block, error) {
	b, err := s.block(n)
	if err != nil {
		return nil, err
	}
	s.reads = append(s.reads, b.rel.Reads...)
	return b, nil
}

// columns is the block of a subquery with n columns.
func (s *pusher) columns(q *plan.Subquery, n int) (*block, error) {
	b, err := s.rows(q.Query)
	if err != nil {
		return nil, err
	}
	if len(b.rel.Columns) != n || slices.ContainsFunc(b.rel.Columns, func(c rel.Column) bool { return c.Opaque }) {
		return nil, rel.ErrStay
	}
	b = s.closed(b)
	return b, nil
}

// readsOf lists the tables of a query and of the subqueries in it.
func (s *pusher) readsOf(r *rel.Relation) {
	for _, t := range s.reads {
		if !slices.Contains(r.Reads, t) {
			r.Reads = append(r.Reads[:len(r.Reads):len(r.Reads)], t)
		}
	}
}

// reachesOut reports whether the condition of an outer join has a column of neither side, or a
// subquery that the store does not take there: one with columns of the rows around it, or in a
// condition that is not on the other side alone, the one that NULLs may take the place of.
func (s *pusher) reachesOut(cond sql.Expression, rows, other *rel.Relation) bool {
	if cond == nil {
		return false
	}
	return slices.ContainsFunc(tree.Conjuncts(cond), func(c sql.Expression) bool {
		query, others := false, 0
		out := tree.Contains(s.ctx, c, func(e sql.Expression) bool {
			switch e := e.(type) {
			case *plan.Subquery:
				query = true
				return !e.Correlated().Empty()
			case *expression.GetField:
				if other.Find(e) != nil {
					others++
				}
				return other.Find(e) == nil && rows.Find(e) == nil
			}
			return false
		})
		return out || query && (others == 0 || others < len(tree.Fields(s.ctx, c)))
	})
}

// single reports whether a query has one row at most, whatever the rows of its tables are: it
// aggregates without keys, is limited to one, or reads a table by its primary key.
func (s *pusher) single(n sql.Node) bool {
	switch n := n.(type) {
	case *plan.GroupBy:
		return len(n.GroupByExprs) == 0
	case *plan.Limit:
		if l, ok := n.Limit.(*expression.Literal); ok {
			if v, ok := tree.Float(l.Value()); ok && v <= 1 {
				return true
			}
		}
		return s.single(n.Child)
	case *plan.Filter:
		return s.byKey(n) || s.single(n.Child)
	case *plan.Project, *plan.Having, *plan.Sort, *plan.Distinct, *plan.SubqueryAlias:
		return s.single(n.Children()[0])
	}
	return false
}

// byKey reports whether a condition gives each column of a table's primary key a value that does
// not depend on the table's row.
func (s *pusher) byKey(f *plan.Filter) bool {
	n := f.Child
	if a, ok := n.(*plan.TableAlias); ok {
		n = a.Child
	}
	rt, ok := n.(*plan.ResolvedTable)
	if !ok {
		return false
	}
	t, ok := stored.Under(rt.Table)
	if !ok {
		return false
	}
	keyed, ok := t.(sql.PrimaryKeyTable)
	if !ok {
		return false
	}
	schema := keyed.PrimaryKeySchema(s.ctx)
	ids := tree.ColumnIDs(rt, len(schema.Schema))
	if ids == nil || len(schema.PkOrdinals) == 0 {
		return false
	}
	given := map[sql.ColumnId]bool{}
	for _, c := range tree.Conjuncts(f.Expression) {
		eq, ok := c.(*expression.Equals)
		if !ok {
			continue
		}
		for _, sides := range [][2]sql.Expression{{eq.Left(), eq.Right()}, {eq.Right(), eq.Left()}} {
			gf, ok := sides[0].(*expression.GetField)
			if !ok || tree.HasSubquery(s.ctx, sides[1]) || !sameKind(s.ctx, gf, sides[1]) {
				continue
			}
			if !slices.ContainsFunc(tree.Fields(s.ctx, sides[1]), func(id sql.ColumnId) bool { return slices.Contains(ids, id) }) {
				given[gf.Id()] = true
			}
		}
	}
	return !slices.ContainsFunc(schema.PkOrdinals, func(i int) bool { return !given[ids[i]] })
}

// sameKind reports whether two expressions are integers both, or texts: a number is equal to many
// texts.
func sameKind(ctx *sql.Context, a, b sql.Expression) bool {
	x, y := a.Type(ctx), b.Type(ctx)
	return types.IsInteger(x) && types.IsInteger(y) || types.IsTextOnly(x) && types.IsTextOnly(y)
}
