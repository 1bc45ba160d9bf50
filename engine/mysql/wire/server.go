package wire

import (
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"scrim/internal/panics"
)

// Server answers the connections of a listener.
type Server struct {
	listener *Listener
	handler  Handler
	login    LoginFunc
	version  string
	plugin   string // that the greeting names

	last   atomic.Uint32 // connection id
	closed atomic.Bool
}

// NewServer puts handler on a listener. version is what the server calls itself, plugin the way to
// log in that it offers first.
func NewServer(l *Listener, handler Handler, login LoginFunc, version, plugin string) *Server {
	return &Server{listener: l, handler: handler, login: login, version: version, plugin: plugin}
}

// Addr is the listener's address.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Accept answers clients until the server is closed.
func (s *Server) Accept() {
	for {
		c, err := s.listener.accept()
		if err != nil {
			return
		}
		go s.serve(c)
	}
}

// Close ends accepting. Open connections go on.
func (s *Server) Close() {
	if s.closed.CompareAndSwap(false, true) {
		_ = s.listener.Close()
	}
}

// serve is one connection from its greeting to its end. Whatever goes wrong in it ends it alone.
func (s *Server) serve(c *Conn) {
	c.peer = &mysql.Conn{Conn: c, ConnectionID: s.last.Add(1), PrepareData: map[uint32]*mysql.PrepareData{}}
	defer func() {
		if recover() == nil {
			_ = c.flush()
		} else {
			panics.Recovered()
		}
		_ = c.Close()
		c.forgetSent()
	}()
	s.handler.NewConnection(c.peer)
	defer s.handler.ConnectionClosed(c.peer)
	if err := s.begin(c); err != nil {
		_ = s.handler.ConnectionAborted(c.peer, err.Error())
		return
	}
	for s.command(c) {
	}
}

// begin greets a client and logs it in.
func (s *Server) begin(c *Conn) error {
	l, err := s.greet(c)
	if err != nil {
		return err
	}
	return s.admit(c, l)
}

// command reads and answers one command; false ends the connection.
func (s *Server) command(c *Conn) bool {
	c.timeouts = s.handler.Timeouts(c.peer)
	c.sequence = 0
	var idle time.Time
	if c.timeouts.Idle > 0 {
		idle = time.Now().Add(c.timeouts.Idle)
	}
	_ = c.conn().SetReadDeadline(idle)
	c.dropPacket() // the client may take its time
	waiting := true
	if _, err := c.buffered.Peek(headerSize); err == nil {
		waiting = false
		_ = c.conn().SetReadDeadline(time.Now().Add(c.timeouts.body()))
	}
	payload, err := c.read(c.listener.cfg.MaxPacket)
	switch {
	case err == nil:
	case waiting && errors.Is(err, os.ErrDeadlineExceeded):
		c.sequence = 0
		return c.refuse(errIdle, "HY000", "The client was disconnected by the server because of inactivity. See wait_timeout and interactive_timeout for configuring this behavior.") && false
	case errors.Is(err, errOversize):
		return c.refuse(errTooLarge, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes") && false
	case errors.Is(err, errNoRoom):
		return c.refuse(c.tooMuch(err)) && false
	default:
		return false
	}
	_ = c.conn().SetReadDeadline(time.Time{})
	if len(payload) == 0 {
		return c.malformed() && c.flush() == nil
	}
	return s.dispatch(context.Background(), c, payload[0], payload[1:]) && c.flush() == nil
}

// Commands.
const (
	comQuit            = 0x01
	comInitDB          = 0x02
	comQuery           = 0x03
	comFieldList       = 0x04
	comStatistics      = 0x09
	comProcessInfo     = 0x0a
	comProcessKill     = 0x0c
	comPing            = 0x0e
	comChangeUser      = 0x11
	comStmtPrepare     = 0x16
	comStmtExecute     = 0x17
	comStmtLongData    = 0x18
	comStmtClose       = 0x19
	comStmtReset       = 0x1a
	comSetOption       = 0x1b
	comStmtFetch       = 0x1c
	comResetConnection = 0x1f
)

// dispatch answers one command; false ends the connection.
func (s *Server) dispatch(ctx context.Context, c *Conn, command byte, body []byte) bool {
	switch command {
	case comQuit:
		return false
	case comInitDB:
		return c.done(s.handler.ComInitDB(c.peer, string(body)))
	case comQuery:
		return s.query(ctx, c, string(body))
	case comFieldList:
		return s.fieldList(ctx, c, body)
	case comStatistics:
		at := c.packet()
		c.out = append(c.out, s.handler.Statistics(c.peer)...)
		return c.end(at) == nil
	case comProcessInfo:
		return s.query(ctx, c, "SHOW PROCESSLIST")
	case comProcessKill:
		return s.kill(ctx, c, body)
	case comPing:
		if s.closed.Load() {
			return c.refuse(mysql.ERServerShutdown, mysql.SSServerShutdown, "Server shutdown in progress")
		}
		return c.done(nil)
	case comChangeUser:
		return s.changeUser(c, body)
	case comStmtPrepare:
		return s.prepare(ctx, c, string(body))
	case comStmtExecute:
		return s.execute(ctx, c, body)
	case comStmtLongData:
		c.longData(body)
		return true
	case comStmtClose:
		s.forget(c, body)
		return true
	case comStmtReset:
		return c.resetStatement(body)
	case comStmtFetch:
		return c.fetch(body)
	case comSetOption:
		return c.setOption(body)
	case comResetConnection:
		return s.reset(c)
	}
	return c.refuse(errUnknownCmd, "08S01", "Unknown command")
}

// query runs the statements of a text one after another, up to the first that fails.
func (s *Server) query(ctx context.Context, c *Conn, text string) bool {
	for {
		r := result{c: c, warnings: s.handler.WarningCount}
		rest, err := s.handler.Query(ctx, c.peer, text, c.can(capMultiStatement), r.send)
		if !r.finish(err, rest != "") {
			return false
		}
		if err != nil || rest == "" {
			return true
		}
		text = rest
	}
}

// kill is the old form of KILL.
func (s *Server) kill(ctx context.Context, c *Conn, body []byte) bool {
	r := reader{b: body}
	id := r.uint32()
	if r.bad {
		return c.malformed()
	}
	return s.query(ctx, c, "KILL "+strconv.FormatUint(uint64(id), 10))
}

// fieldList describes those columns of a table whose names match, each with the mark of no default.
func (s *Server) fieldList(ctx context.Context, c *Conn, body []byte) bool {
	r := reader{b: body}
	table := r.zeroText()
	if r.bad || table == "" {
		return c.malformed()
	}
	fields, err := s.handler.Fields(ctx, c.peer, table)
	if err != nil {
		return c.fail(err)
	}
	pattern := strings.TrimRight(string(r.b), "\x00")
	for _, f := range fields {
		if pattern != "" && !like(strings.ToLower(f.Name), strings.ToLower(pattern)) {
			continue
		}
		at := c.packet()
		c.out = append(appendField(c.out, f), packetNull)
		if c.end(at) != nil {
			return false
		}
	}
	return c.eof(c.peer.StatusFlags, 0) == nil
}

// like matches MySQL's pattern: % is any text, _ any character, \ takes the next one as it is.
func like(s, pattern string) bool {
	text, p := []rune(s), []rune(pattern)
	i, j, star, from := 0, 0, -1, 0
	for i < len(text) {
		switch {
		case j < len(p) && p[j] == '%':
			star, from = j, i
			j++
		case j < len(p) && p[j] == '_':
			i, j = i+1, j+1
		case j+1 < len(p) && p[j] == '\\' && p[j+1] == text[i]:
			i, j = i+1, j+2
		case j < len(p) && p[j] != '\\' && p[j] == text[i]:
			i, j = i+1, j+1
		case star >= 0: // the last % takes one character more
			from++
			i, j = from, star+1
		default:
			return false
		}
	}
	for j < len(p) && p[j] == '%' {
		j++
	}
	return j == len(p)
}

// setOption switches whether a text may hold several statements.
func (c *Conn) setOption(body []byte) bool {
	r := reader{b: body}
	switch option := r.uint16(); {
	case r.bad:
		return c.malformed()
	case option == 0:
		c.capabilities |= capMultiStatement
	case option == 1:
		c.capabilities &^= capMultiStatement
	default:
		return c.refuse(errUnknownCmd, "08S01", "Unknown command")
	}
	return c.eof(c.peer.StatusFlags, 0) == nil
}

// reset begins the session anew, with the same user and database.
func (s *Server) reset(c *Conn) bool {
	s.forgetAll(c)
	return c.done(s.handler.ComResetConnection(c.peer))
}

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
