package parse

import (
	"context"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

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
