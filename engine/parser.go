package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/auth"
	"scrim/engine/browse"
	"scrim/engine/dialect"
	"scrim/engine/gate"
	"scrim/engine/session"
	"scrim/planner/parse"
)

// newParser builds the parser of all statements.
func newParser() sql.Parser {
	return dialect.Parser(sql.NewMysqlParser(), forms()...).Admit(modest).Then(
		func(_ context.Context, s ast.Statement) (ast.Statement, error) { return parse.Adapt(s), nil },
		func(ctx context.Context, s ast.Statement) (ast.Statement, error) {
			return s, gate.CheckRename(currentDatabase(ctx), s)
		},
		own,
	)
}

// forms are the statements that others answer, or nothing does. The first that fits counts.
func forms() []dialect.Form {
	return slices.Concat(
		browse.Forms(),
		dialect.Forms,
	)
}

// A statement's syntax tree takes some 150 bytes a token before anything about it is checked. A text of up to modestText bytes is not
// looked at for that, and one of up to modestTokens tokens is everybody's.
const (
	modestText   = 1 << 20
	modestTokens = 1_000_000
)

// modest refuses statements of more tokens to accounts that are not there to load data. Anybody may have the account of contributors: a few of
// their statements of the largest packets would be more than the server has memory for.
func modest(ctx *sql.Context, query string) error {
	if len(query) <= modestText || ctx == nil || ctx.Session == nil || session.IsDBA(ctx) || session.IsImporter(ctx) {
		return nil
	}
	if !dialect.Longer(query, dialect.ModeOf(sql.LoadSqlMode(ctx)), modestTokens) {
		return nil
	}
	return mysql.NewSQLError(1436, "HY000", "The statement is too long: %d words, numbers and marks are for accounts with the role importer; send several statements", modestTokens)
}

// own is the step that mends what the binder would trip over, and takes the demand for a privilege off
// statements that show an account what is its own: SHOW GRANTS, and SHOW PROCESSLIST and KILL, which
// know an analyst's own connections only. MySQL asks for none there either. The server's own
// procedures ask by themselves who calls them.
func own(ctx context.Context, s ast.Statement) (ast.Statement, error) {
	s = auth.AsCreateUser(s)
	browse.OwnRows(s, currentDatabase(ctx))
	switch n := s.(type) {
	case *ast.ShowGrants:
		n.Auth.AuthType = ast.AuthType_IGNORE
	case *ast.Call:
		if strings.HasPrefix(n.ProcName.Name.Lowered(), "dp_") {
			n.Auth.AuthType = ast.AuthType_IGNORE
		}
	case *ast.DDL:
		// go-mysql-server looks for the view's database here, and finds it nowhere.
		if n.ViewSpec != nil && n.Table.DbQualifier.IsEmpty() {
			n.Table.DbQualifier = n.ViewSpec.ViewName.DbQualifier
		}
	case *ast.LockTables:
		gate.ReadLocks(n)
	case *ast.Kill:
		n.Auth.AuthType = ast.AuthType_IGNORE
	case *ast.Show:
		if strings.EqualFold(n.Type, "processlist") {
			n.Auth.AuthType = ast.AuthType_IGNORE
		}
	}
	return s, nil
}

// currentDatabase is the database of the session in ctx, "" without one.
func currentDatabase(ctx context.Context) string {
	if c, ok := ctx.(*sql.Context); ok && c.Session != nil {
		return c.GetCurrentDatabase()
	}
	return ""
}
