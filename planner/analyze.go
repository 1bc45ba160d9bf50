package planner

import (
	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/planner/parse"
)

// Analyze plans a statement that an engine's parser has read, without running it.
func Analyze(ctx *sql.Context, e *sqle.Engine, text string, tree ast.Statement) (sql.Node, error) {
	ctx = parse.WithStatement(ctx, text, tree)
	bound, flags, err := planbuilder.New(ctx, e.Analyzer.Catalog, e.EventScheduler).BindOnly(tree, text, nil)
	if err != nil {
		return nil, err
	}
	return e.Analyzer.Analyze(ctx, bound, nil, flags)
}
