package wire_test

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"scrim/engine/mysql/wire"
)

// raw is a client that sends what a test says, packet by packet.
type raw struct {
	t        *testing.T
	conn     net.Conn
	r        *bufio.Reader
	sequence byte
	salt     []byte
}

const (
	capabilities = 1 | 8 | 1<<7 | 1<<9 | 1<<13 | 1<<15 | 1<<17 | 1<<19
	multi        = 1 << 16
	deprecateEOF = 1 << 24
)

// connect reads the greeting.
func connect(t *testing.T, l *wire.Listener) *raw {
	t.Helper()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
	c := &raw{t: t, conn: conn, r: bufio.NewReader(conn)}
	g := c.read()
	end := bytes.IndexByte(g[1:], 0) + 2
	c.salt = append(append([]byte(nil), g[end+4:end+12]...), g[end+31:end+43]...)
	return c
}

// secure goes on in TLS.
func (c *raw) secure() {
	c.t.Helper()
	request := binary.LittleEndian.AppendUint32(nil, capabilities|1<<11)
	c.write(append(request, make([]byte, 28)...))
	s := tls.Client(c.conn, &tls.Config{InsecureSkipVerify: true})
	if err := s.Handshake(); err != nil {
		c.t.Fatal(err)
	}
	c.conn, c.r = s, bufio.NewReader(s)
}

// native is the response of mysql_native_password.
func native(password string, salt []byte) []byte {
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	mask := sha1.Sum(append(append([]byte(nil), salt...), twice[:]...))
	for i := range mask {
		mask[i] ^= once[i]
	}
	return mask[:]
}

// login logs the account native in.
func (c *raw) login(more uint32) *raw {
	c.t.Helper()
	b := binary.LittleEndian.AppendUint32(nil, capabilities|more)
	b = append(b, make([]byte, 28)...)
	b = append(b, "native\x00\x14"...)
	b = append(b, native("secret", c.salt)...)
	b = append(b, "first\x00mysql_native_password\x00"...)
	c.write(b)
	if got := c.read(); got[0] != 0 {
		c.t.Fatalf("login: got %q, want OK", got)
	}
	return c
}

func (c *raw) write(payload []byte) {
	n := len(payload)
	_, err := c.conn.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), c.sequence}, payload...))
	if err != nil {
		c.t.Error(err)
	}
	c.sequence++
}

// command sends a command.
func (c *raw) command(payload ...byte) {
	c.sequence = 0
	c.write(payload)
}

func (c *raw) text(command byte, text string) { c.command(append([]byte{command}, text...)...) }

// read returns the next packet, nil at the connection's end; its sequence number must be the next
// one.
func (c *raw) read() []byte {
	c.t.Helper()
	var h [4]byte
	if _, err := io.ReadFull(c.r, h[:]); err != nil {
		return nil
	}
	if h[3] != c.sequence {
		c.t.Errorf("got sequence number %d, want %d", h[3], c.sequence)
	}
	c.sequence = h[3] + 1
	b := make([]byte, int(h[0])|int(h[1])<<8|int(h[2])<<16)
	if _, err := io.ReadFull(c.r, b); err != nil {
		return nil
	}
	return b
}

// ok reads an OK packet.
func (c *raw) ok() []byte {
	c.t.Helper()
	b := c.read()
	if len(b) < 7 || b[0] != 0 {
		c.t.Fatalf("got %q, want OK", b)
	}
	return b
}

// failed reads an ERR packet.
func (c *raw) failed(errno uint16) {
	c.t.Helper()
	b := c.read()
	if len(b) < 9 || b[0] != 0xff || binary.LittleEndian.Uint16(b[1:]) != errno {
		c.t.Fatalf("got %q, want error %d", b, errno)
	}
}

// rows reads a result with old EOF packets, and returns its rows and the flags of the last packet.
// A result may end in an error, which is then the last row.
func (c *raw) rows() (rows [][]byte, flags uint16) {
	c.t.Helper()
	head := c.read()
	if len(head) != 1 || head[0] == 0 || head[0] >= 0xfb {
		c.t.Fatalf("got %q, want a number of columns", head)
	}
	for range head[0] {
		c.read()
	}
	if b := c.read(); len(b) != 5 || b[0] != 0xfe {
		c.t.Fatalf("got %q behind the columns, want EOF", b)
	}
	for {
		switch b := c.read(); {
		case b == nil:
			c.t.Fatal("the connection ended inside a result")
		case len(b) == 5 && b[0] == 0xfe:
			return rows, binary.LittleEndian.Uint16(b[3:])
		case b[0] == 0xff:
			return append(rows, b), 0
		default:
			rows = append(rows, b)
		}
	}
}

// alive checks that the connection still answers.
func (c *raw) alive() {
	c.t.Helper()
	c.command(0x0e)
	c.ok()
}

// gone checks that the server has closed the connection.
func (c *raw) gone() {
	c.t.Helper()
	_ = c.conn.SetReadDeadline(time.Now().Add(time.Minute))
	b, err := c.r.ReadByte()
	var timeout net.Error
	if err == nil {
		c.t.Errorf("got %x, want the connection's end", b)
	} else if e, ok := err.(net.Error); ok && e.Timeout() {
		timeout = e
		c.t.Errorf("the connection is open: %v", timeout)
	}
}
