package rel

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/refuse"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// A subquery that has no columns of the rows around it, and aggregates rows of all persons, is a
// private answer by itself. It is released first, and the rows around it are compared with what was
// released:
//
//	SELECT COUNT(*) FROM ratings WHERE rating > (SELECT AVG(rating) FROM ratings)
//
// For any value that was released, the second release is one of a statement with that constant in
// it, and loses no more: the two compose adaptively. Both losses are divided and charged together,
// before either runs. The scan takes the released value as an argument; where too few persons are
// in the first, it is NULL, as the answer would be.

// isAnswer reports whether a subquery is a private answer by itself.
func (s *Writer) isAnswer(q *gmsplan.Subquery) bool {
	return s.Answer != nil && q.Correlated().Empty() && s.HasProtected(q.Query)
}

// onlyAnswers translates a subquery that is a private answer, and refuses others.
func (s *Writer) onlyAnswers(e sql.Expression, _ lower.Columns) (lower.Expr, error) {
	q, ok := e.(*gmsplan.Subquery)
	if !ok || !s.isAnswer(q) {
		return lower.Expr{}, s.NoSubquery(e)
	}
	p, ok := q.Query.(*gmsplan.Project)
	if !ok || len(p.Projections) != 1 {
		return lower.Expr{}, s.NoSubquery(e)
	}
	g, ok := p.Child.(*gmsplan.GroupBy)
	if !ok || len(g.GroupByExprs) > 0 {
		return lower.Expr{}, rule.Deny(rule.Subquery, refuse.Shape, "Aggregate in it, without GROUP BY: (SELECT AVG(x) FROM t).",
			"A subquery whose value is compared with protected rows is not one aggregate.")
	}
	a, err := s.Answer(g)
	if err != nil {
		return lower.Expr{}, err
	}
	x, err := s.Lower(tree.Unalias(p.Projections[0]), func(gf *expression.GetField) (lower.Expr, bool) {
		for i, e := range a.Exprs {
			if tree.ID(e) == gf.Id() && types.IsNumber(a.Shown[i].Type) {
				return s.released(plan.AnswerArg{Asked: a.Release.Asked, Output: a.Columns[i]}, a.Shown[i].Type), true
			}
		}
		return lower.Expr{}, false
	})
	x.Nullable = true
	return x, err
}

// released is a released number: an integer, or a DOUBLE.
func (s *Writer) released(a plan.AnswerArg, t sql.Type) lower.Expr {
	of, name := lower.Type{Kind: lower.Double}, "DOUBLE"
	if types.IsInteger(t) {
		of, name = lower.Type{Kind: lower.Int}, "BIGINT"
	}
	return lower.Expr{SQL: "TRY_CAST(" + s.Bind(a) + " AS " + name + ")", Type: of, Nullable: true}
}
