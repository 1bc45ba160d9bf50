package survey

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	gmsplan "github.com/dolthub/go-mysql-server/sql/plan"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/catalog"
	"scrim/functions"
	"scrim/internal/refuse"
	"scrim/planner/rule"
	"scrim/planner/stored"
	"scrim/planner/tree"
)

// Facts are what a bound statement shows.
type Facts struct {
	Protected, Undeclared []string
	BindVars              bool
	// Intervals says that an end of an interval is asked for, DP_LOW or DP_HIGH.
	Intervals bool
	MaxColumn sql.ColumnId
}

// Of collects the facts of a statement.
func Of(ctx *sql.Context, c catalog.Reader, n sql.Node) Facts {
	var f Facts
	seen := map[string]bool{}
	tree.Inspect(ctx, n, func(n sql.Node) {
		if t, ok := n.(gmsplan.TableIdNode); ok {
			t.Columns().ForEach(func(id sql.ColumnId) { f.MaxColumn = max(f.MaxColumn, id) })
		}
		rt, ok := n.(*gmsplan.ResolvedTable)
		if !ok {
			return
		}
		t, ok := stored.Under(rt.Table)
		if !ok {
			return
		}
		name := t.StoreRef().String()
		if seen[name] {
			return
		}
		seen[name] = true
		switch c.Table(name).State {
		case catalog.Protected:
			f.Protected = append(f.Protected, name)
		case catalog.Undeclared:
			f.Undeclared = append(f.Undeclared, name)
		}
	}, func(e sql.Expression) {
		if id, ok := e.(sql.IdExpression); ok {
			f.MaxColumn = max(f.MaxColumn, id.Id())
		}
		if a, ok := e.(*functions.Aggregate); ok && a.Told != nil && (a.Told.Function.ErrorBar == functions.Low || a.Told.Function.ErrorBar == functions.High) {
			f.Intervals = true
		}
		if _, ok := e.(*expression.BindVar); ok {
			f.BindVars = true
		}
	})
	return f
}

// Undeclared refuses tables without a policy.
func Undeclared(names []string) error {
	return rule.Deny(rule.Undeclared, refuse.Undeclared, "", "%s has been declared neither protected nor public.", strings.Join(names, ", "))
}

// windowBeside reports whether a query has a window function beside an aggregate or GROUP BY in one
// SELECT: the binder makes NULL of the window function there.
func windowBeside(q ast.SelectStatement) bool {
	found := false
	// Walk reports only what its callback returns, and these return no error.
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if s, ok := n.(*ast.Select); ok {
			over, grouped := false, len(s.GroupBy) > 0
			_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
				switch n := n.(type) {
				case *ast.Subquery:
					return false, nil
				case *ast.FuncExpr:
					over = over || n.Over != nil
					_, private := functions.ByName(n.Name.Lowered())
					_, bar := functions.ErrorBarByName(n.Name.Lowered())
					grouped = grouped || n.Over == nil && (n.IsAggregate() || private || bar)
				}
				return true, nil
			}, s.SelectExprs, s.OrderBy, s.Having)
			found = found || over && grouped
		}
		return true, nil
	}, q)
	return found
}

// Windowed refuses it.
func Windowed() error {
	return rule.Deny(rule.Window, refuse.Shape, "Aggregate in a derived table: SELECT g, c, RANK() OVER (ORDER BY c) FROM (SELECT g, COUNT(*) AS c FROM t GROUP BY g) x.",
		"A window function beside an aggregate over protected rows is not supported.")
}
