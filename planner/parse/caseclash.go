package parse

import (
	"encoding/hex"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions"
)

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
