package parse

import (
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// writeRegressions brings aggregates of the SQL standard that MySQL has not into what they are, of
// the rows that have both numbers:
//
//	REGR_COUNT(y, x)    COUNT(CASE WHEN y IS NOT NULL AND x IS NOT NULL THEN 1 END)
//	REGR_AVGX(y, x)     AVG(CASE WHEN y IS NOT NULL AND x IS NOT NULL THEN x END)
//	REGR_AVGY(y, x)     likewise, of y
func writeRegressions(s ast.Statement) {
	everywhere(func(n ast.SQLNode) (bool, error) {
		f, ok := n.(*ast.FuncExpr)
		if !ok || f.Distinct || len(f.Exprs) != 2 || !f.Qualifier.IsEmpty() {
			return true, nil
		}
		y, okY := f.Exprs[0].(*ast.AliasedExpr)
		x, okX := f.Exprs[1].(*ast.AliasedExpr)
		if !okY || !okX {
			return true, nil
		}
		name, of := "avg", x.Expr
		switch f.Name.Lowered() {
		case "regr_count":
			name, of = "count", ast.NewIntVal([]byte("1"))
		case "regr_avgx":
		case "regr_avgy":
			of = y.Expr
		default:
			return true, nil
		}
		known := func(e ast.Expr) ast.Expr { return &ast.IsExpr{Operator: ast.IsNotNullStr, Expr: e} }
		f.Name = ast.NewColIdent(name)
		f.Exprs = ast.SelectExprs{&ast.AliasedExpr{Expr: &ast.CaseExpr{Whens: []*ast.When{{
			Cond: &ast.AndExpr{Left: known(y.Expr), Right: known(x.Expr)}, Val: of,
		}}}}}
		return true, nil
	}, s)
}
