package statement

import (
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/planner/settings"
)

// query plans a statement and begins its execution. A statement whose cost only a pilot can tell is
// run as its own pilot first: that is charged and recorded like any other statement, and its rows
// are dropped, but what they tell about their error is kept for the plan of the statement itself.
func (h *Handler) query(ctx *sql.Context, text string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr) (sql.Schema, sql.RowIter, error) {
	schema, rows, err := h.planned(ctx, text, parsed, bindings)
	var needed *settings.PilotNeeded
	if !errors.As(err, &needed) {
		return schema, rows, err
	}
	if err := h.drop(settings.WithPilot(ctx, needed), text, parsed, bindings); err != nil {
		return nil, nil, err
	}
	return h.planned(settings.AfterPilot(ctx), text, parsed, bindings)
}

// planned plans a statement once more where the session has no current database and the binder
// wants one.
func (h *Handler) planned(ctx *sql.Context, text string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr) (sql.Schema, sql.RowIter, error) {
	schema, rows, _, err := h.Engine.QueryWithBindings(ctx, text, parsed, bindings, &sql.QueryFlags{})
	if sql.ErrNoDatabaseSelected.Is(err) {
		return h.withoutDatabase(ctx, text, bindings, err)
	}
	return schema, rows, err
}

// drop runs a statement for what it leaves behind.
func (h *Handler) drop(ctx *sql.Context, text string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr) error {
	_, rows, err := h.planned(ctx, text, parsed, bindings)
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
