package wire

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// errors that end a connection; the client sees a closed socket.
var (
	errOversize = errors.New("wire: packet over the limit")
	errPlain    = errors.New("wire: connection in clear where TLS is required")
	errNoTLS    = errors.New("wire: TLS asked for where it is not offered")
)

// writeTimeout bounds how long a client may leave a part of its result unread.
const writeTimeout = 2 * time.Minute

// Conn is one guarded connection. Reads and writes may run concurrently, but not two of a kind.
type Conn struct {
	raw      net.Conn
	listener *Listener
	inner    atomic.Pointer[net.Conn] // raw, or the TLS connection over it
	secure   atomic.Bool
	ready    atomic.Bool // the login is done
	once     sync.Once

	// The login exchange. It is half-duplex, so that its reads and writes never overlap.
	greeted bool
	shift   byte   // packets that the protocol implementation has not seen
	pending []byte // a checked packet on its way to the implementation
	out     []byte // a packet of the implementation, not complete yet

	frame frame
}

var _ net.Conn = (*Conn)(nil)

func newConn(raw net.Conn, l *Listener) *Conn {
	c := &Conn{raw: raw, listener: l, frame: frame{limit: l.cfg.MaxPacket}}
	c.inner.Store(&raw)
	_ = raw.SetDeadline(time.Now().Add(l.cfg.AuthTimeout))
	return c
}

func (c *Conn) conn() net.Conn { return *c.inner.Load() }

// Secure reports whether the connection is in TLS.
func (c *Conn) Secure() bool { return c.secure.Load() }

// Ready reports whether the login is done.
func (c *Conn) Ready() bool { return c.ready.Load() }

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) {
	if c.ready.Load() && len(c.pending) == 0 {
		return c.readCommand(p)
	}
	if len(c.pending) == 0 {
		if err := c.readLogin(); err != nil {
			_ = c.Close()
			return 0, err
		}
	}
	n := copy(p, c.pending)
	c.pending = c.pending[n:]
	return n, nil
}

// readCommand reads what clients send after the login. COM_STATISTICS, which the protocol
// implementation does not know, is answered here.
func (c *Conn) readCommand(p []byte) (int, error) {
	for {
		n, err := c.conn().Read(p)
		if err == nil && c.frame.idle() && isStatistics(p[:n]) {
			if _, err := c.Write(textPacket(1, c.listener.statistics())); err != nil {
				return 0, err
			}
			continue
		}
		if !c.frame.admit(p[:n]) {
			_ = c.Close()
			return 0, errOversize
		}
		return n, err
	}
}

// readLogin reads one whole packet of the login exchange into pending.
func (c *Conn) readLogin() error {
	packet, err := c.readPacket()
	if err != nil {
		return err
	}
	if !c.greeted {
		c.greeted = true
		if wantsTLS(packet[headerSize:]) {
			if err := c.startTLS(packet); err != nil {
				return err
			}
			if packet, err = c.readPacket(); err != nil {
				return err
			}
		} else if c.listener.cfg.RequireTLS {
			_, _ = c.raw.Write(errorPacket(packet[3]+1, errInsecure, "HY000",
				"Connections using insecure transport are prohibited while --require-tls is on."))
			return errPlain
		}
	}
	packet[3] -= c.shift
	c.pending = packet
	return nil
}

// readPacket reads a packet, header included, within the cap for the login.
func (c *Conn) readPacket() ([]byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(c.conn(), header[:]); err != nil {
		return nil, err
	}
	n := payloadLength(header[:])
	if n > c.listener.cfg.MaxPreAuthPacket {
		return nil, errOversize
	}
	packet := make([]byte, headerSize+n)
	copy(packet, header[:])
	_, err := io.ReadFull(c.conn(), packet[headerSize:])
	return packet, err
}

// startTLS answers an SSLRequest. Exactly the request may have been sent before TLS starts: it is
// read without any buffering beyond it.
func (c *Conn) startTLS(request []byte) error {
	if c.listener.cfg.TLS == nil || len(request) != headerSize+sslRequestSize {
		return errNoTLS
	}
	secure := tls.Server(c.raw, c.listener.cfg.TLS)
	if err := secure.Handshake(); err != nil {
		return err
	}
	var conn net.Conn = secure
	c.inner.Store(&conn)
	c.secure.Store(true)
	c.shift = 1
	return nil
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	if c.ready.Load() {
		_ = c.conn().SetWriteDeadline(time.Now().Add(writeTimeout))
		return c.conn().Write(namesSyntaxErrors(p))
	}
	c.out = append(c.out, p...)
	for len(c.out) >= headerSize {
		n := headerSize + payloadLength(c.out)
		if len(c.out) < n {
			break
		}
		if err := c.writeLogin(c.out[:n]); err != nil {
			return 0, err
		}
		c.out = append([]byte(nil), c.out[n:]...)
	}
	return len(p), nil
}

// writeLogin sends one whole packet of the login exchange. The server's OK ends the exchange.
func (c *Conn) writeLogin(packet []byte) error {
	payload := packet[headerSize:]
	if packet[3] == 0 {
		adjustGreeting(payload, c.listener.cfg.TLS != nil)
	} else {
		packet[3] += c.shift
	}
	done := len(payload) > 0 && payload[0] == packetOK
	if done {
		_ = c.raw.SetDeadline(time.Time{})
	}
	if _, err := c.conn().Write(packet); err != nil {
		return err
	}
	if done {
		c.ready.Store(true)
		c.listener.loggedIn(c)
	}
	return nil
}

// Close implements net.Conn. It may be called more than once, from any goroutine.
func (c *Conn) Close() error {
	err := net.ErrClosed
	c.once.Do(func() {
		err = c.conn().Close()
		c.listener.release(c)
	})
	return err
}

// LocalAddr implements net.Conn.
func (c *Conn) LocalAddr() net.Addr { return c.raw.LocalAddr() }

// RemoteAddr implements net.Conn.
func (c *Conn) RemoteAddr() net.Addr { return c.raw.RemoteAddr() }

// SetDeadline implements net.Conn; before the login is done the deadline is the listener's own.
func (c *Conn) SetDeadline(t time.Time) error {
	if !c.ready.Load() {
		return nil
	}
	return c.conn().SetDeadline(t)
}

// SetReadDeadline implements net.Conn; before the login is done the deadline is the listener's own.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if !c.ready.Load() {
		return nil
	}
	return c.conn().SetReadDeadline(t)
}

// SetWriteDeadline implements net.Conn; before the login is done the deadline is the listener's own.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if !c.ready.Load() {
		return nil
	}
	return c.conn().SetWriteDeadline(t)
}
