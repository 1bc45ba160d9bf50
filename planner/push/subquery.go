package push

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/internal/sqltext"
	"scrim/planner/lower"
	"scrim/planner/rel"
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
			x, y, ok := lower.Alike(x, b.rel.Columns[i].Expr)
			if !ok {
				return x, rel.ErrStay
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
// subquery that has columns of the rows around it, which the store does not take there.
func (s *pusher) reachesOut(cond sql.Expression, sides ...*rel.Relation) bool {
	return cond != nil && tree.Contains(s.ctx, cond, func(e sql.Expression) bool {
		switch e := e.(type) {
		case *plan.Subquery:
			return !e.Correlated().Empty()
		case *expression.GetField:
			return !slices.ContainsFunc(sides, func(r *rel.Relation) bool { return r.Find(e) != nil })
		}
		return false
	})
}
