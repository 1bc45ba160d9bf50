package dialect

import (
	"fmt"
	"strconv"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions"
)

// at copies an expression for the part with the first keys: the others are NULL in it, outside
// aggregates and subqueries.
func (t *total) at(level int, e ast.Expr) ast.Expr {
	f := func(e ast.Expr) (ast.Expr, bool) {
		for _, k := range t.keys[level:] {
			if same(e, k.written) || same(e, k.meant) {
				return &ast.NullVal{}, false
			}
		}
		if call, ok := e.(*ast.FuncExpr); ok && call.Name.Lowered() == "grouping" {
			return t.grouping(level, call), false
		}
		_, sub := e.(*ast.Subquery)
		return nil, !sub && !aggregate(e)
	}
	return copyOf(e, f)
}

// grouping is the number that GROUPING(a, b) is in a part: a bit for each argument, set where the
// part has no such key.
func (t *total) grouping(level int, call *ast.FuncExpr) ast.Expr {
	n := 0
	for i, x := range call.Exprs {
		at := -1
		if a, ok := x.(*ast.AliasedExpr); ok {
			for k, key := range t.keys {
				if same(a.Expr, key.written) || same(a.Expr, key.meant) {
					at = k
				}
			}
		}
		if at < 0 {
			t.err = rollupRefusal(fmt.Sprintf("Argument #%d of GROUPING function is not in GROUP BY.", i), "Name a key of GROUP BY … WITH ROLLUP.")
		}
		n = 2*n + int(bit(at >= level))
	}
	return ast.NewIntVal(strconv.AppendInt(nil, int64(n), 10))
}

// aggregates reports whether the SELECT has an aggregate of its own.
func (t *total) aggregates() bool {
	found := false
	look := func(e ast.Expr) (ast.Expr, bool) {
		found = found || aggregate(e)
		_, sub := e.(*ast.Subquery)
		return nil, !sub
	}
	for i := range t.sel.SelectExprs {
		copyOf(t.expr(i), look)
	}
	if t.sel.Having != nil {
		copyOf(t.sel.Having.Expr, look)
	}
	for _, e := range t.order {
		copyOf(e, look)
	}
	return found
}

// aggregate reports whether an expression is the call of an aggregate, or of a function of its
// answer.
func aggregate(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.GroupConcatExpr:
		return true
	case *ast.FuncExpr:
		if e.Over != nil || e.IsAggregate() || e.Name.Lowered() == "any_value" {
			return true
		}
		_, known := functions.ByName(e.Name.Lowered())
		_, bar := functions.ErrorBarByName(e.Name.Lowered())
		return known || bar
	}
	return false
}

// same reports whether two expressions say the same, a column with or without its table.
func same(a, b ast.Expr) bool {
	a, b = plain(a), plain(b)
	x, one := a.(*ast.ColName)
	y, two := b.(*ast.ColName)
	if one && two {
		return x.Name.Lowered() == y.Name.Lowered() &&
			(x.Qualifier.IsEmpty() || y.Qualifier.IsEmpty() || strings.EqualFold(ast.String(x.Qualifier), ast.String(y.Qualifier)))
	}
	return !one && !two && ast.String(a) == ast.String(b)
}

func plain(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.ParenExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

func isColumn(e ast.Expr) bool {
	_, ok := e.(*ast.ColName)
	return ok
}

// columnName is the name that a column of an answer has.
func columnName(a *ast.AliasedExpr) string {
	switch c, ok := a.Expr.(*ast.ColName); {
	case !a.As.IsEmpty():
		return a.As.String()
	case ok:
		return c.Name.String()
	case a.InputExpression != "":
		return a.InputExpression
	}
	return ast.String(a.Expr)
}

func column(name string) ast.Expr { return &ast.ColName{Name: ast.NewColIdent(name)} }

// hidden names a column of the parts that the answer has not.
func hidden(what string, i int) string { return fmt.Sprintf("with rollup %s %d", what, i) }

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
