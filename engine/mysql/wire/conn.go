package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/vitess/go/mysql"
)

// errors that end a connection.
var (
	errOversize = errors.New("wire: packet over the limit")
	errSequence = errors.New("wire: packets out of order")
	errPlain    = errors.New("wire: connection in clear where TLS is required")
	errNoTLS    = errors.New("wire: TLS asked for where it is not offered")
	errLogin    = errors.New("wire: login refused")
)

const (
	// chunk is how much of a packet is waited for at a time, and how much of a result is held back.
	chunk = 16 << 10
	// keep is the largest buffer that outlives the packet it was made for.
	keep = 64 << 10
	// bodyTimeout bounds the wait for the next part of a packet that has begun, and writeTimeout
	// how long a client may leave a part of its result unread, unless the handler says otherwise.
	bodyTimeout  = 30 * time.Second
	writeTimeout = 60 * time.Second
)

// Conn is one client's connection. One goroutine reads commands and writes their results; Close and
// the watch of WaitForClient may come from others.
type Conn struct {
	raw      net.Conn
	listener *Listener
	stream   atomic.Pointer[net.Conn] // raw, or the TLS connection over it
	secure   atomic.Bool
	once     sync.Once

	peer         *mysql.Conn // the connection as the handler knows it
	capabilities uint32
	salt         []byte // that the client has seen last

	buffered *bufio.Reader // after the login
	in       []byte        // the packet that was read last
	heldIn   int           // bytes of it that are counted, see hold
	out      []byte        // packets not sent yet
	sequence byte
	failed   error // of a write: nothing can be sent any more
	timeouts Timeouts

	statements statements

	received, sent atomic.Uint64 // bytes of packets, headers included
}

var _ net.Conn = (*Conn)(nil)

func newConn(raw net.Conn, l *Listener) *Conn {
	c := &Conn{raw: raw, listener: l}
	c.stream.Store(&raw)
	_ = raw.SetDeadline(time.Now().Add(l.cfg.AuthTimeout))
	return c
}

func (c *Conn) conn() net.Conn { return *c.stream.Load() }

// Of returns the connection under a handler's one, nil where it is another's.
func Of(m *mysql.Conn) *Conn {
	c, _ := m.Conn.(*Conn)
	return c
}

// Secure reports whether the connection is in TLS.
func (c *Conn) Secure() bool { return c.secure.Load() }

// Traffic is how many bytes of packets the client has sent, and how many have been sent to it.
func (c *Conn) Traffic() (received, sent uint64) { return c.received.Load(), c.sent.Load() }

// TLS names the version and the cipher suite of a connection in TLS, as MySQL writes them; "" in
// clear.
func (c *Conn) TLS() (version, cipher string) {
	secure, ok := c.conn().(*tls.Conn)
	if !ok {
		return "", ""
	}
	state := secure.ConnectionState()
	return strings.Replace(tls.VersionName(state.Version), "TLS ", "TLSv", 1), tls.CipherSuiteName(state.CipherSuite)
}

// Interactive reports whether the client says that a person types.
func (c *Conn) Interactive() bool { return c.capabilities&capInteractive != 0 }

// LocalFiles reports whether the client may be asked for a file.
func (c *Conn) LocalFiles() bool { return c.capabilities&capLocalFiles != 0 }

func (c *Conn) can(capability uint32) bool { return c.capabilities&capability != 0 }

// source is what packets are read from: without a buffer before TLS could start.
func (c *Conn) source() io.Reader {
	if c.buffered != nil {
		return c.buffered
	}
	return c.conn()
}

// read returns the next packet of at most limit bytes, joined from its parts. It is valid until the
// next read.
func (c *Conn) read(limit int) ([]byte, error) {
	c.dropPacket()
	for {
		var header [headerSize]byte
		if _, err := io.ReadFull(c.source(), header[:]); err != nil {
			return nil, err
		}
		if header[3] != c.sequence {
			return nil, errSequence
		}
		c.sequence++
		n := payloadLength(header[:])
		c.received.Add(uint64(headerSize + n))
		c.listener.received.Add(uint64(headerSize + n))
		if len(c.in)+n > limit {
			return nil, errOversize
		}
		if err := c.fill(n); err != nil {
			return nil, err
		}
		if n < maxPayload {
			return c.in, nil
		}
	}
}

// fill reads n bytes more. Memory is taken as they come.
func (c *Conn) fill(n int) error {
	for n > 0 {
		start, step := len(c.in), min(n, max(chunk, len(c.in)))
		if start+step > keep {
			if err := c.listener.hold(step); err != nil {
				return err
			}
			c.heldIn += step
		}
		c.in = slices.Grow(c.in, step)[:start+step]
		if c.buffered != nil {
			_ = c.conn().SetReadDeadline(time.Now().Add(c.timeouts.body()))
		}
		if _, err := io.ReadFull(c.source(), c.in[start:]); err != nil {
			return err
		}
		n -= step
	}
	return nil
}

// packet begins a packet in out and returns where.
func (c *Conn) packet() (start int) {
	c.out = append(c.out, 0, 0, 0, 0)
	return len(c.out) - headerSize
}

// end ends the packet that began at start.
func (c *Conn) end(start int) error {
	n := len(c.out) - start - headerSize
	if n >= maxPayload {
		c.split(start)
	} else {
		c.head(start, n)
	}
	if len(c.out) >= chunk {
		return c.flush()
	}
	return c.failed
}

func (c *Conn) head(at, n int) {
	h := c.out[at : at+headerSize]
	h[0], h[1], h[2], h[3] = byte(n), byte(n>>8), byte(n>>16), c.sequence
	c.sequence++
}

// split makes several packets of a payload that is too long for one. The last may be empty.
func (c *Conn) split(start int) {
	payload := slices.Clone(c.out[start+headerSize:])
	c.out = c.out[:start]
	for more := true; more; {
		n := min(len(payload), maxPayload)
		at := c.packet()
		c.out = append(c.out, payload[:n]...)
		c.head(at, n)
		payload, more = payload[n:], n == maxPayload
	}
}

// flush sends what is held back.
func (c *Conn) flush() error {
	if c.failed == nil && len(c.out) > 0 {
		if c.buffered != nil {
			_ = c.conn().SetWriteDeadline(time.Now().Add(c.timeouts.write()))
		}
		c.sent.Add(uint64(len(c.out)))
		c.listener.sent.Add(uint64(len(c.out)))
		_, c.failed = c.conn().Write(c.out)
	}
	if c.out = c.out[:0]; cap(c.out) > keep {
		c.listener.returned(cap(c.out))
		c.out = nil
	}
	return c.failed
}

// startTLS answers an SSLRequest. Exactly the request has been read.
func (c *Conn) startTLS(request []byte) error {
	if c.listener.cfg.TLS == nil || len(request) != sslRequestSize {
		return errNoTLS
	}
	bounded := &greeted{c.raw, 2 * c.listener.cfg.MaxPreAuthPacket}
	secure := tls.Server(bounded, c.listener.cfg.TLS)
	if err := secure.Handshake(); err != nil {
		return err
	}
	bounded.left = -1
	var conn net.Conn = secure
	c.stream.Store(&conn)
	c.secure.Store(true)
	return nil
}

// Read implements net.Conn.
func (c *Conn) Read(p []byte) (int, error) { return c.conn().Read(p) }

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) { return c.conn().Write(p) }

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

// SetDeadline implements net.Conn.
func (c *Conn) SetDeadline(t time.Time) error { return c.conn().SetDeadline(t) }

// SetReadDeadline implements net.Conn.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.conn().SetReadDeadline(t) }

// SetWriteDeadline implements net.Conn.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.conn().SetWriteDeadline(t) }

// WaitForClient waits, while a statement runs, until its client goes away or sends COM_QUIT, which
// is true, or until ctx ends. A client may send its next commands already; they stay unread. It
// must have returned before the connection is read again.
func (c *Conn) WaitForClient(ctx context.Context) bool {
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn().SetReadDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	gone := c.waitForEnd()
	if !stop() {
		<-interrupted
	}
	_ = c.conn().SetReadDeadline(time.Time{})
	return gone && ctx.Err() == nil
}

// waitForEnd looks at what comes until that is COM_QUIT or the end, or until no more can be looked
// at.
func (c *Conn) waitForEnd() (gone bool) {
	for {
		waiting := c.buffered.Buffered()
		if quits, more := hasQuit(c.buffered, waiting); quits || !more {
			return quits
		}
		if _, err := c.buffered.Peek(waiting + 1); err != nil {
			return true
		}
	}
}

type peeker interface{ Peek(n int) ([]byte, error) }

// hasQuit looks for COM_QUIT among n waiting bytes; more is false when later ones could not be
// seen.
func hasQuit(p peeker, n int) (quits, more bool) {
	b, _ := p.Peek(n)
	for len(b) > headerSize {
		size := payloadLength(b)
		if size == 1 && b[headerSize] == comQuit {
			return true, true
		}
		if len(b) < headerSize+size {
			break
		}
		b = b[headerSize+size:]
	}
	return false, n < chunk
}

// LocalFile asks the client for a file of its own and returns what it sends. Close reads the rest
// of it and must come before anything else is sent. The client must allow it, see LocalFiles.
func (c *Conn) LocalFile(ctx context.Context, name string) (io.ReadCloser, error) {
	at := c.packet()
	c.out = append(append(c.out, packetLocalFile), name...)
	if err := c.end(at); err != nil {
		return nil, err
	}
	if err := c.flush(); err != nil {
		return nil, err
	}
	return &localFile{ctx: ctx, c: c}, nil
}

// localFile is a file on its way. An empty packet ends it.
type localFile struct {
	ctx  context.Context
	c    *Conn
	part []byte
	err  error
}

// Read implements io.Reader.
func (f *localFile) Read(p []byte) (int, error) {
	for len(f.part) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		if err := f.ctx.Err(); err != nil {
			return 0, err
		}
		f.next()
	}
	n := copy(p, f.part)
	f.part = f.part[n:]
	return n, nil
}

func (f *localFile) next() {
	_ = f.c.conn().SetReadDeadline(time.Now().Add(f.c.timeouts.body()))
	f.part, f.err = f.c.read(f.c.listener.cfg.MaxPacket)
	switch {
	case f.err == io.EOF: // of the connection: the file goes on
		f.err = io.ErrUnexpectedEOF
	case f.err == nil && len(f.part) == 0:
		f.err = io.EOF
	}
}

// Close implements io.Closer.
func (f *localFile) Close() error {
	for f.err == nil {
		f.next()
	}
	f.part = nil
	if f.err != io.EOF {
		f.c.failed = f.err // the connection is out of step
		return f.err
	}
	return nil
}
