package parse

import (
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions"
)

// separateAggregates keeps the binder from taking an aggregate of a subquery for one of the query
// around it. It looks for an aggregate of the same text there, so that
//
//	SELECT g FROM t GROUP BY g HAVING SUM(x) > (SELECT SUM(x) / 10 FROM t)
//
// has no aggregate in the subquery, and as many rows as t. In a subquery of an expression with an
// aggregate of the same columns as one around, tables that are named as one around get names of
// their own. COUNT of a number is COUNT(*) in subqueries, which the binder looks for in the query
// itself.
func separateAggregates(s ast.Statement) {
	_ = ast.Walk(func(x ast.SQLNode) (bool, error) {
		if q, ok := x.(ast.SelectStatement); ok {
			(&around{}).query(q, false)
			return false, nil
		}
		return true, nil
	}, s)
}

// around is what stands around a query: the names of tables, the aggregates, and how many queries.
type around struct {
	tables, aggregates map[string]bool
	depth              int
}

// query visits the SELECTs of a query. inside says that it stands in an expression.
func (a *around) query(q ast.SelectStatement, inside bool) {
	switch q := q.(type) {
	case *ast.ParenSelect:
		a.query(q.Select, inside)
	case *ast.SetOp:
		a.with(q.With, inside)
		a.query(q.Left, inside)
		a.query(q.Right, inside)
	case *ast.Select:
		a.with(q.With, inside)
		a.one(q, inside)
	}
}

func (a *around) with(w *ast.With, inside bool) {
	if w == nil {
		return
	}
	for _, c := range w.Ctes {
		if q, ok := c.AliasedTableExpr.Expr.(*ast.Subquery); ok {
			a.query(q.Select, inside)
		}
	}
}

func (a *around) one(q *ast.Select, inside bool) {
	own := around{tables: map[string]bool{}, aggregates: aggregatesOf(q), depth: a.depth + 1}
	clash := false
	for key := range own.aggregates {
		clash = clash || a.aggregates[key]
	}
	for _, t := range tablesOf(q) {
		name := nameOf(t)
		own.tables[name] = true
		if !inside || !clash || !a.tables[name] {
			continue
		}
		fresh, n := name, 2
		for ; a.tables[fresh] || own.tables[fresh]; n++ {
			fresh = name + "_" + strconv.Itoa(n)
		}
		t.As = ast.NewTableIdent(fresh)
		rename(q, name, fresh)
		own.tables[fresh] = true
	}
	if inside {
		countRows(q, own.depth)
	}
	maps.Copy(own.tables, a.tables)
	maps.Copy(own.aggregates, a.aggregates)
	for _, from := range q.From {
		_ = ast.Walk(func(x ast.SQLNode) (bool, error) {
			switch x := x.(type) {
			case *ast.AliasedTableExpr:
				if d, ok := x.Expr.(*ast.Subquery); ok {
					a.query(d.Select, inside)
				}
				return false, nil
			case *ast.Subquery: // in a condition of a join
				own.query(x.Select, true)
				return false, nil
			}
			return true, nil
		}, from)
	}
	_ = ast.Walk(func(x ast.SQLNode) (bool, error) {
		if s, ok := x.(*ast.Subquery); ok {
			own.query(s.Select, true)
			return false, nil
		}
		return true, nil
	}, q.SelectExprs, q.Where, q.GroupBy, q.Having, q.OrderBy)
}

// aggregatesOf lists the aggregates of columns in a SELECT itself: the function and the columns in
// their order, in lower case and without their tables.
func aggregatesOf(q *ast.Select) map[string]bool {
	out := map[string]bool{}
	_ = ast.Walk(func(x ast.SQLNode) (bool, error) {
		switch x := x.(type) {
		case *ast.Subquery:
			return false, nil
		case *ast.FuncExpr:
			if _, ok := functions.ByName(x.Name.Lowered()); !ok && !x.IsAggregate() {
				return true, nil
			}
			key := x.Name.Lowered()
			_ = ast.Walk(func(x ast.SQLNode) (bool, error) {
				if c, ok := x.(*ast.ColName); ok {
					key += " " + c.Name.Lowered()
				}
				return true, nil
			}, x.Exprs)
			if strings.Contains(key, " ") {
				out[key] = true
			}
		}
		return true, nil
	}, q.SelectExprs, q.Having, q.OrderBy)
	return out
}

// tablesOf lists the tables that a SELECT reads itself.
func tablesOf(q *ast.Select) []*ast.AliasedTableExpr {
	var list []*ast.AliasedTableExpr
	for _, from := range q.From {
		_ = ast.Walk(func(x ast.SQLNode) (bool, error) {
			switch x := x.(type) {
			case *ast.AliasedTableExpr:
				list = append(list, x)
				return false, nil
			case *ast.Subquery:
				return false, nil
			}
			return true, nil
		}, from)
	}
	return list
}

// nameOf is the name by which columns of a table are qualified, in lower case.
func nameOf(t *ast.AliasedTableExpr) string {
	if !t.As.IsEmpty() {
		return strings.ToLower(t.As.String())
	}
	if name, ok := t.Expr.(ast.TableName); ok {
		return strings.ToLower(name.Name.String())
	}
	return ""
}

// rename gives the columns of a table of q, and of no table of the same name in a SELECT below, the
// new name.
func rename(q *ast.Select, from, to string) {
	qualifier := func(t *ast.TableName) {
		if strings.EqualFold(t.Name.String(), from) {
			*t = ast.TableName{Name: ast.NewTableIdent(to)}
		}
	}
	_ = ast.Walk(func(x ast.SQLNode) (bool, error) {
		switch x := x.(type) {
		case *ast.Select:
			if x != q {
				if slices.ContainsFunc(tablesOf(x), func(t *ast.AliasedTableExpr) bool { return nameOf(t) == from }) {
					return false, nil
				}
			}
		case *ast.ColName:
			qualifier(&x.Qualifier)
		case *ast.StarExpr:
			qualifier(&x.TableName)
		}
		return true, nil
	}, q)
}

// countRows makes COUNT(*) of each COUNT of a number in a SELECT itself, and COUNT of the depth of
// each that an error bar or a DP function is bound by.
func countRows(q *ast.Select, depth int) {
	own := ast.SelectExprs{&ast.AliasedExpr{Expr: ast.NewIntVal(strconv.AppendInt(nil, int64(depth), 10))}}
	_ = ast.Walk(func(x ast.SQLNode) (bool, error) {
		switch x := x.(type) {
		case *ast.Subquery:
			return false, nil
		case *ast.FuncExpr:
			if _, bar := functions.ErrorBarByName(x.Name.Lowered()); bar && len(x.Exprs) > 0 {
				if a, ok := x.Exprs[0].(*ast.AliasedExpr); ok {
					if c, ok := a.Expr.(*ast.FuncExpr); ok && ast.String(c.Exprs) == "*" {
						c.Exprs = own
					}
				}
				return false, nil
			}
			if strings.HasPrefix(x.Name.Lowered(), "dp_") && ast.String(x.Exprs) == "*" {
				x.Exprs = own
			}
			if x.Name.Lowered() != "count" || x.Distinct || len(x.Exprs) != 1 {
				return true, nil
			}
			if a, ok := x.Exprs[0].(*ast.AliasedExpr); ok {
				if v, ok := a.Expr.(*ast.SQLVal); ok && v.Type == ast.IntVal {
					x.Exprs = ast.SelectExprs{&ast.StarExpr{}}
				}
			}
		}
		return true, nil
	}, q.SelectExprs, q.Having, q.OrderBy)
}

// resolveCaseClash keeps the binder from taking two plain aggregates for one. It merges aggregates
// whose texts are equal but for the case of letters, which would make
//
//	SELECT SUM(IF(grp = 'A', x, 0)), SUM(IF(grp = 'a', x, 0)) FROM t
//
// one column, twice. Where a statement has such a pair, its text constants s that are arguments,
// results of CASE or sides of a comparison become COALESCE(s, 'hexadecimal of s'), which has the
// same value and another text.
func resolveCaseClash(s ast.Statement) {
	texts := map[string]string{} // lower case -> as written
	clash := false
	var aggregates []*ast.FuncExpr
	everywhere(func(n ast.SQLNode) (bool, error) {
		f, ok := n.(*ast.FuncExpr)
		if !ok {
			return true, nil
		}
		if known, ok := functions.ByName(f.Name.Lowered()); !ok || known.Role == functions.Private {
			return true, nil
		}
		text := ast.String(f)
		key := strings.ToLower(text)
		if other, ok := texts[key]; ok && other != text {
			clash = true
		}
		texts[key] = text
		aggregates = append(aggregates, f)
		return true, nil
	}, s)
	if !clash {
		return
	}
	m := marker{}
	for _, f := range aggregates {
		m.mark(f)
	}
}

// marker remembers the calls that it has made, which are left alone.
type marker map[*ast.FuncExpr]bool

// mark replaces the text constants below e.
func (m marker) mark(e ast.Expr) {
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		switch n := n.(type) {
		case *ast.FuncExpr:
			if m[n] {
				return false, nil
			}
			for _, x := range n.Exprs {
				if a, ok := x.(*ast.AliasedExpr); ok {
					a.Expr = m.constant(a.Expr)
				}
			}
		case *ast.ComparisonExpr:
			n.Left, n.Right = m.constant(n.Left), m.constant(n.Right)
		case *ast.When:
			n.Val = m.constant(n.Val)
		case ast.ValTuple:
			for i := range n {
				n[i] = m.constant(n[i])
			}
		}
		return true, nil
	}, e)
}

// constant returns a text constant as one that differs in more than case; other expressions as they
// are.
func (m marker) constant(e ast.Expr) ast.Expr {
	v, ok := e.(*ast.SQLVal)
	if !ok || v.Type != ast.StrVal {
		return e
	}
	f := &ast.FuncExpr{Name: ast.NewColIdent("coalesce"), Exprs: ast.SelectExprs{
		&ast.AliasedExpr{Expr: v},
		&ast.AliasedExpr{Expr: ast.NewStrVal([]byte(hex.EncodeToString(v.Val)))},
	}}
	m[f] = true
	return f
}
