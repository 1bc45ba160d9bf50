package parse

import (
	"fmt"
	"strconv"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions"
)

// nameErrorBars brings DP_STDERR, DP_LOW, DP_HIGH and DP_RADIUS into the form in which the binder
// takes them for aggregates (functions.BarFunction): the aggregate that they are of, written out or
// named by its alias in the same SELECT list,
//
//	SELECT region, DP_MEAN(amount) AS m, DP_LOW(m, 0.9) FROM orders GROUP BY region
//	SELECT region, DP_MEAN(amount) AS m, DP_LOW(amount, 'DP_MEAN', 0.9, 'm') FROM orders GROUP BY region
//
// in the list itself, HAVING and ORDER BY. Whether a real column has the alias's name is seen when
// the aggregate is planned. What is wrong is put in the call's place as a refusal.
func nameErrorBars(s ast.Statement) {
	b := barring{done: map[*ast.FuncExpr]bool{}}
	everywhere(func(n ast.SQLNode) (bool, error) {
		if sel, ok := n.(*ast.Select); ok {
			b.aliases = aliasesOf(sel)
			b.below(sel.SelectExprs)
			if sel.Having != nil {
				b.below(sel.Having)
			}
			b.below(sel.OrderBy)
		}
		return true, nil
	}, s)
	b.aliases = nil // what is left stands in places without a list
	everywhere(b.visit, s)
}

// barring rewrites the bars of a statement.
type barring struct {
	aliases map[string][]ast.Expr // of the SELECT at hand, by lower case
	done    map[*ast.FuncExpr]bool
}

// aliasesOf returns the expressions of a SELECT list by their aliases.
func aliasesOf(sel *ast.Select) map[string][]ast.Expr {
	out := map[string][]ast.Expr{}
	for _, e := range sel.SelectExprs {
		if a, ok := e.(*ast.AliasedExpr); ok && !a.As.IsEmpty() {
			out[a.As.Lowered()] = append(out[a.As.Lowered()], a.Expr)
		}
	}
	return out
}

// below rewrites what is below a part of the SELECT, but not in its subqueries.
func (b *barring) below(part ast.SQLNode) {
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if _, ok := n.(*ast.Subquery); ok {
			return false, nil
		}
		return b.visit(n)
	}, part)
}

// visit rewrites one call.
func (b *barring) visit(n ast.SQLNode) (bool, error) {
	call, ok := n.(*ast.FuncExpr)
	if !ok {
		return true, nil
	}
	if f, ok := functions.ErrorBarByName(call.Name.Lowered()); ok && !b.done[call] {
		b.done[call] = true
		b.rewrite(call, f)
	}
	return true, nil
}

// rewrite brings a call into one of the binder's forms.
func (b *barring) rewrite(call *ast.FuncExpr, f *functions.ErrorBarFunction) {
	args, ok := plainArguments(call.Exprs)
	if n := len(args); !ok || call.Distinct || n < 1 || n > 2 || n == 2 && !f.Level {
		refuseCall(call, f.Name+" does not take these arguments.", "Use "+f.Signature+", a being a DP aggregate or its alias in the same SELECT list.")
		return
	}
	level := ast.Expr(ast.NewFloatVal(strconv.AppendFloat(nil, functions.DefaultLevel, 'g', -1, 64)))
	if len(args) == 2 {
		level = args[1]
	}
	of, alias, cause := b.aggregate(args[0])
	if cause != "" {
		refuseCall(call, f.Name+" "+cause, "Write the aggregate out, as "+f.Name+"(DP_MEAN(x)); over a derived table, put it beside the aggregate there.")
		return
	}
	known, _ := functions.ByName(of.Name.Lowered())
	name := known.Name
	if of.Distinct {
		name += functions.Distinct
	}
	call.Exprs = nil
	for _, e := range of.Exprs {
		if _, star := e.(*ast.StarExpr); star {
			e = &ast.AliasedExpr{Expr: ast.NewIntVal([]byte("1"))}
		}
		call.Exprs = append(call.Exprs, e)
	}
	for _, e := range []ast.Expr{ast.NewStrVal([]byte(name)), level, ast.NewStrVal([]byte(alias))} {
		call.Exprs = append(call.Exprs, &ast.AliasedExpr{Expr: e})
	}
}

// aggregate finds what a bar is of: the aggregate, the alias that it was named by, or why there is
// none.
func (b *barring) aggregate(e ast.Expr) (of *ast.FuncExpr, alias, cause string) {
	if c, ok := unparen(e).(*ast.ColName); ok {
		alias = c.Name.String()
		named := b.aliases[c.Name.Lowered()]
		switch {
		case !c.Qualifier.IsEmpty() || len(named) == 0:
			return nil, "", fmt.Sprintf("wants a DP aggregate or its alias in the same SELECT list, and %.64s is neither.", ast.String(c))
		case len(named) > 1:
			return nil, "", fmt.Sprintf("cannot tell which column is meant: the alias %.64s is given %d times.", alias, len(named))
		}
		e = named[0]
	}
	of, ok := unparen(e).(*ast.FuncExpr)
	if ok && of.Over == nil && of.Qualifier.IsEmpty() && !hasBar(of.Exprs) {
		if _, known := functions.ByName(of.Name.Lowered()); known {
			return of, alias, ""
		}
	}
	what := "an expression"
	if alias != "" {
		what = alias + ", an expression"
	}
	return nil, "", fmt.Sprintf("wants one DP aggregate by itself, and not %.80s.", what)
}

// hasBar reports whether there is a bar in the arguments of an aggregate. What a bar takes over is
// then no part of itself: SELECT DP_MEAN(DP_LOW(m)) AS m would be a tree without an end.
func hasBar(args ast.SelectExprs) bool {
	found := false
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if f, ok := n.(*ast.FuncExpr); ok {
			_, bar := functions.ErrorBarByName(f.Name.Lowered())
			found = found || bar
		}
		return !found, nil
	}, args)
	return found
}

func unparen(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

// plainArguments are the arguments of a call if they are expressions.
func plainArguments(exprs ast.SelectExprs) ([]ast.Expr, bool) {
	var out []ast.Expr
	for _, e := range exprs {
		a, ok := e.(*ast.AliasedExpr)
		if !ok {
			return nil, false
		}
		out = append(out, a.Expr)
	}
	return out, true
}

// refuseCall makes a call one that is refused when it is bound.
func refuseCall(call *ast.FuncExpr, cause, remedy string) {
	call.Distinct = false
	call.Exprs = ast.SelectExprs{
		&ast.AliasedExpr{Expr: ast.NewStrVal([]byte(cause))}, &ast.AliasedExpr{Expr: ast.NewStrVal([]byte(remedy))},
	}
}
