package parse

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
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
