package parse

import (
	"math/big"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// mostBuckets bounds the buckets of one DP_BUCKET: each is a branch of a CASE.
const mostBuckets = 200

// writeBuckets writes DP_BUCKET(x, low, high, n) out as what it means, whose values follow from the
// text alone and so are public keys of a GROUP BY:
//
//	COALESCE(CASE WHEN x < low THEN NULL WHEN x < low + w THEN low … WHEN x <= high THEN high - w END)
//
// w = (high − low)/n. What is no such call is left to the function of that name, which refuses it.
func writeBuckets(s ast.Statement) {
	everywhere(func(n ast.SQLNode) (bool, error) {
		f, ok := n.(*ast.FuncExpr)
		if !ok || f.Name.Lowered() != "dp_bucket" || f.Distinct || len(f.Exprs) != 4 {
			return true, nil
		}
		var args []ast.Expr
		for _, e := range f.Exprs {
			if a, ok := e.(*ast.AliasedExpr); ok {
				args = append(args, a.Expr)
			}
		}
		if edges := edgesOf(args); edges != nil {
			f.Name = ast.NewColIdent("coalesce")
			f.Exprs = ast.SelectExprs{&ast.AliasedExpr{Expr: buckets(args[0], edges)}}
		}
		return true, nil
	}, s)
}

// buckets is the CASE of the buckets between edges.
func buckets(x ast.Expr, edges []ast.Expr) ast.Expr {
	when := func(operator string, edge, value ast.Expr) *ast.When {
		return &ast.When{Cond: &ast.ComparisonExpr{Operator: operator, Left: x, Right: edge}, Val: value}
	}
	c, last := &ast.CaseExpr{}, len(edges)-1
	c.Whens = append(c.Whens, when(ast.LessThanStr, edges[0], &ast.NullVal{}))
	for i := range last - 1 {
		c.Whens = append(c.Whens, when(ast.LessThanStr, edges[i+1], edges[i]))
	}
	c.Whens = append(c.Whens, when(ast.LessEqualStr, edges[last], edges[last-1]))
	return c
}

// edgesOf returns the ends of the buckets of a call as constants; nil where its arguments say none.
func edgesOf(args []ast.Expr) []ast.Expr {
	if len(args) != 4 {
		return nil
	}
	low, high, n := constant(args[1]), constant(args[2]), constant(args[3])
	if low == nil || high == nil || n == nil || low.Cmp(high) >= 0 || !n.IsInt() || n.Sign() <= 0 || n.Cmp(big.NewRat(mostBuckets, 1)) > 0 {
		return nil
	}
	width := new(big.Rat).Sub(high, low)
	width.Quo(width, n)
	var out []ast.Expr
	for i := range n.Num().Int64() + 1 {
		edge := new(big.Rat).Mul(width, big.NewRat(i, 1))
		out = append(out, number(edge.Add(edge, low)))
	}
	return out
}

// mostDigits bounds the digits of an edge after the point.
const mostDigits = 10

// number writes an edge as a constant, rounded where it has more digits than are shown.
func number(x *big.Rat) ast.Expr {
	text := x.FloatString(mostDigits)
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	negative := strings.HasPrefix(text, "-")
	text = strings.TrimPrefix(text, "-")
	v := ast.NewFloatVal([]byte(text))
	if !strings.Contains(text, ".") {
		v = ast.NewIntVal([]byte(text))
	}
	if negative && text != "0" {
		return &ast.UnaryExpr{Operator: ast.UMinusStr, Expr: v}
	}
	return v
}

// constant reads a number of at most 30 characters; nil where an expression is none.
func constant(e ast.Expr) *big.Rat {
	if u, ok := e.(*ast.UnaryExpr); ok && u.Operator == ast.UMinusStr {
		if x := constant(u.Expr); x != nil {
			return x.Neg(x)
		}
		return nil
	}
	v, ok := e.(*ast.SQLVal)
	if !ok || v.Type != ast.IntVal && v.Type != ast.FloatVal || len(v.Val) > 30 || strings.ContainsAny(string(v.Val), "eE") {
		return nil
	}
	x, ok := new(big.Rat).SetString(string(v.Val))
	if !ok {
		return nil
	}
	return x
}
