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
	return ownParser{parse.Parser(grammar())}
}

// grammar reads a text, and changes nothing of what it says.
func grammar() *dialect.Grammar { return dialect.Parser(sql.NewMysqlParser(), forms()...) }

// forms are the statements that others answer, or nothing does. The first that fits counts.
func forms() []dialect.Form {
	return slices.Concat(
		browse.Forms(),
		dialect.Forms,
	)
}

// ownParser mends what the binder would trip over, and takes the demand for a privilege off statements that show an account what is its own:
// SHOW GRANTS, and SHOW PROCESSLIST and KILL, which know an analyst's own connections only. MySQL asks
// for none there either. The server's own procedures ask by themselves who calls them.
type ownParser struct{ sql.Parser }

func (p ownParser) ParseSimple(query string) (ast.Statement, error) {
	s, err := p.Parser.ParseSimple(query)
	return own(context.Background(), s), err
}

func (p ownParser) Parse(ctx *sql.Context, query string, multi bool) (ast.Statement, string, string, error) {
	if err := modest(ctx, query); err != nil {
		return nil, "", "", err
	}
	s, first, rest, err := p.Parser.Parse(ctx, query, multi)
	if err == nil {
		err = gate.CheckRename(currentDatabase(ctx), s)
	}
	return own(ctx, s), first, rest, err
}

func (p ownParser) ParseWithOptions(ctx context.Context, query string, delimiter rune, multi bool, o ast.ParserOptions) (ast.Statement, string, string, error) {
	s, first, rest, err := p.Parser.ParseWithOptions(ctx, query, delimiter, multi, o)
	if err == nil {
		err = gate.CheckRename(currentDatabase(ctx), s)
	}
	return own(ctx, s), first, rest, err
}

func (p ownParser) ParseOneWithOptions(ctx context.Context, query string, o ast.ParserOptions) (ast.Statement, int, error) {
	if asked, ok := ctx.(*sql.Context); ok {
		if err := modest(asked, query); err != nil {
			return nil, 0, err
		}
	}
	s, end, err := p.Parser.ParseOneWithOptions(ctx, query, o)
	if err == nil {
		err = gate.CheckRename(currentDatabase(ctx), s)
	}
	return own(ctx, s), end, err
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

func own(ctx context.Context, s ast.Statement) ast.Statement {
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
	return s
}

// currentDatabase is the database of the session in ctx, "" without one.
func currentDatabase(ctx context.Context) string {
	if c, ok := ctx.(*sql.Context); ok && c.Session != nil {
		return c.GetCurrentDatabase()
	}
	return ""
}
