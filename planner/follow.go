package planner

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/planner/tree"
)

// keyField is a grouping expression and the column of the answer that has its value. The binder has
// the nodes above compute YEAR(placed) from placed again; the answer has no placed, so they are
// made to read the key instead.
type keyField struct {
	expr  sql.Expression
	field *expression.GetField
}

// follow rewrites the expressions of a node over an answer: keys, column types, subqueries.
func (s *statement) follow(n sql.Node, keys []keyField) (sql.Node, error) {
	ex, ok := n.(sql.Expressioner)
	if !ok {
		return n, nil
	}
	before := s.over
	s.over = n
	defer func() { s.over = before }()
	exprs := ex.Expressions()
	out := make([]sql.Expression, len(exprs))
	_, passes := n.(*plan.Project)
	for i, e := range exprs {
		if gf, plain := e.(*expression.GetField); plain && passes && s.carried[gf.Id()] {
			out[i] = e // which the top of the query block does not read
			continue
		}
		x, err := s.followExpr(e, keys)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return ex.WithExpressions(s.ctx, out...)
}

// notGrouped is MySQL's error of a column that is neither a key nor in an aggregate: a group has
// many values of it, each of them a person's.
func notGrouped(at int, gf *expression.GetField) error {
	return analyzererrors.ErrValidationGroupBy.New(at+1, gf)
}

func (s *statement) followExpr(e sql.Expression, keys []keyField) (sql.Expression, error) {
	for _, k := range keys {
		if tree.Same(s.ctx, e, k.expr) {
			return k.field, nil
		}
	}
	switch e := e.(type) {
	case *plan.Subquery:
		return s.subquery(e)
	case *plan.InSubquery, *plan.ExistsSubquery:
		// which ask for rows, and not for a value
		for _, c := range e.Children() {
			if q, ok := c.(*plan.Subquery); ok && !q.Correlated().Empty() && s.HasProtected(q.Query) {
				return nil, everyRow()
			}
		}
	case *expression.GetField:
		if s.carried[e.Id()] {
			return nil, notGrouped(0, e)
		}
		if t, ok := s.retyped[e.Id()]; ok {
			return tree.Column(e.Id(), e.TableId(), t, e.Database(), e.Table(), e.Name()), nil
		}
		return e, nil
	}
	children := e.Children()
	if len(children) == 0 {
		return e, nil
	}
	out, changed := make([]sql.Expression, len(children)), false
	for i, c := range children {
		x, err := s.followExpr(c, keys)
		if err != nil {
			return nil, err
		}
		_, list := c.(expression.Tuple) // a slice, which is not compared
		out[i], changed = x, changed || list || x != c
	}
	if !changed {
		return e, nil
	}
	return e.WithChildren(s.ctx, out...)
}
