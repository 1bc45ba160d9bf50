package statement

import (
	"context"
	"errors"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/gate"
	"scrim/engine/mysqlerr"
	"scrim/engine/session"
	"scrim/engine/statement/cutoff"
	"scrim/engine/statement/processlist"
	"scrim/engine/statement/result"
	"scrim/engine/statement/trace"
	"scrim/engine/tables"
	"scrim/engine/wire"
	"scrim/planner/parse"
)

// command is one statement to run.
type command struct {
	text     string
	multi    bool                // text may go on after the statement
	prepared sqlparser.Statement // text, when it was prepared, with bindings for its question marks
	bindings map[string]sqlparser.Expr
}

// run executes one statement, sends its result, and returns what follows the statement in text.
func (h *Handler) run(ctx context.Context, c *mysql.Conn, cmd command, send wire.Send) (rest string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx, t, err := h.begin(ctx, c, cmd.text)
	if err != nil {
		return "", err
	}
	var sqlCtx *sql.Context
	err = mysqlerr.Guard(func() error {
		var err error
		if sqlCtx, err = h.Sessions.NewContextWithQuery(ctx, c, cmd.text); err != nil {
			return err
		}
		list := sqlCtx.ProcessList
		sqlCtx.ProcessList = processlist.Own{ProcessList: list, User: sqlCtx.Session.Client(), All: session.IsDBA(sqlCtx)}
		w := cutoff.WatchClient(c, cancel)
		defer w.Stop()
		if sqlCtx, err = list.BeginQuery(sqlCtx, t.Text()); err != nil {
			return err
		}
		defer list.EndQuery(sqlCtx)
		sql.StatusVariables.IncrementGlobal("Queries", 1)
		if err := sql.SessionCommandBegin(sqlCtx.Session); err != nil {
			return err
		}
		defer sql.SessionCommandEnd(sqlCtx.Session)
		rest, err = h.execute(sqlCtx, c, cmd, w, send)
		return err
	})
	if err = h.end(sqlCtx, c, t, err); err != nil {
		return "", err
	}
	return rest, nil
}

// execute parses, plans and runs a statement under its deadline.
func (h *Handler) execute(ctx *sql.Context, c *mysql.Conn, cmd command, w *cutoff.Watch, send wire.Send) (rest string, err error) {
	parsed, text, rest, err := h.read(ctx, cmd)
	if err != nil {
		return "", err
	}
	switch s := parsed.(type) {
	case *sqlparser.Prepare, *sqlparser.Deallocate:
		if err := h.named(ctx, s); err != nil {
			return "", err
		}
		return rest, send(&sqltypes.Result{}, rest != "")
	case *sqlparser.Execute:
		if cmd, err = h.executed(ctx, s); err != nil {
			return "", err
		}
		trace.Of(ctx).SetText(cmd.text)
		if parsed, text, _, err = h.read(ctx, cmd); err != nil {
			return "", err
		}
	case *sqlparser.Load:
		return rest, h.load(ctx, c, s, w, func(r *sqltypes.Result) error { return send(r, rest != "") })
	}
	if r, done, err := h.reports().Take(ctx, parsed, cmd.bindings); done || err != nil {
		if err != nil {
			return "", interrupted(ctx, err)
		}
		return rest, send(r, rest != "")
	}
	ctx = parse.WithStatement(ctx, text, parsed)
	limited, end, err := cutoff.Limit(ctx, parsed, time.Duration(h.Longest.Load()))
	if err != nil {
		return "", err
	}
	defer end()
	defer cutoff.CloseLate(limited.Context, c)()
	if len(cmd.bindings) > 0 {
		// The engine looks for a statement with bindings here, by its text.
		limited.Session.PrepareQuery(text, parsed)
		defer limited.Session.UnprepareQuery(text)
	}
	return rest, interrupted(limited, h.answer(limited, c, text, parsed, cmd.bindings, rest != "", send))
}

// read parses a statement and checks it.
func (h *Handler) read(ctx *sql.Context, cmd command) (s sqlparser.Statement, text, rest string, err error) {
	defer trace.Of(ctx).Step("parse")()
	if s, text, rest, err = h.parse(ctx, cmd); err == nil {
		err = h.check(ctx, text, s)
	}
	return s, text, rest, err
}

// check refuses what the account may not send, and makes the statement keep or clear the
// messages of the one before.
func (h *Handler) check(ctx *sql.Context, text string, s sqlparser.Statement) error {
	if err := gate.Confine(ctx, h.grants(), text, s); err != nil {
		return err
	}
	diagnose(ctx, s, text)
	return nil
}

// parse parses the command's statement, or the first of its statements, and returns its own text
// and what follows it.
func (h *Handler) parse(ctx *sql.Context, cmd command) (s sqlparser.Statement, text, rest string, err error) {
	if cmd.prepared != nil {
		return cmd.prepared, cmd.text, "", nil
	}
	s, text, rest, err = h.Engine.Parser.Parse(ctx, cmd.text, cmd.multi)
	if err != nil {
		return nil, "", "", unparsed(err)
	}
	if text == "" {
		text = cmd.text
	}
	if rest != "" {
		trace.Of(ctx).SetText(text)
		if blank(rest) {
			rest = ""
		}
	}
	return s, text, rest, nil
}

// unparsed is the error of a text that the parser refuses.
func unparsed(err error) error {
	if errors.Is(err, sqlparser.ErrEmpty) {
		return mysql.NewSQLError(1065, "42000", "Query was empty")
	}
	if _, ok := mysqlerr.AsSQLError(err); ok {
		return err
	}
	return mysqlerr.OfParser(err)
}

// interrupted adds the context's end to an error that it caused, whatever the error says.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

// answer runs the statement and sends the result.
func (h *Handler) answer(ctx *sql.Context, c *mysql.Conn, query string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr, more bool, send wire.Send) error {
	planned := trace.Of(ctx).Step("plan")
	schema, rows, err := queries{h.Engine}.begin(ctx, query, parsed, bindings)
	planned()
	if err != nil {
		return err
	}
	defer trace.Of(ctx).Step("rows")()
	last, err := result.Spool(tables.AsText(ctx, rows), schema, rows, func(r *sqltypes.Result) error { return send(r, more) })
	if err != nil {
		return err
	}
	if err := statusFlags(ctx, c); err != nil {
		return err
	}
	if last == nil {
		return nil
	}
	return send(last, more)
}

// statusFlags tells the client about autocommit and its transaction.
func statusFlags(ctx *sql.Context, c *mysql.Conn) error {
	auto, err := plan.IsSessionAutocommit(ctx)
	if err != nil {
		return err
	}
	c.StatusFlags &^= uint16(mysql.ServerStatusAutocommit) | uint16(mysql.ServerInTransaction)
	if auto {
		c.StatusFlags |= uint16(mysql.ServerStatusAutocommit)
	}
	if ctx.GetTransaction() != nil {
		c.StatusFlags |= uint16(mysql.ServerInTransaction)
	}
	return nil
}
