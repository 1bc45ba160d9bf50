package statement

import (
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/dialect"
	"scrim/engine/gate"
	"scrim/engine/inbox"
	"scrim/engine/statement/trace"
	"scrim/engine/watch"
	"scrim/engine/wire"
)

// submit takes the reports of an INSERT into dp_in without a plan of the SQL engine; done is false
// for what that has to look at. The client's transaction, if there is one, is left alone.
func (h *Handler) submit(ctx *sql.Context, s sqlparser.Statement, bindings map[string]sqlparser.Expr) (r *sqltypes.Result, done bool, err error) {
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
	if err := gate.MaySubmit(ctx, h.grants(), name); err != nil {
		return nil, true, err
	}
	if !h.Inbox.Has(name) {
		return nil, false, nil
	}
	list, ok, err := form.Submissions(bindings)
	if !ok || err != nil {
		return nil, ok, err
	}
	if tx := ctx.GetTransaction(); tx != nil && tx.IsReadOnly() {
		return nil, true, mysql.NewSQLError(1792, "25006", "Cannot execute statement in a READ ONLY transaction.")
	}
	if err := h.Inbox.Accept(ctx, name, list); err != nil {
		return nil, true, err
	}
	ctx.GetLastQueryInfo().RowCount.Store(int64(len(list)))
	return &sqltypes.Result{RowsAffected: uint64(len(list))}, true, nil
}

// submission is a statement for submit, prepared; ok is false for others, which the SQL engine
// binds.
func (h *Handler) submission(ctx *sql.Context, text string, s sqlparser.Statement) (p wire.Prepared, ok bool, err error) {
	name, ok := inbox.Destination(s, ctx.GetCurrentDatabase())
	if !ok {
		return p, false, nil
	}
	if err := inbox.Plain(s); err != nil {
		return p, true, err
	}
	if !h.Inbox.Has(name) {
		return p, false, nil
	}
	if _, ok := inbox.FormOf(s); !ok {
		return p, false, nil
	}
	if err := gate.MaySubmit(ctx, h.grants(), name); err != nil {
		return p, true, err
	}
	return wire.Prepared{Text: text, Params: dialect.Placeholders(ctx, text), Handle: s}, true, nil
}

// anonymous is what is told of reports that were taken: that they were, to who counts statements.
// When which account sent them, and from where, is kept nowhere.
func anonymous(e watch.Event) watch.Event {
	return watch.Event{At: e.At, Duration: e.Duration, Statement: e.Statement, Digest: e.Digest, Outcome: e.Outcome}
}
