package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/audit"
	"scrim/engine/inbox"
	"scrim/engine/mysqlerr"
	"scrim/engine/session"
	"scrim/engine/watch"
	"scrim/engine/wire"
	"scrim/internal/sqltext"
)

// handler serves the commands of the protocol. Connections and sessions stay with go-mysql-server's
// own handler; what can fail with a text of its own, or send rows, is ours, because there an error
// becomes a message before it can be told apart.
type handler struct {
	inner    mysql.Handler
	sessions *server.SessionManager
	engine   *sqle.Engine
	inbox    *inbox.Database
	errors   *mysqlerr.Translator
	observe  func(watch.Event)
	audit    *audit.Log
	open     func() int // connections
	since    time.Time
}

var _ wire.Handler = (*handler)(nil)

// NewConnection implements wire.Handler.
func (h *handler) NewConnection(c *mysql.Conn) { h.inner.NewConnection(c) }

// ConnectionClosed implements wire.Handler.
func (h *handler) ConnectionClosed(c *mysql.Conn) {
	h.logout(c)
	h.inner.ConnectionClosed(c)
}

// ConnectionAborted implements wire.Handler.
func (h *handler) ConnectionAborted(c *mysql.Conn, reason string) error {
	return h.inner.ConnectionAborted(c, reason)
}

// ConnectionAuthenticated implements wire.Handler.
func (h *handler) ConnectionAuthenticated(c *mysql.Conn) error {
	return h.plain(c, func() error {
		if err := h.login(c); err != nil {
			return err
		}
		if err := h.sessions.NewSession(context.Background(), c); err != nil {
			return err
		}
		return errors.Join(h.sessions.ConnReady(context.Background(), c), patient(c))
	})
}

// LeaveSession implements wire.Handler: the session ends as at the end of the connection, with its
// transaction, its locks and its variables. An empty one, in which nothing runs, takes its place.
func (h *handler) LeaveSession(c *mysql.Conn) {
	h.logout(c)
	_ = mysqlerr.Guard(func() error { return h.inner.ComResetConnection(c) }) // fails where the database has gone
	c.UserData = nil
}

// ComInitDB implements wire.Handler.
func (h *handler) ComInitDB(c *mysql.Conn, schema string) error {
	_, noted, err := h.begin(context.Background(), c, "USE "+sqltext.Name(schema))
	if err != nil {
		return err
	}
	return h.end(nil, c, noted, mysqlerr.Guard(func() error {
		if own, ok := c.ClientData.(*session.Session); ok {
			own.Diagnose(session.Clears)
		}
		return h.sessions.SetDB(context.Background(), c, schema)
	}))
}

// ComResetConnection implements wire.Handler.
func (h *handler) ComResetConnection(c *mysql.Conn) error {
	return h.plain(c, func() error {
		if err := h.inner.ComResetConnection(c); err != nil {
			return err
		}
		c.StatusFlags = uint16(mysql.ServerStatusAutocommit)
		return patient(c)
	})
}

// WarningCount implements wire.Handler.
func (h *handler) WarningCount(c *mysql.Conn) uint16 { return h.inner.WarningCount(c) }

// Statistics implements wire.Handler: MySQL's text. The questions are the session's own, because those of
// others could tell an analyst what others do; what the server does not count is 0.
func (h *handler) Statistics(c *mysql.Conn) string {
	uptime, questions := max(1, int(time.Since(h.since).Seconds())), uint64(0)
	if s, ok := c.ClientData.(*session.Session); ok {
		questions = s.Commands()
	}
	return fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Slow queries: 0  Opens: 0  Flush tables: 0  Open tables: 0  Queries per second avg: %.3f",
		uptime, h.open(), questions, float64(questions)/float64(uptime))
}

// plain runs a command without rows.
func (h *handler) plain(c *mysql.Conn, f func() error) error {
	return h.errors.Public(mysqlerr.Guard(f), mysqlerr.Context{Principal: c.User, ID: newID()})
}

// Query implements wire.Handler.
func (h *handler) Query(ctx context.Context, c *mysql.Conn, text string, multi bool, send wire.Send) (string, error) {
	return h.run(ctx, c, command{text: text, multi: multi}, send)
}

// Execute implements wire.Handler.
func (h *handler) Execute(ctx context.Context, c *mysql.Conn, p wire.Prepared, values map[string]*querypb.BindVariable, send wire.Send) error {
	bindings, err := expressions(values)
	if err != nil {
		return h.errors.Public(err, mysqlerr.Context{Principal: c.User, ID: newID()})
	}
	parsed, _ := p.Handle.(sqlparser.Statement)
	_, err = h.run(ctx, c, command{text: p.Text, prepared: parsed, bindings: bindings}, send)
	return err
}

// Forget implements wire.Handler: statements are kept by their connections.
func (h *handler) Forget(*mysql.Conn, wire.Prepared) {}

// Fields implements wire.Handler: what a query without rows tells.
func (h *handler) Fields(ctx context.Context, c *mysql.Conn, table string) (fields []*querypb.Field, err error) {
	text := "SELECT * FROM " + sqltext.Name(table) + " LIMIT 0"
	_, err = h.run(ctx, c, command{text: text}, func(r *sqltypes.Result, _ bool) error {
		fields = r.Fields
		return nil
	})
	return fields, err
}

// Prepare implements wire.Handler: it binds the statement, and reads and charges nothing.
func (h *handler) Prepare(ctx context.Context, c *mysql.Conn, text string) (p wire.Prepared, err error) {
	ctx, noted, err := h.begin(ctx, c, text)
	if err != nil {
		return p, err
	}
	var sqlCtx *sql.Context
	err = mysqlerr.Guard(func() error {
		var err error
		if sqlCtx, err = h.sessions.NewContextWithQuery(ctx, c, text); err != nil {
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
		p, err = h.bind(sqlCtx, text)
		return err
	})
	if err != nil {
		// Nothing will be executed, so that this is the statement's only event.
		return p, h.end(sqlCtx, c, noted, err)
	}
	noted.place.Free()
	return p, nil
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
	f := mysqlerr.Context{Principal: c.User, ID: noted.id, Statement: mysqlerr.Statement{Text: noted.redacted}}
	if ctx != nil {
		f.Statement.Database = ctx.GetCurrentDatabase()
		if s, ok := session.From(ctx); ok {
			f.Protected, f.Principal = s.TouchesProtected(), s.Principal()
		}
	}
	public := h.errors.Public(err, f)
	if own, ok := mysqlerr.AsSQLError(public); ok && ctx != nil {
		warn(ctx, own, noted.id)
	}
	e := noted.event(c, ctx, err, public)
	if noted.reports && err == nil {
		noted.place.Free()
		h.observe(anonymous(e))
		return nil
	}
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
