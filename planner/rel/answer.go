package rel

import (
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/functions/standard"
	"scrim/internal/refuse"
	"scrim/planner/lower"
	"scrim/planner/plan"
	"scrim/planner/rule"
	"scrim/planner/tree"
)

// A subquery that aggregates rows of all persons is a private answer by itself. It is released
// first, and the rows around it are compared with what was released:
//
//	SELECT COUNT(*) FROM ratings WHERE rating > (SELECT AVG(rating) FROM ratings)
//
// So is one for each value of public columns of the rows around it, which is one release by these
// values as groups. Each row around is compared with what was released for its own:
//
//	… FROM ratings r JOIN films f ON f.id = r.film WHERE r.rating > (SELECT AVG(s.rating) FROM ratings s WHERE s.film = f.id)
//
// For any values that were released, the second release is one of a statement with those constants
// in it, and loses no more: the two compose adaptively. Both losses are divided and charged
// together, before either runs. The scan takes the released values as arguments; where too few
// persons are in the first, a value is NULL, as the answer would be.

// Answers is what was released for each of the values that the rows around a subquery have in some
// columns. Which values these are is public.
type Answers struct {
	// The released answer, whose rows are those of the values; nil where there are no values.
	*plan.DPAggregate
	// Of is SQL for the text of the row around, in a list with one for each value; NULL where the
	// row has none of the values.
	Of func(list string) string
	// None is SQL for whether the row around has a NULL among its columns, with which nothing is
	// equal.
	None string
}

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
	values := make([]lower.Expr, len(a.Exprs))
	for i, t := range a.Shown {
		bound := s.Bind(plan.AnswerArg{Asked: a.Release.Asked, Output: a.Columns[i]})
		if values[i], err = released(bound, t); err != nil {
			return lower.Expr{}, err
		}
	}
	return s.overAnswer(p.Projections[0], a.Exprs, values)
}

// answerEach translates a subquery that aggregates rows of all persons for each of the values of
// columns of the rows around it. shown is what it computes from its aggregates.
//
// For a row with a NULL among the columns the subquery has no rows, whatever the data are: a count
// is 0, and others are NULL. So are all where a declared domain leaves the row's values out.
func (d *decider) answerEach(g *gmsplan.GroupBy, shown sql.Expression) (lower.Expr, error) {
	a, err := d.AnswerEach(d.around, g)
	if err != nil {
		return lower.Expr{}, err
	}
	values, list := make([]lower.Expr, len(g.SelectDeps)), make([]subquery, len(g.SelectDeps))
	for i, e := range g.SelectDeps {
		c := &sql.Column{Name: e.String(), Type: e.Type(d.ctx)}
		text := "NULL"
		if a.DPAggregate != nil {
			c = a.Shown[i]
			text = a.Of(d.Bind(plan.AnswerArg{Asked: a.Release.Asked, Output: a.Columns[i], Each: true}))
		}
		if values[i], err = released(text, c); err != nil {
			return lower.Expr{}, err
		}
		if CountsRows(e) {
			values[i].SQL = "(CASE WHEN " + a.None + " THEN 0 ELSE " + values[i].SQL + " END)"
		}
		list[i] = subquery{d.Alias() + ".v", values[i].SQL}
		values[i].SQL = list[i].name
	}
	before := d.Outer
	d.Outer = d.around.Resolve
	defer func() { d.Outer = before }()
	x, err := d.overAnswer(shown, g.SelectDeps, values)
	x.SQL = withSubqueries(x.SQL, list)
	return x, err
}

// CountsRows reports whether an aggregate of no rows is 0.
func CountsRows(e sql.Expression) bool {
	a, ok := e.(sql.Aggregation)
	if !ok {
		return false
	}
	switch standard.Plain(a).(type) {
	case *aggregation.Count, *aggregation.CountDistinct:
		return true
	}
	return false
}

// overAnswer translates what a subquery shows of its aggregates, whose values are given.
func (s *Writer) overAnswer(shown sql.Expression, aggregates []sql.Expression, values []lower.Expr) (lower.Expr, error) {
	x, err := s.Lower(tree.Unalias(shown), func(gf *expression.GetField) (lower.Expr, bool) {
		if i := slices.IndexFunc(aggregates, func(e sql.Expression) bool { return tree.ID(e) == gf.Id() }); i >= 0 {
			return values[i], true
		}
		return lower.Expr{}, false
	})
	x.Nullable = true
	return x, err
}

// released reads the text of a released value: an integer, a DOUBLE, a date or a moment.
func released(text string, c *sql.Column) (lower.Expr, error) {
	var of lower.Type
	name := ""
	switch {
	case types.IsInteger(c.Type):
		of, name = lower.Type{Kind: lower.Int}, "BIGINT"
	case types.IsNumber(c.Type):
		of, name = lower.Type{Kind: lower.Double}, "DOUBLE"
	case types.IsDateType(c.Type):
		of, name = lower.Type{Kind: lower.Date}, "DATE"
	case types.IsTime(c.Type):
		of, name = lower.Type{Kind: lower.Datetime}, "TIMESTAMP"
	default:
		return lower.Expr{}, rule.Deny(rule.Subquery, refuse.Shape, "Ask for it in a statement of its own.",
			"The answer %s in a subquery is of type %s, and protected rows are compared with numbers, dates and times.", c.Name, c.Type)
	}
	return lower.Expr{SQL: "TRY_CAST(" + text + " AS " + name + ")", Type: of, Nullable: true}, nil
}
