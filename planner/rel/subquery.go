package rel

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"

	"scrim/planner/lower"
	"scrim/planner/tree"
)

// subquery is the translation of a subquery in an expression. The expression is translated with its
// name in its place.
type subquery struct{ name, text string }

// withoutSubqueries puts a column in the place of each subquery in an expression, and returns what
// resolves it to the name of the subquery's translation.
func (s *Writer) withoutSubqueries(e sql.Expression, cols lower.Columns, translate func(e sql.Expression, outer lower.Columns) (lower.Expr, error)) (sql.Expression, lower.Columns, []subquery, error) {
	if !tree.HasSubquery(s.ctx, e) {
		return e, cols, nil, nil
	}
	var list []subquery
	found := map[sql.ColumnId]lower.Expr{}
	var replace func(e sql.Expression) (sql.Expression, error)
	replace = func(e sql.Expression) (sql.Expression, error) {
		switch e.(type) {
		case *gmsplan.Subquery, *gmsplan.InSubquery, *gmsplan.ExistsSubquery:
			x, err := translate(e, cols)
			if err != nil {
				return nil, err
			}
			q := subquery{s.Alias() + ".v", x.SQL}
			list = append(list, q)
			id := s.NewID()
			found[id] = lower.Expr{SQL: q.name, Type: x.Type, Nullable: x.Nullable}
			return tree.Column(id, 0, e.Type(s.ctx), "", "", "subquery"), nil
		}
		children := e.Children()
		if len(children) == 0 {
			return e, nil
		}
		out := make([]sql.Expression, len(children))
		for i, c := range children {
			var err error
			if out[i], err = replace(c); err != nil {
				return nil, err
			}
		}
		return e.WithChildren(s.ctx, out...)
	}
	e, err := replace(e)
	return e, func(gf *expression.GetField) (lower.Expr, bool) {
		if x, ok := found[gf.Id()]; ok {
			return x, true
		}
		return cols(gf)
	}, list, err
}

// withSubqueries puts the texts of subqueries into the place of their names. Where guards repeat an
// operand, the subqueries become the columns of a row that the expression is computed from.
func withSubqueries(text string, list []subquery) string {
	once := true
	for _, q := range list {
		once = once && strings.Count(text, q.name) == 1
	}
	var from []string
	for _, q := range list {
		if once {
			text = strings.Replace(text, q.name, q.text, 1)
		}
		from = append(from, "(SELECT "+q.text+" AS v) AS "+strings.TrimSuffix(q.name, ".v"))
	}
	if once {
		return text
	}
	return "(SELECT " + text + " FROM " + strings.Join(from, ", ") + ")"
}
