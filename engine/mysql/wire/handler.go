package wire

import (
	"context"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// Handler is the server behind the protocol. The calls for one connection come one after another.
// An error that is a *mysql.SQLError goes to the client as it is.
type Handler interface {
	// NewConnection is the first call for a connection, and ConnectionClosed the last one.
	NewConnection(c *mysql.Conn)
	ConnectionClosed(c *mysql.Conn)
	// ConnectionAborted tells of a connection that ended before it was logged in.
	ConnectionAborted(c *mysql.Conn, reason string) error
	// ConnectionAuthenticated makes the session of a client that has logged in, for the first time
	// or as another user.
	ConnectionAuthenticated(c *mysql.Conn) error
	// ComInitDB changes the current database.
	ComInitDB(c *mysql.Conn, schema string) error
	// ComResetConnection begins the session anew. LeaveSession ends it, before another user logs
	// in.
	ComResetConnection(c *mysql.Conn) error
	LeaveSession(c *mysql.Conn)

	// Query runs the first statement of text and returns what follows it, which is "" without
	// multi.
	Query(ctx context.Context, c *mysql.Conn, text string, multi bool, send Send) (rest string, err error)
	// Prepare binds a statement and reads nothing. Execute runs it; Forget tells that it will not
	// be run any more.
	Prepare(ctx context.Context, c *mysql.Conn, text string) (Prepared, error)
	Execute(ctx context.Context, c *mysql.Conn, p Prepared, values map[string]*querypb.BindVariable, send Send) error
	Forget(c *mysql.Conn, p Prepared)
	// Fields describes a table's columns, for COM_FIELD_LIST.
	Fields(ctx context.Context, c *mysql.Conn, table string) ([]*querypb.Field, error)

	// WarningCount is the number of warnings of the last statement.
	WarningCount(c *mysql.Conn) uint16
	// Statistics is the answer to COM_STATISTICS.
	Statistics(c *mysql.Conn) string
	// Timeouts says how long to wait for this client.
	Timeouts(c *mysql.Conn) Timeouts
}

// Send takes a part of a result: rows, of which the first part names the fields, or, without
// fields, the numbers of an OK packet. more says that another statement of the same text follows.
type Send func(r *sqltypes.Result, more bool) error

// Prepared is a statement that was prepared.
type Prepared struct {
	Text   string
	Params int              // the parameters are v1, v2, … by their places
	Fields []*querypb.Field // nil where there is no result
	Handle any              // the handler's own
}

// Timeouts says how long the server waits for a client. Zero means the default.
type Timeouts struct {
	Idle  time.Duration // between commands; by default for ever
	Body  time.Duration // for the next part of a packet
	Write time.Duration // for a part of a result to be taken
}

func (p Timeouts) body() time.Duration {
	if p.Body <= 0 {
		return bodyTimeout
	}
	return p.Body
}

func (p Timeouts) write() time.Duration {
	if p.Write <= 0 {
		return writeTimeout
	}
	return p.Write
}

// LoginFunc decides on a login; an error refuses it.
type LoginFunc func(l *Login) (mysql.Getter, error)
