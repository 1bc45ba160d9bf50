package tables

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"
	"github.com/dolthub/go-mysql-server/sql/types"

	"scrim/internal/sqltext"
	"scrim/planner/lower"
)

// target is which rows of one stored table an UPDATE or DELETE is about.
type target struct {
	table *Table
	where []sql.Expression
	order sql.SortConditions
	limit sql.Expression
}

// targetOf takes the row source of an UPDATE or DELETE apart. It returns nil, nil when the table is
// not a stored one.
func targetOf(ctx *sql.Context, verb string, n sql.Node) (*target, error) {
	var t target
	for {
		switch x := n.(type) {
		case *plan.Filter:
			t.where = append(t.where, x.Expression)
			n = x.Child
		case *plan.Sort:
			t.order = x.SortConditions
			n = x.Child
		case *plan.Limit:
			t.limit = x.Limit
			n = x.Child
		case *plan.TableAlias:
			n = x.Child
		case *plan.ResolvedTable:
			table, ok := asTable(x.Table)
			if !ok {
				return nil, nil
			}
			t.table = table
			return &t, t.checkExpressions(ctx, verb)
		default:
			if !readsStored(ctx, n) {
				return nil, nil
			}
			return nil, unsupported(verb+" one table, and give the rows by conditions on its own columns.",
				"%s of several tables or of a view is not supported.", verb)
		}
	}
}

func readsStored(ctx *sql.Context, n sql.Node) bool {
	found := false
	transform.InspectWithOpaque(ctx, n, func(_ *sql.Context, n sql.Node) bool {
		if rt, ok := n.(*plan.ResolvedTable); ok {
			_, stored := asTable(rt.Table)
			found = found || stored
		}
		return !found
	})
	return found
}

func (t *target) checkExpressions(ctx *sql.Context, verb string) error {
	list := append([]sql.Expression{}, t.where...)
	for _, f := range t.order {
		list = append(list, f.Expr)
	}
	return refuseSubqueries(ctx, verb, list)
}

// refuseSubqueries refuses expressions that hold a subquery.
func refuseSubqueries(ctx *sql.Context, verb string, list []sql.Expression) error {
	for _, e := range list {
		found := false
		sql.Inspect(ctx, e, func(_ *sql.Context, e sql.Expression) bool {
			switch e.(type) {
			case *plan.Subquery, *plan.InSubquery, *plan.ExistsSubquery:
				found = true
			}
			return !found
		})
		if found {
			return unsupported("Run the subquery first and put its answer into the statement.",
				"A subquery in %s is not supported.", verb)
		}
	}
	return nil
}

// condition returns the generated condition that the rows meet, "TRUE" for all rows.
func (t *target) condition(ctx *sql.Context, b *lower.Binder) (string, error) {
	parts := make([]string, 0, len(t.where))
	for _, e := range t.where {
		p, err := lower.LowerPredicate(ctx, e, b, t.columns(nil))
		if err != nil {
			return "", err
		}
		parts = append(parts, "("+p.SQL+")")
	}
	all := strings.Join(parts, " AND ")
	if all == "" {
		all = "TRUE"
	}
	if t.limit == nil {
		return all, nil
	}
	return t.limited(ctx, b, all)
}

// limited adds ORDER BY and LIMIT to a condition, by the store's own row numbers.
func (t *target) limited(ctx *sql.Context, b *lower.Binder, all string) (string, error) {
	var order []string
	for _, f := range t.order {
		e, err := lower.Lower(ctx, f.Expr, b, t.columns(nil))
		if err != nil {
			return "", err
		}
		direction := " ASC NULLS FIRST"
		if f.Order == sql.Descending {
			direction = " DESC NULLS LAST"
		}
		order = append(order, e.SQL+direction)
	}
	v, err := t.limit.Eval(ctx, nil)
	if err != nil {
		return "", err
	}
	n, _, err := types.Int64.Convert(ctx, v)
	if err != nil {
		return "", err
	}
	q := "rowid IN (SELECT rowid FROM " + quote(t.table.def.Ref) + " WHERE " + all
	if len(order) > 0 {
		q += " ORDER BY " + strings.Join(order, ", ")
	}
	return q + " LIMIT CAST(" + b.Bind(n) + " AS BIGINT))", nil
}

// columns resolves the table's columns, those that were assigned before to what was assigned.
func (t *target) columns(assigned map[int]lower.Expr) lower.Columns {
	return func(f *expression.GetField) (lower.Expr, bool) {
		i := t.table.schema.IndexOfColName(f.Name())
		if i < 0 {
			return lower.Expr{}, false
		}
		if e, ok := assigned[i]; ok {
			return e, true
		}
		c := t.table.def.Columns[i]
		return lower.ReadColumn(sqltext.StoreName(c.Name), c.Type), true
	}
}
