package engine

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"
)

// rawClient sends commands that no driver at hand sends.
type rawClient struct {
	t        *testing.T
	conn     net.Conn
	sequence byte
}

const rawCapabilities = 1 | 8 | 1<<9 | 1<<13 | 1<<15 | 1<<17 | 1<<19

// rawDial logs an account in by mysql_native_password.
func (i *instance) rawDial(user, password string, more uint32) *rawClient {
	i.t.Helper()
	conn, err := net.Dial("tcp", i.Addr().String())
	if err != nil {
		i.t.Fatal(err)
	}
	i.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	c := &rawClient{t: i.t, conn: conn}
	g := c.read()
	end := bytes.IndexByte(g[1:], 0) + 2
	salt := append(append([]byte(nil), g[end+4:end+12]...), g[end+31:end+43]...)
	b := append(binary.LittleEndian.AppendUint32(nil, rawCapabilities|more), make([]byte, 28)...)
	b = append(append(b, user...), 0, 20)
	b = append(append(b, scramble(password, salt)...), "\x00mysql_native_password\x00"...)
	c.write(b)
	if got := c.read(); got[0] != 0 {
		i.t.Fatalf("login: got %q", got)
	}
	return c
}

func scramble(password string, salt []byte) []byte {
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	mask := sha1.Sum(append(append([]byte(nil), salt...), twice[:]...))
	for i := range mask {
		mask[i] ^= once[i]
	}
	return mask[:]
}

func (c *rawClient) write(b []byte) {
	if _, err := c.conn.Write(append([]byte{byte(len(b)), byte(len(b) >> 8), byte(len(b) >> 16), c.sequence}, b...)); err != nil {
		c.t.Error(err)
	}
	c.sequence++
}

func (c *rawClient) read() []byte {
	c.t.Helper()
	var h [4]byte
	if _, err := io.ReadFull(c.conn, h[:]); err != nil {
		c.t.Fatal(err)
	}
	c.sequence = h[3] + 1
	b := make([]byte, int(h[0])|int(h[1])<<8|int(h[2])<<16)
	if _, err := io.ReadFull(c.conn, b); err != nil {
		c.t.Fatal(err)
	}
	return b
}

// command sends a command and returns the first packet of the answer.
func (c *rawClient) command(command byte, body string) []byte {
	c.t.Helper()
	c.sequence = 0
	c.write(append([]byte{command}, body...))
	return c.read()
}

// exec runs a statement without rows.
func (c *rawClient) exec(statement string) {
	c.t.Helper()
	if got := c.command(0x03, statement); got[0] != 0 {
		c.t.Errorf("%s: got %q", statement, got)
	}
}

// value returns the one value of a query: all bytes of its row.
func (c *rawClient) value(query string) string {
	c.t.Helper()
	head := c.command(0x03, query)
	if head[0] == 0xff {
		return string(head)
	}
	for range head[0] {
		c.read()
	}
	c.read()
	row := c.read()
	c.read()
	return string(row)
}

// changeUser logs in as another account.
func (c *rawClient) changeUser(user, password, db string) []byte {
	c.t.Helper()
	b := c.command(0x11, user+"\x00\x00"+db+"\x00\x2d\x00mysql_native_password\x00")
	if b[0] != 0xfe {
		c.t.Fatalf("COM_CHANGE_USER: got %q", b)
	}
	c.write(scramble(password, b[len(b)-21:len(b)-1]))
	return c.read()
}
