package survey

import (
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions"
	"scrim/internal/refuse"
	"scrim/planner/rule"
)

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
