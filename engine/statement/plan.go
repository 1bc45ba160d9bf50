package statement

import (
	"errors"
	"io"

	sqle "github.com/dolthub/go-mysql-server"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/planner/settings"
)

// queries are planned and begun by the SQL engine.
type queries struct{ engine *sqle.Engine }

// begin plans a statement and begins its execution. A statement whose cost only a pilot can tell is
// run as its own pilot first: that is charged and recorded like any other statement, and its rows
// are dropped, but what they tell about their error is kept for the plan of the statement itself.
func (q queries) begin(ctx *sql.Context, text string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr) (sql.Schema, sql.RowIter, error) {
	schema, rows, err := q.planned(ctx, text, parsed, bindings)
	var needed *settings.PilotNeeded
	if !errors.As(err, &needed) {
		return schema, rows, err
	}
	if err := q.drop(settings.WithPilot(ctx, needed), text, parsed, bindings); err != nil {
		return nil, nil, err
	}
	return q.planned(settings.AfterPilot(ctx), text, parsed, bindings)
}

// planned plans a statement once more where the session has no current database and the binder
// wants one.
func (q queries) planned(ctx *sql.Context, text string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr) (sql.Schema, sql.RowIter, error) {
	schema, rows, _, err := q.engine.QueryWithBindings(ctx, text, parsed, bindings, &sql.QueryFlags{})
	if sql.ErrNoDatabaseSelected.Is(err) {
		return q.withoutDatabase(ctx, text, bindings, err)
	}
	return schema, rows, err
}

// drop runs a statement for what it leaves behind.
func (q queries) drop(ctx *sql.Context, text string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr) error {
	_, rows, err := q.planned(ctx, text, parsed, bindings)
	if err != nil {
		return err
	}
	for {
		if _, err = rows.Next(ctx); err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close(ctx))
}

// withoutDatabase plans a statement again for a session without a current database: the binder
// wants one to expand a view, even where every name is qualified. Nothing was executed before
// cause, and an unqualified name still ends in it.
func (q queries) withoutDatabase(ctx *sql.Context, query string, bindings map[string]sqlparser.Expr, cause error) (sql.Schema, sql.RowIter, error) {
	ctx.SetCurrentDatabase(sql.InformationSchemaDatabaseName)
	defer ctx.SetCurrentDatabase("")
	schema, rows, _, err := q.engine.QueryWithBindings(ctx, query, nil, bindings, &sql.QueryFlags{})
	if sql.ErrTableNotFound.Is(err) {
		err = cause
	}
	return schema, rows, err
}
