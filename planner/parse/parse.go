// Package parse rewrites what the grammar has read, syntax tree to syntax tree, before anything is
// bound: what the binder would refuse or answer badly (Adapt). The tree of the statement that runs
// is in its context (WithStatement), so that its text is parsed once.
package parse

import (
	"context"
	"math/big"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions"
)

// Adapt rewrites in a statement's tree what the binder would refuse or answer badly, before it
// binds: DP_F(*) becomes DP_F(1), also under EXPLAIN; EXPLAIN prints the plan as text; aggregates
// that differ only in the case of a text constant are told apart, and those of a subquery from
// those around it; error bars name their aggregate; REGR_COUNT and its like and DP_BUCKET are
// written out.
func Adapt(s ast.Statement) ast.Statement {
	switch n := s.(type) {
	case nil:
		return nil
	case *ast.Explain:
		if _, ok := n.Statement.(ast.SelectStatement); ok && n.ExplainFormat == "" {
			n.Plan = true
		}
		Adapt(n.Statement)
		return s
	}
	writeRegressions(s)
	writeBuckets(s)
	separateAggregates(s)
	resolveCaseClash(s)
	nameErrorBars(s)
	markDistinct(s)
	markFractions(s)
	markParts(s)
	everywhere(func(n ast.SQLNode) (bool, error) {
		f, ok := n.(*ast.FuncExpr)
		if ok && strings.HasPrefix(f.Name.Lowered(), "dp_") {
			for i, e := range f.Exprs {
				if _, ok := e.(*ast.StarExpr); ok {
					f.Exprs[i] = &ast.AliasedExpr{Expr: ast.NewIntVal([]byte("1"))}
				}
			}
		}
		return true, nil
	}, s)
	return s
}

// markFractions writes the n of TIME(n), which go-mysql-server refuses, as the scale of the type.
func markFractions(s ast.Statement) {
	specs := []*ast.DDL{}
	switch d := s.(type) {
	case *ast.DDL:
		specs = append(specs, d)
	case *ast.AlterTable:
		specs = d.Statements
	}
	for _, d := range specs {
		if d.TableSpec == nil {
			continue
		}
		for _, c := range d.TableSpec.Columns {
			if n := c.Type.Length; strings.EqualFold(c.Type.Type, "time") && n != nil && len(n.Val) == 1 && n.Val[0] <= '6' {
				c.Type.Scale, c.Type.Length = n, nil
			}
		}
	}
}

// everywhere visits a statement's nodes: also the common table expressions and the order of a
// UNION, which Walk passes over. visit returns no error.
func everywhere(visit ast.Visit, s ast.SQLNode) {
	_ = ast.Walk(func(n ast.SQLNode) (bool, error) {
		if u, ok := n.(*ast.SetOp); ok {
			if u.With != nil {
				everywhere(visit, u.With)
			}
			everywhere(visit, u.OrderBy)
		}
		return visit(n)
	}, s)
}

// statement is a text with its tree.
type statement struct {
	text string
	tree ast.Statement
}

type statementKey struct{}

// WithStatement returns a context in which a statement runs. Who needs more of it than its plan
// tells finds its tree there (Statement), and does not parse its text again.
func WithStatement(ctx *sql.Context, text string, tree ast.Statement) *sql.Context {
	return ctx.WithQuery(text).WithContext(context.WithValue(ctx.Context, statementKey{}, statement{text, tree}))
}

// Statement returns the tree of the statement that runs in a context; false where its text was not
// handed on with one.
func Statement(ctx *sql.Context) (ast.Statement, bool) {
	s, ok := ctx.Value(statementKey{}).(statement)
	if !ok || s.text != ctx.Query() {
		return nil, false
	}
	return s.tree, true
}

// FailsByZero reports whether a division by zero is an error in the statement that runs: it writes
// rows, without IGNORE, in a strict sql_mode with ERROR_FOR_DIVISION_BY_ZERO.
func FailsByZero(ctx *sql.Context) bool {
	if mode := sql.LoadSqlMode(ctx); !mode.Strict() || !mode.ModeEnabled(sql.ErrorForDivisionByZero) {
		return false
	}
	s, _ := Statement(ctx)
	switch s := s.(type) {
	case *ast.Insert:
		return s.Ignore == ""
	case *ast.Update:
		return s.Ignore == ""
	case *ast.Delete:
		return true
	case *ast.DDL:
		return s.OptSelect != nil
	}
	return false
}

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

// part stands for an expression in a key of CREATE TABLE, which go-mysql-server would bind when it
// knows no column yet.
type part struct{ ast.Expr }

// WithResolvedChildren implements ast.Injectable.
func (part) WithResolvedChildren(context.Context, []any) (any, error) {
	return expression.NewLiteral(nil, types.Null), nil
}

// String is the expression's text.
func (p part) String() string { return ast.String(p.Expr) }

// markParts puts parts in the place of expressions in the keys of CREATE TABLE.
func markParts(s ast.Statement) {
	d, ok := s.(*ast.DDL)
	if !ok || d.Action != ast.CreateStr || d.TableSpec == nil {
		return
	}
	for _, i := range d.TableSpec.Indexes {
		for _, f := range i.Fields {
			if f.Expression != nil {
				f.Expression = ast.InjectedExpr{Auth: ast.AuthInformation{AuthType: ast.AuthType_IGNORE}, Expression: part{f.Expression}}
			}
		}
	}
}

// Part returns the expression of a key's part, as it was written.
func Part(e ast.Expr) ast.Expr {
	if i, ok := e.(ast.InjectedExpr); ok {
		if p, ok := i.Expression.(part); ok {
			return p.Expr
		}
	}
	return e
}
