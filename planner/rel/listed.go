package rel

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/planner/lower"
)

// listed translates x [NOT] IN (SELECT y FROM public tables): whether a row meets it is a function
// of that row and of public data, as with a join, and it makes no row of another. ok is false for
// other conditions.
func (s *Writer) listed(r *Relation, cond sql.Expression) (sqlText string, reads *Relation, ok bool, err error) {
	not, negated := cond.(*expression.Not)
	if negated {
		cond = not.Child
	}
	in, is := cond.(*plan.InSubquery)
	if !is {
		return "", nil, false, nil
	}
	q, is := in.Right().(*plan.Subquery)
	if !is || !q.Correlated().Empty() || s.HasProtected(q.Query) {
		return "", nil, false, nil
	}
	n := q.Query
	if d, is := n.(*plan.Distinct); is {
		n = d.Child
	}
	list, err := s.Public(n)
	if err != nil || len(list.Columns) != 1 {
		return "", nil, false, nil
	}
	x, err := s.Lower(in.Left(), r.Resolve)
	if err != nil {
		return "", nil, false, err
	}
	x, y, ok := lower.Alike(x, list.Columns[0].Expr)
	if !ok {
		return "", nil, false, nil
	}
	word := " IN "
	if negated {
		word = " NOT IN "
	}
	return "(" + x.SQL + word + "(SELECT " + y.SQL + s.Clause(list) + "))", list, true, nil
}
