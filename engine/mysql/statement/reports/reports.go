// Package reports takes the reports that contributors INSERT into dp_in.
package reports

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/mysql/dialect"
	"scrim/engine/mysql/gate"
	"scrim/engine/mysql/inbox"
	"scrim/engine/mysql/statement/trace"
	"scrim/engine/mysql/wire"
)

// Taker takes reports of whoever the grants allow.
type Taker struct {
	Inbox  *inbox.Database
	Grants *mysql_db.MySQLDb
}

// Take takes the reports of an INSERT into dp_in without a plan of the SQL engine; done is false
// for what that has to look at. The client's transaction, if there is one, is left alone.
func (t Taker) Take(ctx *sql.Context, s sqlparser.Statement, bindings map[string]sqlparser.Expr) (r *sqltypes.Result, done bool, err error) {
	name, ok := inbox.Destination(s, ctx.GetCurrentDatabase())
	if !ok {
		return nil, false, nil
	}
	trace.Of(ctx).Reports()
	if err := inbox.Plain(s); err != nil {
		return nil, true, err
	}
	form, ok := inbox.FormOf(s)
	if !ok {
		return nil, false, nil
	}
	if err := gate.MaySubmit(ctx, t.Grants, name); err != nil {
		return nil, true, err
	}
	if !t.Inbox.Has(name) {
		return nil, false, nil
	}
	list, ok, err := form.Submissions(bindings)
	if !ok || err != nil {
		return nil, ok, err
	}
	if tx := ctx.GetTransaction(); tx != nil && tx.IsReadOnly() {
		return nil, true, mysql.NewSQLError(1792, "25006", "Cannot execute statement in a READ ONLY transaction.")
	}
	if err := t.Inbox.Accept(ctx, name, list); err != nil {
		return nil, true, err
	}
	ctx.GetLastQueryInfo().RowCount.Store(int64(len(list)))
	return &sqltypes.Result{RowsAffected: uint64(len(list))}, true, nil
}

// Prepare prepares a statement for Take; ok is false for others, which the SQL engine binds.
func (t Taker) Prepare(ctx *sql.Context, text string, s sqlparser.Statement) (p wire.Prepared, ok bool, err error) {
	name, ok := inbox.Destination(s, ctx.GetCurrentDatabase())
	if !ok {
		return p, false, nil
	}
	if err := inbox.Plain(s); err != nil {
		return p, true, err
	}
	if !t.Inbox.Has(name) {
		return p, false, nil
	}
	if _, ok := inbox.FormOf(s); !ok {
		return p, false, nil
	}
	if err := gate.MaySubmit(ctx, t.Grants, name); err != nil {
		return p, true, err
	}
	return wire.Prepared{Text: text, Params: dialect.Placeholders(ctx, text), Handle: s}, true, nil
}
