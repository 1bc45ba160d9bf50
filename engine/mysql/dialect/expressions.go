package dialect

import (
	"fmt"
	"slices"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions"
	"scrim/internal/refuse"
)

// unwritten refuses what expressionBars alone writes.
func unwritten(s ast.Statement) (err error) {
	everywhere(s, func(n ast.SQLNode) {
		if f, ok := n.(*ast.FuncExpr); ok && (f.Name.EqualString(functions.LawName) || f.Name.EqualString(functions.IntervalName)) {
			err = refuse.New(refuse.Expression, "%s is what DP_LOW and DP_HIGH of an expression are written out as.", f.Name).With("Use DP_LOW(SUM(x) / COUNT(*)).")
		}
	})
	return err
}

// expressionBars writes DP_LOW and DP_HIGH of an expression of several answers out, given or named
// by its alias in the same SELECT list, see functions.Interval. Those of one aggregate are left as
// they are. What is computed otherwise than an interval can follow is refused.
func expressionBars(s ast.Statement) (err error) {
	everywhere(s, func(n ast.SQLNode) {
		sel, ok := n.(*ast.Select)
		if !ok || err != nil {
			return
		}
		named := map[string][]ast.Expr{}
		for _, e := range sel.SelectExprs {
			if a, ok := e.(*ast.AliasedExpr); ok && !a.As.IsEmpty() {
				named[a.As.Lowered()] = append(named[a.As.Lowered()], a.Expr)
			}
		}
		look := func(n ast.SQLNode) (bool, error) {
			f, ok := n.(*ast.FuncExpr)
			if !ok {
				_, sub := n.(*ast.Subquery)
				return !sub, nil
			}
			if bar, ok := functions.ErrorBarByName(f.Name.Lowered()); ok && err == nil && (bar.ErrorBar == functions.Low || bar.ErrorBar == functions.High) {
				err = expressionBar(f, bar, named)
			}
			return true, nil
		}
		_ = ast.Walk(look, sel.SelectExprs)
		if sel.Having != nil {
			_ = ast.Walk(look, sel.Having)
		}
		_ = ast.Walk(look, sel.OrderBy)
	})
	return err
}

// expressionBar writes one call out, if it is of an expression.
func expressionBar(f *ast.FuncExpr, bar *functions.ErrorBarFunction, named map[string][]ast.Expr) error {
	var args []ast.Expr
	for _, e := range f.Exprs {
		a, ok := e.(*ast.AliasedExpr)
		if !ok {
			return nil
		}
		args = append(args, a.Expr)
	}
	if len(args) < 1 || len(args) > 2 {
		return nil
	}
	of := plain(args[0])
	if c, ok := of.(*ast.ColName); ok && c.Qualifier.IsEmpty() && len(named[c.Name.Lowered()]) == 1 {
		of = plain(named[c.Name.Lowered()][0])
	}
	if aggregate(of) && !isWindow(of) || !asksAnswers(of) {
		return nil
	}
	level := ast.Expr(ast.NewFloatVal(fmt.Append(nil, functions.DefaultLevel)))
	if len(args) == 2 {
		level = args[1]
	}
	w := &computing{}
	if w.add(of); w.odd != "" {
		return refuse.New(refuse.Aggregate, "%s does not follow %.80s.", bar.Name, w.odd).With(
			"It follows + - * /, ROUND, TRUNCATE, FLOOR, CEILING, SQRT, EXP, LN, LOG2 and LOG10 of aggregates, of SUM(…) OVER (…) of them and of scalar subqueries of one. Ask for the interval of each aggregate.")
	}
	f.Name, f.Exprs = ast.NewColIdent(functions.IntervalName), nil
	for _, e := range append([]ast.Expr{ast.NewStrVal([]byte(bar.Name + " " + strings.Join(w.program, " "))), level}, w.args...) {
		f.Exprs = append(f.Exprs, &ast.AliasedExpr{Expr: e})
	}
	return nil
}

// asksAnswers reports whether an expression holds an aggregate or a subquery. How many rows a
// window of an answer has is a public number.
func asksAnswers(e ast.Expr) bool {
	found := false
	copyOf(e, func(e ast.Expr) (ast.Expr, bool) {
		f, call := e.(*ast.FuncExpr)
		rows := call && f.Over != nil && f.Name.Lowered() == "count"
		_, sub := e.(*ast.Subquery)
		found = found || sub || aggregate(e) && !rows
		return nil, !found
	})
	return found
}

// computing is an expression as functions.Interval has it.
type computing struct {
	program []string
	args    []ast.Expr
	odd     string // what is not followed
}

func (w *computing) operand(kind string, e ast.Expr) {
	w.program, w.args = append(w.program, kind), append(w.args, copyOf(e, nil))
}

// released reports whether an expression is an aggregate of rows.
func released(e ast.Expr) bool {
	f, ok := plain(e).(*ast.FuncExpr)
	if !ok || f.Over != nil || !aggregate(f) {
		return false
	}
	_, bar := functions.ErrorBarByName(f.Name.Lowered())
	return !bar
}

// law is DP_LAW of an aggregate.
func law(of ast.Expr) ast.SelectExprs {
	f := &ast.FuncExpr{Name: ast.NewColIdent(functions.LawName), Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: copyOf(plain(of), nil)}}}
	return ast.SelectExprs{&ast.AliasedExpr{Expr: f}}
}

// add writes an expression, operands first.
func (w *computing) add(e ast.Expr) {
	if !asksAnswers(e) {
		w.operand(functions.NumberOperand, e)
		return
	}
	switch x := plain(e).(type) {
	case *ast.BinaryExpr:
		if slices.Contains([]string{"+", "-", "*", "/"}, x.Operator) {
			w.add(x.Left)
			w.add(x.Right)
			w.program = append(w.program, x.Operator)
			return
		}
	case *ast.UnaryExpr:
		if x.Operator == ast.UMinusStr {
			w.add(x.Expr)
			w.program = append(w.program, "neg")
			return
		}
	case *ast.Subquery:
		if sel, ok := x.Select.(*ast.Select); ok && len(sel.SelectExprs) == 1 {
			if a, ok := sel.SelectExprs[0].(*ast.AliasedExpr); ok && released(a.Expr) {
				inner := copyOf(ast.Expr(x), nil).(*ast.Subquery)
				inner.Select.(*ast.Select).SelectExprs = law(a.Expr)
				w.operand(functions.LawOperand, inner)
				return
			}
		}
	case *ast.ConvertExpr:
		if t := strings.ToLower(x.Type.Type); t == "double" || t == "decimal" && x.Type.Scale != nil {
			if w.add(x.Expr); t == "decimal" {
				w.operand(functions.NumberOperand, x.Type.Scale)
				w.program = append(w.program, "round")
			}
			return
		}
	case *ast.FuncExpr:
		w.call(x)
		return
	}
	w.odd = ast.String(e)
}

// call writes a function.
func (w *computing) call(f *ast.FuncExpr) {
	name, args := f.Name.Lowered(), []ast.Expr(nil)
	for _, e := range f.Exprs {
		if a, ok := e.(*ast.AliasedExpr); ok {
			args = append(args, a.Expr)
		}
	}
	switch {
	case f.Over != nil:
		if name == "sum" && len(args) == 1 && released(args[0]) {
			w.operand(functions.SumOperand, &ast.FuncExpr{Name: ast.NewColIdent("json_arrayagg"), Exprs: law(args[0]), Over: f.Over})
			return
		}
	case released(f):
		w.operand(functions.LawOperand, law(f)[0].(*ast.AliasedExpr).Expr)
		return
	case len(args) == 0 || slices.ContainsFunc(args[1:], asksAnswers):
	case name == "nullif" || name == "ifnull" || name == "coalesce":
		w.add(args[0]) // NULL is NULL, and no other value is another
		return
	case functions.Rising[name] != nil && len(args) <= 2:
		w.add(args[0])
		w.operand(functions.NumberOperand, append(args, ast.NewIntVal([]byte("0")))[1])
		w.program = append(w.program, name)
		return
	}
	w.odd = ast.String(f)
}
