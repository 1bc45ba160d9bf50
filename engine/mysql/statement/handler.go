package statement

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/mysql_db"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/mysql/inbox"
	"scrim/engine/mysql/mysqlerr"
	"scrim/engine/mysql/session"
	"scrim/engine/mysql/statement/reports"
	"scrim/engine/mysql/statement/trace"
	"scrim/engine/mysql/wire"
	"scrim/engine/observe/audit"
	"scrim/engine/observe/watch"
	"scrim/internal/collation"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// Handler serves the commands of the protocol. Connections and sessions stay with go-mysql-server's
// own handler; what can fail with a text of its own, or send rows, is ours, because there an error
// becomes a message before it can be told apart.
type Handler struct {
	Inner       mysql.Handler
	Sessions    *server.SessionManager
	Engine      *sqle.Engine
	Inbox       *inbox.Database
	Errors      *mysqlerr.Translator
	Observe     func(watch.Event) // is told about every statement that ended
	Steps       bool              // observers are told the steps of statements
	Audit       *audit.Log        // nil without an audit log
	Connections func() int        // how many are open
	Since       time.Time         // the start of the server
	Longest     atomic.Int64      // nanoseconds that a statement may take, see cutoff.Limit
}

var _ wire.Handler = (*Handler)(nil)

// grants are the accounts and what they may do.
func (h *Handler) grants() *mysql_db.MySQLDb { return h.Engine.Analyzer.Catalog.MySQLDb }

// reports takes what contributors send.
func (h *Handler) reports() reports.Taker { return reports.Taker{Inbox: h.Inbox, Grants: h.grants()} }

// NewConnection implements wire.Handler.
func (h *Handler) NewConnection(c *mysql.Conn) { h.Inner.NewConnection(c) }

// ConnectionClosed implements wire.Handler.
func (h *Handler) ConnectionClosed(c *mysql.Conn) {
	h.logout(c)
	h.Inner.ConnectionClosed(c)
}

// ConnectionAborted implements wire.Handler.
func (h *Handler) ConnectionAborted(c *mysql.Conn, reason string) error {
	return h.Inner.ConnectionAborted(c, reason)
}

// ConnectionAuthenticated implements wire.Handler.
func (h *Handler) ConnectionAuthenticated(c *mysql.Conn) error {
	return h.plain(c, func() error {
		if err := h.login(c); err != nil {
			return err
		}
		if err := h.Sessions.NewSession(context.Background(), c); err != nil {
			return err
		}
		return errors.Join(h.Sessions.ConnReady(context.Background(), c), h.setNames(c), setIdleTimeout(c))
	})
}

// LeaveSession implements wire.Handler: the session ends as at the end of the connection, with its
// transaction, its locks and its variables. An empty one, in which nothing runs, takes its place.
func (h *Handler) LeaveSession(c *mysql.Conn) {
	h.logout(c)
	// fails where the database has gone
	_ = mysqlerr.Guard(func() error { return h.Inner.ComResetConnection(c) })
	c.UserData = nil
}

// ComInitDB implements wire.Handler.
func (h *Handler) ComInitDB(c *mysql.Conn, schema string) error {
	schema, err := decoded(clientSet(c), schema)
	if err != nil {
		return h.outward(c, err)
	}
	_, t, err := h.begin(context.Background(), c, "USE "+sqltext.Name(schema))
	if err != nil {
		return err
	}
	return h.end(nil, c, t, mysqlerr.Guard(func() error {
		if own, ok := c.ClientData.(*session.Session); ok {
			own.Diagnose(session.Clears)
		}
		return h.Sessions.SetDB(context.Background(), c, schema)
	}))
}

// ComResetConnection implements wire.Handler.
func (h *Handler) ComResetConnection(c *mysql.Conn) error {
	return h.plain(c, func() error {
		if err := h.Inner.ComResetConnection(c); err != nil {
			return err
		}
		c.StatusFlags = uint16(mysql.ServerStatusAutocommit)
		return setIdleTimeout(c)
	})
}

// WarningCount implements wire.Handler.
func (h *Handler) WarningCount(c *mysql.Conn) uint16 { return h.Inner.WarningCount(c) }

// Statistics implements wire.Handler: MySQL's text. The questions are the session's own, because
// those of others could tell an analyst what others do; what the server does not count is 0.
func (h *Handler) Statistics(c *mysql.Conn) string {
	uptime, questions := max(1, int(time.Since(h.Since).Seconds())), uint64(0)
	if s, ok := c.ClientData.(*session.Session); ok {
		questions = s.Commands()
	}
	return fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Slow queries: 0  Opens: 0  Flush tables: 0  Open tables: 0  Queries per second avg: %.3f",
		uptime, h.Connections(), questions, float64(questions)/float64(uptime))
}

// plain runs a command without rows.
func (h *Handler) plain(c *mysql.Conn, f func() error) error {
	return h.outward(c, mysqlerr.Guard(f))
}

// outward is an error before a statement runs as the client gets it.
func (h *Handler) outward(c *mysql.Conn, err error) error {
	return encoded(c, h.Errors.Public(err, mysqlerr.Context{Principal: c.User, ID: trace.NewID()}))
}

// Query implements wire.Handler.
func (h *Handler) Query(ctx context.Context, c *mysql.Conn, text string, multi bool, send wire.Send) (string, error) {
	text, rest, err := received(c, text, !multi)
	if err != nil {
		return "", h.outward(c, err)
	}
	return h.run(ctx, c, command{text: text, multi: multi, rest: rest}, send)
}

// Execute implements wire.Handler.
func (h *Handler) Execute(ctx context.Context, c *mysql.Conn, p wire.Prepared, values map[string]*querypb.BindVariable, send wire.Send) error {
	bindings, err := expressions(c, values)
	if err != nil {
		return h.outward(c, err)
	}
	parsed, _ := p.Handle.(sqlparser.Statement)
	_, err = h.run(ctx, c, command{text: p.Text, prepared: parsed, bindings: bindings}, send)
	return err
}

// Forget implements wire.Handler: statements are kept by their connections.
func (h *Handler) Forget(*mysql.Conn, wire.Prepared) {}

// Fields implements wire.Handler: what a query without rows tells.
func (h *Handler) Fields(ctx context.Context, c *mysql.Conn, table string) (fields []*querypb.Field, err error) {
	table, err = decoded(clientSet(c), table)
	if err != nil {
		return nil, h.outward(c, err)
	}
	text := "SELECT * FROM " + sqltext.Name(table) + " LIMIT 0"
	_, err = h.run(ctx, c, command{text: text}, func(r *sqltypes.Result, _ bool) error {
		fields = r.Fields
		return nil
	})
	return fields, err
}

// Prepare implements wire.Handler: it binds the statement, and reads and charges nothing.
func (h *Handler) Prepare(ctx context.Context, c *mysql.Conn, text string) (p wire.Prepared, err error) {
	if text, _, err = received(c, text, true); err != nil {
		return p, h.outward(c, err)
	}
	ctx, t, err := h.begin(ctx, c, text)
	if err != nil {
		return p, err
	}
	var sqlCtx *sql.Context
	err = mysqlerr.Guard(func() error {
		var err error
		if sqlCtx, err = h.Sessions.NewContextWithQuery(ctx, c, text); err != nil {
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
		return p, h.end(sqlCtx, c, t, err)
	}
	t.Place.Free()
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

// expressions turns the values of a prepared statement into expressions. Those that the client does
// not call binary are VARCHAR, and in its character set.
func expressions(c *mysql.Conn, vars map[string]*querypb.BindVariable) (map[string]sqlparser.Expr, error) {
	out := make(map[string]sqlparser.Expr, len(vars))
	for name, v := range vars {
		val, err := sqltypes.BindVariableToValue(v)
		if err != nil {
			return nil, fmt.Errorf("engine: prepared statement: %w", err)
		}
		if set := clientSet(c); v.Type == sqltypes.VarChar && collation.Converted(set) {
			text, err := decoded(set, val.ToString())
			if err != nil {
				return nil, err
			}
			val = sqltypes.NewVarChar(text)
		}
		if out[name], err = sqlparser.ExprFromValue(val); err != nil {
			return nil, fmt.Errorf("engine: prepared statement: %w", err)
		}
	}
	return out, nil
}

// admit takes a place in the audit log for a statement or a login.
func (h *Handler) admit() (audit.Place, error) {
	place, err := h.Audit.Admit()
	if err != nil {
		err = refuse.New(refuse.Audit, "The audit log cannot be written, and the server is configured to run no statement without it.")
	}
	return place, err
}

// login records that a client has logged in.
func (h *Handler) login(c *mysql.Conn) error {
	place, err := h.admit()
	if err != nil {
		return err
	}
	place.Write(connection(audit.Login, c))
	return nil
}

// logout records the end of a connection that had logged in.
func (h *Handler) logout(c *mysql.Conn) {
	if c.UserData != nil {
		h.Audit.Write(connection(audit.Logout, c))
	}
}

func connection(kind audit.Kind, c *mysql.Conn) audit.Record {
	return audit.Record{Kind: kind, Connection: c.ConnectionID, Principal: session.PrincipalOf(c), From: c.RemoteAddr().String()}
}

// Timeouts implements wire.Handler, by the session's own variables.
func (h *Handler) Timeouts(c *mysql.Conn) wire.Timeouts {
	s, ok := c.ClientData.(*session.Session)
	if !ok {
		return wire.Timeouts{}
	}
	return wire.Timeouts{Idle: seconds(s, "wait_timeout"), Body: seconds(s, "net_read_timeout"), Write: seconds(s, "net_write_timeout")}
}

// converting is the context of conversions, which read nothing of it; making one copies all
// variables.
var converting = sql.NewEmptyContext()

// seconds is the value of a session variable that counts seconds, 0 where there is none.
func seconds(s *session.Session, name string) time.Duration {
	v, err := s.GetSessionVariable(nil, name)
	if err != nil {
		return 0
	}
	n, _, err := types.Int64.Convert(converting, v)
	if err != nil {
		return 0
	}
	return time.Duration(n.(int64)) * time.Second
}

// setIdleTimeout gives a new session of a client that says that a person types the time of
// interactive_timeout.
func setIdleTimeout(c *mysql.Conn) error {
	s, ok := c.ClientData.(*session.Session)
	if !ok || !wire.Of(c).Interactive() {
		return nil
	}
	v, err := s.GetSessionVariable(nil, "interactive_timeout")
	if err != nil {
		return err
	}
	return s.BaseSession.SetSessionVariable(sql.NewEmptyContext(), "wait_timeout", v)
}
