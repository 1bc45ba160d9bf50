package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/audit"
	"scrim/engine/session"
	"scrim/engine/watch"
)

// handler serves the commands of the protocol. Connections and sessions stay with go-mysql-server's
// own handler; what can fail with a text of its own, or send rows, is ours, because there an error
// becomes a message before it can be told apart.
type handler struct {
	inner    mysql.Handler
	sessions *server.SessionManager
	engine   *sqle.Engine
	errors   *translator
	observe  func(watch.Event)
	audit    *audit.Log
}

var _ mysql.Handler = (*handler)(nil)

// NewConnection implements mysql.Handler.
func (h *handler) NewConnection(c *mysql.Conn) { h.inner.NewConnection(c) }

// ConnectionClosed implements mysql.Handler.
func (h *handler) ConnectionClosed(c *mysql.Conn) {
	h.logout(c)
	h.inner.ConnectionClosed(c)
}

// ConnectionAborted implements mysql.Handler.
func (h *handler) ConnectionAborted(c *mysql.Conn, reason string) error {
	return h.inner.ConnectionAborted(c, reason)
}

// ConnectionAuthenticated implements mysql.Handler.
func (h *handler) ConnectionAuthenticated(c *mysql.Conn) error {
	return h.plain(c, func() error {
		if err := h.login(c); err != nil {
			return err
		}
		return h.sessions.ConnReady(context.Background(), c)
	})
}

// ComInitDB implements mysql.Handler.
func (h *handler) ComInitDB(c *mysql.Conn, schema string) error {
	_, noted, err := h.begin(context.Background(), c, "USE `"+strings.ReplaceAll(schema, "`", "``")+"`")
	if err != nil {
		return err
	}
	return h.end(nil, c, noted, guard(func() error { return h.sessions.SetDB(context.Background(), c, schema) }))
}

// ComResetConnection implements mysql.Handler.
func (h *handler) ComResetConnection(c *mysql.Conn) error {
	return h.plain(c, func() error { return h.inner.ComResetConnection(c) })
}

// WarningCount implements mysql.Handler.
func (h *handler) WarningCount(c *mysql.Conn) uint16 { return h.inner.WarningCount(c) }

// ParserOptionsForConnection implements mysql.Handler.
func (h *handler) ParserOptionsForConnection(c *mysql.Conn) (sqlparser.ParserOptions, error) {
	return h.inner.ParserOptionsForConnection(c)
}

// plain runs a command without rows.
func (h *handler) plain(c *mysql.Conn, f func() error) error {
	return h.errors.public(guard(f), fate{principal: c.User, id: newID()})
}

// guard turns a panic of f into an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{value: p, stack: debug.Stack()}
		}
	}()
	return f()
}

// ComQuery implements mysql.Handler.
func (h *handler) ComQuery(ctx context.Context, c *mysql.Conn, query string, callback mysql.ResultSpoolFn) error {
	_, err := h.run(ctx, c, command{text: query}, callback)
	return err
}

// ComMultiQuery implements mysql.Handler: it runs the first statement and returns the rest.
func (h *handler) ComMultiQuery(ctx context.Context, c *mysql.Conn, query string, callback mysql.ResultSpoolFn) (string, error) {
	return h.run(ctx, c, command{text: query, multi: true}, callback)
}

// ComStmtExecute implements mysql.Handler.
func (h *handler) ComStmtExecute(ctx context.Context, c *mysql.Conn, prepare *mysql.PrepareData, callback func(*sqltypes.Result) error) error {
	bindings, err := expressions(prepare.BindVars)
	if err != nil {
		return h.errors.public(err, fate{principal: c.User, id: newID()})
	}
	_, err = h.run(ctx, c, command{text: prepare.PrepareStmt, bindings: bindings}, func(r *sqltypes.Result, _ bool) error {
		return callback(r)
	})
	return err
}

// ComPrepare implements mysql.Handler: it binds the statement, and reads and charges nothing.
func (h *handler) ComPrepare(ctx context.Context, c *mysql.Conn, query string, _ *mysql.PrepareData) (fields []*querypb.Field, err error) {
	ctx, noted, err := h.begin(ctx, c, query)
	if err != nil {
		return nil, err
	}
	var sqlCtx *sql.Context
	err = guard(func() error {
		var err error
		if sqlCtx, err = h.sessions.NewContextWithQuery(ctx, c, query); err != nil {
			return err
		}
		if sqlCtx, err = sqlCtx.ProcessList.BeginOperation(sqlCtx); err != nil {
			return err
		}
		defer sqlCtx.ProcessList.EndOperation(sqlCtx)
		if err := sql.SessionCommandBegin(sqlCtx.Session); err != nil {
			return err
		}
		defer sql.SessionCommandEnd(sqlCtx.Session)
		node, err := h.engine.PrepareQuery(sqlCtx, query)
		if err != nil {
			return err
		}
		if schema := node.Schema(sqlCtx); !returnsNoRows(node) && !types.IsOkResultSchema(schema) {
			fields = resultFields(sqlCtx, schema)
		}
		return nil
	})
	if err != nil {
		// Nothing will be executed, so that this is the statement's only event.
		return nil, h.end(sqlCtx, c, noted, err)
	}
	noted.place.Free()
	return fields, nil
}

// returnsNoRows reports whether a node that is bound, but not analysed, will answer with OK only.
func returnsNoRows(n sql.Node) bool {
	switch n := n.(type) {
	case *plan.InsertInto:
		return n.Returning == nil
	case *plan.Update, *plan.UpdateJoin, *plan.DeleteFrom:
		return true
	}
	return false
}

// end is the way out of every statement: it turns the error outward and tells how the statement ended. ctx may be nil.
func (h *handler) end(ctx *sql.Context, c *mysql.Conn, noted *observed, err error) error {
	f := fate{principal: c.User, id: noted.id, scene: scene{text: noted.redacted}}
	if ctx != nil {
		f.scene.database = ctx.GetCurrentDatabase()
		if s, ok := session.From(ctx); ok {
			f.protected, f.principal = s.TouchesProtected(), s.Principal()
		}
	}
	public := h.errors.public(err, f)
	if own, ok := asSQLError(public); ok && ctx != nil {
		warn(ctx, own, noted.id)
	}
	e := noted.event(c, ctx, err, public)
	noted.place.Write(audit.Of(e))
	h.tell(e)
	return public
}

// warn makes SHOW WARNINGS show the error, as MySQL does, and the id under which the server's logs have the statement.
func warn(ctx *sql.Context, e *mysql.SQLError, id string) {
	ctx.ClearWarnings()
	// The latest comes first.
	ctx.Session.Warn(&sql.Warning{Level: "Note", Code: mysql.ERUnknownError, Message: "The statement's id in the server's logs is " + id})
	ctx.Session.Warn(&sql.Warning{Level: "Error", Code: e.Num, Message: e.Message})
}

// expressions turns the values of a prepared statement into expressions.
func expressions(vars map[string]*querypb.BindVariable) (map[string]sqlparser.Expr, error) {
	out := make(map[string]sqlparser.Expr, len(vars))
	for name, v := range vars {
		val, err := sqltypes.BindVariableToValue(v)
		if err != nil {
			return nil, fmt.Errorf("engine: prepared statement: %w", err)
		}
		if out[name], err = sqlparser.ExprFromValue(val); err != nil {
			return nil, fmt.Errorf("engine: prepared statement: %w", err)
		}
	}
	return out, nil
}
