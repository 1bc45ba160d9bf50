package wire

import (
	"encoding/binary"
	"strconv"

	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"scrim/internal/lists"
	"scrim/internal/sqltext"
)

// result writes one statement's result as its parts come.
type result struct {
	c        *Conn
	binary   bool // rows as prepared statements send them
	warnings func(*mysql.Conn) uint16

	fields []*querypb.Field
	ok     *sqltypes.Result // a result without rows
}

// send is a Send.
func (r *result) send(part *sqltypes.Result, more bool) error {
	if r.fields == nil && len(part.Fields) == 0 {
		r.ok = part // written at the end, when the warnings are known
		return nil
	}
	if r.fields == nil {
		r.fields = part.Fields
		if err := r.head(); err != nil {
			return err
		}
	}
	return lists.Each(part.Rows, r.row)
}

// head writes the number of the fields and their descriptions.
func (r *result) head() error {
	c := r.c
	at := c.packet()
	c.out = appendLength(c.out, uint64(len(r.fields)))
	if err := c.end(at); err != nil {
		return err
	}
	return c.describe(r.fields)
}

// describe writes the descriptions of fields.
func (c *Conn) describe(fields []*querypb.Field) error {
	for _, f := range fields {
		at := c.packet()
		c.out = appendField(c.out, f)
		if err := c.end(at); err != nil {
			return err
		}
	}
	if c.can(capDeprecateEOF) {
		return nil
	}
	return c.oldEOF(c.peer.StatusFlags, 0)
}

func appendField(b []byte, f *querypb.Field) []byte {
	kind, flags := sqltypes.TypeToMySQL(f.Type)
	if f.Flags != 0 {
		flags = int64(f.Flags)
	}
	b = appendText(b, "def")
	b = appendText(b, f.Database)
	b = appendText(b, f.Table)
	b = appendText(b, f.OrgTable)
	b = appendText(b, f.Name)
	b = appendText(b, f.OrgName)
	b = append(b, 0x0c) // what follows has this length
	b = binary.LittleEndian.AppendUint16(b, uint16(f.Charset))
	b = binary.LittleEndian.AppendUint32(b, f.ColumnLength)
	b = append(b, byte(kind))
	b = binary.LittleEndian.AppendUint16(b, uint16(flags))
	return append(b, byte(f.Decimals), 0, 0)
}

func (r *result) row(row []sqltypes.Value) error {
	c := r.c
	at := c.packet()
	if !r.binary {
		for _, v := range row {
			if v.IsNull() {
				c.out = append(c.out, packetNull)
			} else if v.Type() == sqltypes.Float32 { // of all its digits
				x, _ := strconv.ParseFloat(v.ToString(), 32)
				c.out = appendText(c.out, sqltext.AppendFloat(nil, x))
			} else {
				c.out = appendText(c.out, v.Raw())
			}
		}
		return c.end(at)
	}
	out, err := appendBinaryRow(c.out, r.fields, row)
	if err != nil {
		c.out = c.out[:at]
		return err
	}
	c.out = out
	return c.end(at)
}

// finish writes what ends the result; false when the client cannot be reached.
func (r *result) finish(err error, more bool) bool {
	c := r.c
	if c.failed != nil {
		return false
	}
	if err != nil {
		return c.fail(err)
	}
	flags := c.peer.StatusFlags
	if more {
		flags |= statusMore
	}
	switch {
	case r.fields != nil:
		return c.eof(flags, r.warnings(c.peer)) == nil
	case r.ok != nil:
		return c.ok(packetOK, r.ok.RowsAffected, r.ok.InsertID, flags, r.warnings(c.peer), r.ok.Info) == nil
	}
	return c.refuse(mysql.ERUnknownError, "HY000", "The statement has no result.")
}

// ok writes an OK packet.
func (c *Conn) ok(head byte, affected, inserted uint64, flags, warnings uint16, info string) error {
	at := c.packet()
	c.out = appendLength(append(c.out, head), affected)
	c.out = appendLength(c.out, inserted)
	c.out = binary.LittleEndian.AppendUint16(c.out, flags)
	c.out = binary.LittleEndian.AppendUint16(c.out, warnings)
	if info != "" {
		c.out = appendText(c.out, info)
	}
	return c.end(at)
}

// eof writes the end of rows, as the client knows it.
func (c *Conn) eof(flags, warnings uint16) error {
	if c.can(capDeprecateEOF) {
		return c.ok(packetEOF, 0, 0, flags, warnings, "")
	}
	return c.oldEOF(flags, warnings)
}

func (c *Conn) oldEOF(flags, warnings uint16) error {
	at := c.packet()
	c.out = binary.LittleEndian.AppendUint16(append(c.out, packetEOF), warnings)
	c.out = binary.LittleEndian.AppendUint16(c.out, flags)
	return c.end(at)
}

// done answers a command that has no rows. It returns false when the client cannot be reached.
func (c *Conn) done(err error) bool {
	if err != nil {
		return c.fail(err)
	}
	return c.ok(packetOK, 0, 0, c.peer.StatusFlags, 0, "") == nil
}

// fail answers with an error. It returns false when the client cannot be reached.
func (c *Conn) fail(err error) bool {
	if own, ok := err.(*mysql.SQLError); ok {
		return c.refuse(uint16(own.Num), own.State, own.Message)
	}
	return c.refuse(mysql.ERUnknownError, "HY000", "internal error")
}

// refuse answers with an error of the protocol.
func (c *Conn) refuse(errno uint16, state, text string) bool {
	at := c.packet()
	c.out = appendError(c.out, errno, state, text)
	return c.end(at) == nil
}

// malformed answers a command whose fields cannot be read.
func (c *Conn) malformed() bool {
	return c.refuse(errMalformed, "HY000", "Malformed communication packet.")
}
