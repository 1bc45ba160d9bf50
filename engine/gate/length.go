package gate

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/engine/dialect"
	"scrim/engine/session"
)

// A statement's syntax tree takes some 150 bytes a token before anything about it is checked. In a
// text of up to freeBytes bytes they are not counted, and MaxTokens tokens are everybody's.
const (
	freeBytes = 1 << 20
	MaxTokens = 1_000_000
)

// CheckLength refuses statements of more than MaxTokens tokens to accounts that are not there to
// load data. Anybody may have the account of contributors: a few of their statements of the largest
// packets would be more than the server has memory for.
func CheckLength(ctx *sql.Context, query string) error {
	if len(query) <= freeBytes || ctx == nil || ctx.Session == nil || session.IsDBA(ctx) || session.IsImporter(ctx) {
		return nil
	}
	if !dialect.Longer(query, dialect.ModeOf(sql.LoadSqlMode(ctx)), MaxTokens) {
		return nil
	}
	return mysql.NewSQLError(1436, "HY000", "The statement is too long: %d words, numbers and marks are for accounts with the role importer; send several statements", MaxTokens)
}
