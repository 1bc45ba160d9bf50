package admin

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/accounting"
)

// pushCount has the ledger's index count the lines of dp.ledger, where a statement asks for nothing
// but their number and the index holds all that its WHERE says. The table then has one row, which
// holds the number in the place of an id.
//
//	SELECT COUNT(*) FROM dp.ledger WHERE principal = 'ann@%'
//	SELECT FIRST(id) FROM (the number as id)
func pushCount(ctx *sql.Context, n *plan.GroupBy) (sql.Node, transform.TreeIdentity, error) {
	t, name := below(n.Child)
	if t == nil || len(n.GroupByExprs) > 0 || !t.countable() {
		return n, transform.SameTree, nil
	}
	table := resolved(n.Child)
	id, ok := table.Columns().Next(1)
	if !ok {
		return n, transform.SameTree, nil
	}
	number := expression.NewGetFieldWithTable(int(id), int(table.Id()), ledgerColumns[0].typ, Name, name, ledgerColumns[0].name, true)
	deps := make([]sql.Expression, len(n.SelectDeps))
	for i, e := range n.SelectDeps {
		c, ok := e.(*aggregation.Count)
		if !ok || c.Window() != nil || !countsLines(c.Child, name) {
			return n, transform.SameTree, nil
		}
		deps[i] = counted{aggregation.NewFirst(number).WithId(c.Id()).(*aggregation.First), c.String()}
	}
	counting, err := table.ReplaceTable(ctx, t.count())
	if err != nil {
		return nil, transform.SameTree, err
	}
	return plan.NewGroupBy(deps, nil, counting), transform.NewTree, nil
}

// countsLines reports whether COUNT of an expression counts every line.
func countsLines(e sql.Expression, table string) bool {
	switch e := e.(type) {
	case *expression.Star:
		return true
	case *expression.Literal:
		return e.Value() != nil
	}
	column, ok := columnOf(e, table)
	return ok && column == ledgerColumns[0].name
}

// resolved returns the table at the end of a chain of which below knows one.
func resolved(n sql.Node) *plan.ResolvedTable {
	if t, ok := n.(*plan.ResolvedTable); ok {
		return t
	}
	return resolved(n.Children()[0])
}

// counted is the number, with the name that the COUNT had.
type counted struct {
	*aggregation.First
	name string
}

func (c counted) String() string { return c.name }

// WithChildren implements sql.Expression.
func (c counted) WithChildren(ctx *sql.Context, children ...sql.Expression) (sql.Expression, error) {
	first, err := c.First.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return counted{first.(*aggregation.First), c.name}, nil
}

// WithId implements sql.IdExpression.
func (c counted) WithId(id sql.ColumnId) sql.IdExpression {
	return counted{c.First.WithId(id).(*aggregation.First), c.name}
}

// countable reports whether the filter says exactly which lines the statement shows. An account, a
// table or an outcome chooses entries, of which other lines may not be shown; a time is a second
// wider than the statement's.
func (t *logTable) countable() bool {
	f := &t.filter
	return t.whole && !t.from && !t.to && f.Account == "" && f.Table == "" && len(f.Outcomes) == 0 && f.Countable()
}

// count returns the table with the number of its lines as its only row.
func (t logTable) count() *logTable {
	filter := t.filter
	t.table = newTable("ledger", func(ctx *sql.Context) ([]sql.Row, error) {
		n, err := t.a.countLedger(ctx, filter)
		row := make(sql.Row, len(ledgerColumns))
		row[0] = n
		return []sql.Row{row}, err
	}, ledgerColumns...)
	return &t
}

// countLedger is how many lines of dp.ledger a filter chooses of those that the session may see.
func (a *Admin) countLedger(ctx *sql.Context, f accounting.Filter) (int64, error) {
	f, none := a.own(ctx, f)
	if none {
		return 0, nil
	}
	_, lines, err := a.o.Ledger.Count(ctx, f)
	return int64(lines), err
}
