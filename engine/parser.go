package engine

import (
	"context"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/auth"
	"scrim/engine/browse"
	"scrim/engine/dialect"
	"scrim/engine/gate"
	"scrim/planner/parse"
)

// newParser builds the parser of all statements.
func newParser() sql.Parser {
	return dialect.Parser(sql.NewMysqlParser(), forms()...).Admit(gate.CheckLength).Then(adapt)
}

// adapt makes of a statement's tree what the binder takes, and refuses what it would take wrongly.
func adapt(ctx context.Context, s ast.Statement) (ast.Statement, error) {
	s = parse.Adapt(s)
	current := currentDatabase(ctx)
	if err := gate.CheckRename(current, s); err != nil {
		return s, err
	}
	s = auth.AsCreateUser(s)
	browse.OwnRows(s, current)
	gate.Lift(s)
	qualifyView(s)
	return s, nil
}

// forms are the statements that others answer, or nothing does. The first that fits counts.
func forms() []dialect.Form {
	return slices.Concat(
		browse.Forms(),
		dialect.Forms,
	)
}

// qualifyView is the step that names a view's database where go-mysql-server looks for it.
func qualifyView(s ast.Statement) {
	if n, ok := s.(*ast.DDL); ok && n.ViewSpec != nil && n.Table.DbQualifier.IsEmpty() {
		n.Table.DbQualifier = n.ViewSpec.ViewName.DbQualifier
	}
}

// currentDatabase is the database of the session in ctx, "" without one.
func currentDatabase(ctx context.Context) string {
	if c, ok := ctx.(*sql.Context); ok && c.Session != nil {
		return c.GetCurrentDatabase()
	}
	return ""
}
