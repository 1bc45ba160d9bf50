package parse

import (
	"context"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Parser wraps a MySQL parser and rewrites what the binder would refuse or answer badly, before it
// binds: DP_F(*) becomes DP_F(1), also under EXPLAIN; EXPLAIN prints the plan as text; aggregates that
// differ only in the case of a text constant are told apart; error bars name their aggregate.
func Parser(base sql.Parser) sql.Parser { return parser{base} }

type parser struct{ sql.Parser }

func (p parser) ParseSimple(query string) (ast.Statement, error) {
	s, err := p.Parser.ParseSimple(query)
	return adapt(s), err
}

func (p parser) Parse(ctx *sql.Context, query string, multi bool) (ast.Statement, string, string, error) {
	s, q, rest, err := p.Parser.Parse(ctx, query, multi)
	return adapt(s), q, rest, err
}

func (p parser) ParseWithOptions(ctx context.Context, query string, delimiter rune, multi bool, o ast.ParserOptions) (ast.Statement, string, string, error) {
	s, q, rest, err := p.Parser.ParseWithOptions(ctx, query, delimiter, multi, o)
	return adapt(s), q, rest, err
}

func (p parser) ParseOneWithOptions(ctx context.Context, query string, o ast.ParserOptions) (ast.Statement, int, error) {
	s, i, err := p.Parser.ParseOneWithOptions(ctx, query, o)
	return adapt(s), i, err
}

// adapt rewrites a statement in place.
func adapt(s ast.Statement) ast.Statement {
	switch n := s.(type) {
	case nil:
		return nil
	case *ast.Explain:
		if _, ok := n.Statement.(ast.SelectStatement); ok && n.ExplainFormat == "" {
			n.Plan = true
		}
		adapt(n.Statement)
		return s
	}
	resolveCaseClash(s)
	nameErrorBars(s)
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

// everywhere visits a statement's nodes: also the common table expressions and the order of a UNION, which Walk passes over. visit returns no error.
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
