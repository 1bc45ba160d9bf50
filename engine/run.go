package engine

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/session"
	"scrim/internal/refuse"
)

// batchRows is how many rows go to the client at a time. Up to so many rows are held back until the
// statement has ended without an error, so that a small answer is either whole or an error.
const batchRows = 128

// watchAfter is how long a statement runs before its client is watched for having gone away.
const watchAfter = 200 * time.Millisecond

// command is one statement to run.
type command struct {
	text     string
	multi    bool // text may go on after the statement
	bindings map[string]sqlparser.Expr
}

// run executes one statement, sends its result, and returns what follows the statement in text.
func (h *handler) run(ctx context.Context, c *mysql.Conn, cmd command, send mysql.ResultSpoolFn) (rest string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx, noted, err := h.begin(ctx, c, cmd.text)
	if err != nil {
		return "", err
	}
	var sqlCtx *sql.Context
	err = guard(func() error {
		var err error
		if sqlCtx, err = h.sessions.NewContextWithQuery(ctx, c, cmd.text); err != nil {
			return err
		}
		list := sqlCtx.ProcessList
		sqlCtx.ProcessList = ownProcesses{list, sqlCtx.Session.Client(), session.IsDBA(sqlCtx)}
		defer watchClient(c, cancel)()
		if sqlCtx, err = list.BeginQuery(sqlCtx, noted.redacted); err != nil {
			return err
		}
		defer list.EndQuery(sqlCtx)
		sql.StatusVariables.IncrementGlobal("Queries", 1)
		if err := sql.SessionCommandBegin(sqlCtx.Session); err != nil {
			return err
		}
		defer sql.SessionCommandEnd(sqlCtx.Session)
		rest, err = h.execute(sqlCtx, c, cmd, send)
		return err
	})
	if err = h.end(sqlCtx, c, noted, err); err != nil {
		return "", err
	}
	return rest, nil
}

// execute parses, plans and runs a statement under its deadline.
func (h *handler) execute(ctx *sql.Context, c *mysql.Conn, cmd command, send mysql.ResultSpoolFn) (rest string, err error) {
	query := cmd.text
	statement, prepared := ctx.Session.GetPreparedQuery(query)
	var parsed sqlparser.Statement
	if !prepared {
		var first string
		parsed, first, rest, err = h.engine.Parser.Parse(ctx, query, cmd.multi)
		switch {
		case errors.Is(err, sqlparser.ErrEmpty):
			return "", mysql.NewSQLError(1065, "42000", "Query was empty")
		case refused(err):
			return "", err
		case err != nil:
			return "", sql.ErrSyntaxError.New(err.Error())
		}
		if first != "" {
			query = first
		}
		if rest != "" {
			at(ctx).narrow(first)
		}
		statement = parsed
	}
	limit, err := timeLimit(ctx, statement)
	if err != nil {
		return "", err
	}
	if limit > 0 {
		deadline, cancel := context.WithTimeout(ctx.Context, limit)
		defer cancel()
		ctx = ctx.WithContext(deadline)
	}
	return rest, interrupted(ctx, h.answer(ctx, c, query, parsed, cmd.bindings, rest != "", send))
}

// refused reports whether an error says by itself what a client may see.
func refused(err error) bool {
	_, ok := refuse.As(err)
	return ok
}

// interrupted adds the context's end to an error that it caused, whatever the error says.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

// answer runs the statement and sends the result.
func (h *handler) answer(ctx *sql.Context, c *mysql.Conn, query string, parsed sqlparser.Statement, bindings map[string]sqlparser.Expr, more bool, send mysql.ResultSpoolFn) error {
	schema, rows, err := h.query(ctx, query, parsed, bindings)
	if err != nil {
		return err
	}
	last, err := spool(ctx, schema, rows, func(r *sqltypes.Result) error { return send(r, more) })
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

// withoutDatabase plans a statement again for a session without a current database: the binder wants
// one to expand a view, even where every name is qualified. Nothing was executed before cause, and an
// unqualified name still ends in it.
func (h *handler) withoutDatabase(ctx *sql.Context, query string, bindings map[string]sqlparser.Expr, cause error) (sql.Schema, sql.RowIter, error) {
	ctx.SetCurrentDatabase(sql.InformationSchemaDatabaseName)
	defer ctx.SetCurrentDatabase("")
	schema, rows, _, err := h.engine.QueryWithBindings(ctx, query, nil, bindings, &sql.QueryFlags{})
	if sql.ErrTableNotFound.Is(err) {
		err = cause
	}
	return schema, rows, err
}

// spool reads all rows, sends full batches, closes the iterator and returns what is still to be sent.
func spool(ctx *sql.Context, schema sql.Schema, rows sql.RowIter, send func(*sqltypes.Result) error) (last *sqltypes.Result, err error) {
	closed := false
	defer func() {
		if !closed {
			_ = rows.Close(ctx)
		}
	}()
	var fields []*querypb.Field
	if !types.IsOkResultSchema(schema) {
		fields = resultFields(ctx, schema)
	}
	sent := false
	last = &sqltypes.Result{Fields: fields}
	for {
		row, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if types.IsOkResult(row) {
			last = okResult(row[0].(types.OkResult))
			continue
		}
		if len(last.Rows) == batchRows {
			if err := send(last); err != nil {
				return nil, err
			}
			sent = true
			last = &sqltypes.Result{Fields: fields}
		}
		values, err := server.RowToSQL(ctx, schema, row, nil, nil)
		if err != nil {
			return nil, err
		}
		mysqlDoubles(fields, values)
		last.Rows = append(last.Rows, values)
		last.RowsAffected++
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	closed = true
	if err := rows.Close(ctx); err != nil {
		return nil, err
	}
	if sent && len(last.Rows) == 0 {
		return nil, nil
	}
	return last, nil
}

func okResult(r types.OkResult) *sqltypes.Result {
	out := &sqltypes.Result{RowsAffected: r.RowsAffected, InsertID: r.InsertID}
	if r.Info != nil {
		out.Info = r.Info.String()
	}
	return out
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

// watchClient cancels the statement when its client goes away or sends something else meanwhile. The
// returned function ends the watch; it must run before the connection is read again.
func watchClient(c *mysql.Conn, cancel func()) (stop func()) {
	ctx, end := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Add(1)
	timer := time.AfterFunc(watchAfter, func() {
		defer watching.Done()
		if c.WaitForClientActivity(ctx) != nil {
			cancel()
		}
	})
	return func() {
		if timer.Stop() {
			watching.Done()
		}
		end()
		watching.Wait()
	}
}
