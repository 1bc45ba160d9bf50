package admin

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/expression/function/aggregation"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/transform"

	"scrim/accounting"
)

// pushRuleID is outside the range that go-mysql-server uses.
const pushRuleID analyzer.RuleId = 20030

// Rules returns the analysis rule of the package, which belongs into analyzer.AlwaysBeforeDefault:
// it gives dp.ledger the conditions, the order and the limit of a statement, and counts its lines,
// so that what the ledger has an index for is not read as a whole. go-mysql-server itself hands
// filters to no table.
func Rules() []analyzer.Rule { return []analyzer.Rule{{Id: pushRuleID, Apply: push}} }

func push(ctx *sql.Context, _ *analyzer.Analyzer, n sql.Node, _ *plan.Scope, _ analyzer.RuleSelector, _ *sql.QueryFlags) (sql.Node, transform.TreeIdentity, error) {
	return transform.NodeWithOpaque(ctx, n, func(ctx *sql.Context, n sql.Node) (sql.Node, transform.TreeIdentity, error) {
		switch n := n.(type) {
		case *plan.Filter:
			return change(ctx, n, pushFilter(ctx, n))
		case *plan.Sort:
			return pushSort(ctx, n)
		case *plan.Limit:
			return pushLimit(ctx, n)
		case *plan.GroupBy:
			return pushCount(ctx, n)
		}
		return n, transform.SameTree, nil
	})
}

// change replaces dp.ledger at the end of a chain of nodes that neither add, remove nor reorder
// rows of it, but for filters. Where there is no such table, or f is nil or leaves it alone,
// nothing changes.
func change(ctx *sql.Context, n sql.Node, f func(logTable) *logTable) (sql.Node, transform.TreeIdentity, error) {
	if f == nil {
		return n, transform.SameTree, nil
	}
	switch n := n.(type) {
	case *plan.ResolvedTable:
		t, ok := n.Table.(*logTable)
		if !ok {
			return n, transform.SameTree, nil
		}
		changed := f(*t)
		if changed == nil {
			return n, transform.SameTree, nil
		}
		replaced, err := n.ReplaceTable(ctx, changed)
		return replaced, transform.NewTree, err
	case *plan.Filter, *plan.Project, *plan.TableAlias, *plan.Offset, *plan.Limit, *plan.Sort:
		child, same, err := change(ctx, n.Children()[0], f)
		if err != nil || same {
			return n, transform.SameTree, err
		}
		replaced, err := n.WithChildren(ctx, child)
		return replaced, transform.NewTree, err
	}
	return n, transform.SameTree, nil
}

// below returns the dp.ledger at the end of such a chain, and the name that it has there.
func below(n sql.Node) (t *logTable, name string) {
	switch n := n.(type) {
	case *plan.ResolvedTable:
		t, _ := n.Table.(*logTable)
		return t, n.Name()
	case *plan.TableAlias:
		t, _ := below(n.Child)
		return t, n.Name()
	case *plan.Filter:
		return below(n.Child)
	case *plan.Project:
		return below(n.Child)
	}
	return nil, ""
}

// pushFilter takes the conditions of a WHERE.
func pushFilter(ctx *sql.Context, n *plan.Filter) func(logTable) *logTable {
	t, name := below(n.Child)
	if t == nil {
		return nil
	}
	return func(t logTable) *logTable {
		for _, e := range expression.SplitConjunction(ctx, n.Expression) {
			if !t.take(ctx, name, e) {
				t.whole = false
			}
		}
		return t.read(0)
	}
}

// pushSort takes an ORDER BY id, alone, and makes the Sort needless.
func pushSort(ctx *sql.Context, n *plan.Sort) (sql.Node, transform.TreeIdentity, error) {
	by, descending, ok := sortedBy(n)
	if !ok || by != "id" {
		return n, transform.SameTree, nil
	}
	sorted, same, err := change(ctx, n.Child, func(t logTable) *logTable {
		t.filter.Descending = descending
		return t.read(0)
	})
	if err != nil || same {
		return n, transform.SameTree, err
	}
	return sorted, transform.NewTree, nil
}

// sortedBy returns the one column of dp.ledger by which a Sort goes.
func sortedBy(n *plan.Sort) (column string, descending, ok bool) {
	t, name := below(n.Child)
	if t == nil || len(n.SortConditions) != 1 {
		return "", false, false
	}
	f := n.SortConditions[0]
	column, ok = columnOf(f.Expr, name)
	if !ok {
		column, ok = columnOf(aliased(n.Child, f.Expr), name)
	}
	return column, f.Order == sql.Descending, ok
}

// aliased returns the expression to which a Project below gives the name that e reads.
func aliased(n sql.Node, e sql.Expression) sql.Expression {
	field, ok := e.(*expression.GetField)
	p, isProject := n.(*plan.Project)
	if !ok || !isProject {
		return nil
	}
	for _, x := range p.Projections {
		if a, ok := x.(*expression.Alias); ok && a.Id() == field.Id() {
			return a.Child
		}
	}
	return nil
}

// columnOf returns the column of a table, by its name there, that an expression is.
func columnOf(e sql.Expression, table string) (string, bool) {
	if a, ok := e.(*expression.Alias); ok {
		e = a.Child
	}
	f, ok := e.(*expression.GetField)
	if !ok || !strings.EqualFold(f.Table(), table) {
		return "", false
	}
	return strings.ToLower(f.Name()), true
}

// pushLimit tells the table how many entries will do to begin with. Where the statement sorts by
// time, it also ends there: the entries are in the order of time, except where the clock was set
// back, and are then the last, or first, by their ids.
func pushLimit(ctx *sql.Context, n *plan.Limit) (sql.Node, transform.TreeIdentity, error) {
	wanted, ok := constant(ctx, n.Limit)
	child := n.Child
	if o, isOffset := child.(*plan.Offset); isOffset && ok {
		var skipped int
		skipped, ok = constant(ctx, o.Offset)
		wanted, child = wanted+skipped, o.Child
	}
	if !ok || wanted <= 0 {
		return n, transform.SameTree, nil
	}
	var byTime *plan.Sort
	if p, isProject := child.(*plan.Project); isProject {
		child = p.Child
	}
	if s, isSort := child.(*plan.Sort); isSort {
		if column, _, ok := sortedBy(s); !ok || column != "charged_at" {
			return n, transform.SameTree, nil
		}
		byTime = s
	}
	return change(ctx, n, func(t logTable) *logTable {
		t.filter.Limit = wanted
		if byTime == nil {
			return t.read(0)
		}
		_, t.filter.Descending, _ = sortedBy(byTime)
		if !t.whole || t.filter.Descending && t.to || !t.filter.Descending && t.from {
			return nil
		}
		return t.read(wanted)
	})
}

// constant returns the value of a LIMIT or an OFFSET.
func constant(ctx *sql.Context, e sql.Expression) (int, bool) {
	l, ok := e.(*expression.Literal)
	if !ok {
		return 0, false
	}
	v, ok := integer(l.Value())
	return int(v), ok && v >= 0 && v < 1<<31
}

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
