package wire

import (
	"context"
	"encoding/binary"
	"fmt"

	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// maxStatements bounds a connection's prepared statements, as MySQL bounds a server's.
const maxStatements = 16382

// maxStatementText bounds the texts of a connection's prepared statements: each is kept in a form
// that is many times as large.
const maxStatementText = 16 << 20

// statement is a prepared statement of one connection.
type statement struct {
	Prepared
	types []parameterType // as the client named them last
	long  map[int][]byte  // by parameter, from COM_STMT_SEND_LONG_DATA
	err   error           // of COM_STMT_SEND_LONG_DATA, which has no answer
}

// statements are a connection's prepared statements by their ids.
type statements struct {
	byID map[uint32]*statement
	last uint32
	long int // bytes of long data that are kept
	text int // bytes of the statements' texts
}

func (s *statements) add(p Prepared) (id uint32) {
	if s.byID == nil {
		s.byID = map[uint32]*statement{}
	}
	for s.last++; s.last == 0 || s.byID[s.last] != nil; s.last++ {
	}
	s.byID[s.last] = &statement{Prepared: p}
	s.text += len(p.Text)
	return s.last
}

// dropLong forgets a statement's long data.
func (c *Conn) dropLong(st *statement) {
	for _, b := range st.long {
		c.statements.long -= len(b)
		c.listener.letGo(len(b))
	}
	st.long, st.err = nil, nil
}

// longData keeps a part of a parameter. What is wrong with it is told when the statement is
// executed.
func (c *Conn) longData(body []byte) {
	r := reader{b: body}
	st, parameter := c.statements.byID[r.uint32()], int(r.uint16())
	switch {
	case st == nil || r.bad || st.err != nil:
		return
	case parameter >= st.Params:
		st.err = fmt.Errorf("wire: long data for parameter %d of %d", parameter+1, st.Params)
		return
	}
	if err := c.holdLong(len(st.long[parameter]), len(r.b)); err != nil {
		c.dropLong(st)
		st.err = err
		return
	}
	if st.long == nil {
		st.long = map[int][]byte{}
	}
	st.long[parameter] = append(st.long[parameter], r.b...)
	if st.long[parameter] == nil {
		st.long[parameter] = []byte{}
	}
}

// holdLong counts n bytes more of a parameter of so many bytes, or tells what they are too many
// for.
func (c *Conn) holdLong(parameter, n int) error {
	switch most := c.listener.cfg.MaxPacket; {
	case parameter+n > most:
		return errOversize
	case c.statements.long+n > heldByOne*most:
		return errHeld
	}
	if err := c.listener.hold(n); err != nil {
		return err
	}
	c.statements.long += n
	return nil
}

func unknownStatement(id uint32, command string) (uint16, string, string) {
	return errUnknownStmt, "HY000", fmt.Sprintf("Unknown prepared statement handler (%d) given to %s", id, command)
}

// prepare binds a statement and describes its parameters and its result.
func (s *Server) prepare(ctx context.Context, c *Conn, text string) bool {
	if len(c.statements.byID) >= maxStatements {
		return c.refuse(errTooManyStmts, "42000", fmt.Sprintf("Can't create more than max_prepared_stmt_count statements (current value: %d)", maxStatements))
	}
	if most := min(maxStatementText, c.listener.cfg.MaxPacket); c.statements.text+len(text) > most {
		return c.refuse(errTooManyStmts, "42000", fmt.Sprintf("Can't keep more than %d bytes of prepared statements in a connection; close some", most))
	}
	p, err := s.handler.Prepare(ctx, c.peer, text)
	if err != nil {
		return c.fail(err)
	}
	if p.Params > 1<<16-1 {
		s.handler.Forget(c.peer, p)
		return c.refuse(1390, "HY000", "Prepared statement contains too many placeholders")
	}
	id := c.statements.add(p)
	at := c.packet()
	c.out = binary.LittleEndian.AppendUint32(append(c.out, packetOK), id)
	c.out = binary.LittleEndian.AppendUint16(c.out, uint16(len(p.Fields)))
	c.out = binary.LittleEndian.AppendUint16(c.out, uint16(p.Params))
	c.out = append(c.out, 0)
	c.out = binary.LittleEndian.AppendUint16(c.out, s.handler.WarningCount(c.peer))
	if c.end(at) != nil {
		return false
	}
	if p.Params > 0 && c.describe(parameters(p.Params)) != nil {
		return false
	}
	return len(p.Fields) == 0 || c.describe(p.Fields) == nil
}

// parameters describes parameters: nothing is known of them.
func parameters(n int) []*querypb.Field {
	unknown := &querypb.Field{Name: "?", Type: querypb.Type_VARBINARY, Charset: binaryCharset, Flags: uint32(querypb.MySqlFlag_BINARY_FLAG)}
	fields := make([]*querypb.Field, n)
	for i := range fields {
		fields[i] = unknown
	}
	return fields
}

const binaryCharset = 63

// execute runs a prepared statement. What the client asks for in cursors is not done.
func (s *Server) execute(ctx context.Context, c *Conn, body []byte) bool {
	r := reader{b: body}
	id := r.uint32()
	st := c.statements.byID[id]
	if st == nil && !r.bad {
		return c.refuse(unknownStatement(id, "mysqld_stmt_execute"))
	}
	r.bytes(5) // the kind of cursor, and how often to execute: once
	if r.bad {
		return c.malformed()
	}
	defer c.dropLong(st)
	if st.err != nil {
		return c.refuse(c.tooMuch(st.err))
	}
	values, ok := st.values(&r)
	if !ok {
		return c.malformed()
	}
	out := result{c: c, binary: true, warnings: s.handler.WarningCount}
	err := s.handler.Execute(ctx, c.peer, st.Prepared, values, out.send)
	return out.finish(err, false)
}

// statementID takes the id that a command is about.
func statementID(body []byte) (id uint32, ok bool) {
	r := reader{b: body}
	id = r.uint32()
	return id, !r.bad
}

// resetStatement forgets what long data has come.
func (c *Conn) resetStatement(body []byte) bool {
	id, ok := statementID(body)
	st := c.statements.byID[id]
	switch {
	case !ok:
		return c.malformed()
	case st == nil:
		return c.refuse(unknownStatement(id, "mysqld_stmt_reset"))
	}
	c.dropLong(st)
	return c.done(nil)
}

// fetch is for cursors, and there is none.
func (c *Conn) fetch(body []byte) bool {
	id, ok := statementID(body)
	switch {
	case !ok:
		return c.malformed()
	case c.statements.byID[id] == nil:
		return c.refuse(unknownStatement(id, "mysqld_stmt_fetch"))
	}
	return c.refuse(errNoCursor, "HY000", fmt.Sprintf("The statement (%d) has no open cursor.", id))
}

// forget closes a statement, which has no answer.
func (s *Server) forget(c *Conn, body []byte) {
	id, _ := statementID(body)
	if st := c.statements.byID[id]; st != nil {
		c.dropLong(st)
		c.statements.text -= len(st.Text)
		delete(c.statements.byID, id)
		s.handler.Forget(c.peer, st.Prepared)
	}
}

// forgetAll closes all statements.
func (s *Server) forgetAll(c *Conn) {
	for _, st := range c.statements.byID {
		c.dropLong(st)
		s.handler.Forget(c.peer, st.Prepared)
	}
	c.statements = statements{last: c.statements.last}
}
