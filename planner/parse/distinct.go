package parse

import (
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions"
)

// markDistinct brings DP_COUNT(DISTINCT x, 'options') into a form that the binder takes: it lets
// DISTINCT stand before one argument only.
//
//	DP_COUNT(DISTINCT x, 'error=50')
//	DP_COUNT(x, 'error=50 DISTINCT')
func markDistinct(s ast.Statement) {
	everywhere(func(n ast.SQLNode) (bool, error) {
		call, ok := n.(*ast.FuncExpr)
		if !ok || !call.Distinct || len(call.Exprs) != 2 {
			return true, nil
		}
		f, known := functions.ByName(call.Name.Lowered())
		last, plain := call.Exprs[1].(*ast.AliasedExpr)
		if !known || f.Role != functions.Private || !plain {
			return true, nil
		}
		if options, ok := last.Expr.(*ast.SQLVal); ok && options.Type == ast.StrVal {
			call.Distinct = false
			call.Exprs[1] = &ast.AliasedExpr{Expr: ast.NewStrVal([]byte(string(options.Val) + functions.Distinct))}
		}
		return true, nil
	}, s)
}
