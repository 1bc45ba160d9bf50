package wire

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Config limits what a client may do. The zero value of a limit means the default.
type Config struct {
	TLS        *tls.Config // nil: TLS is not offered
	RequireTLS bool        // close clients that go on in clear

	// connections that have logged in, default 256; administrators have one more
	MaxConnections int
	// connections that have not logged in yet, default MaxConnections
	MaxLogins   int
	AuthTimeout time.Duration // from accept to the end of the login, default 10 s
	// payload bytes of a packet before the login is done, default 16 KiB
	MaxPreAuthPacket int
	MaxPacket        int // payload bytes of one command, default 64 MiB
}

func (c Config) withDefaults() Config {
	set := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	set(&c.MaxConnections, 256)
	set(&c.MaxLogins, c.MaxConnections)
	set(&c.MaxPreAuthPacket, 16<<10)
	set(&c.MaxPacket, 64<<20)
	if c.AuthTimeout <= 0 {
		c.AuthTimeout = 10 * time.Second
	}
	return c
}

// Listener accepts guarded connections. It is safe for concurrent use.
type Listener struct {
	inner net.Listener
	cfg   Config

	mu       sync.Mutex
	conns    map[*Conn]*seat // open connections
	loggedIn int
	accounts map[string]int // connections that are logged in, by account
	logins   map[string]int // connections that have not logged in yet, by address
	closed   bool

	received, sent atomic.Uint64 // bytes of packets of all connections
	held           atomic.Int64  // bytes that all connections hold of what was sent
	free           atomic.Int64  // bytes that were let go since memory was given back
	returning      atomic.Bool   // memory is about to be given back, or has just been
}

// NewListener guards inner.
func NewListener(inner net.Listener, cfg Config) *Listener {
	return &Listener{inner: inner, cfg: cfg.withDefaults(), conns: map[*Conn]*seat{}, accounts: map[string]int{}, logins: map[string]int{}}
}

// SetLimits changes the limits of connections that come from now on.
func (l *Listener) SetLimits(connections int, authTimeout time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cfg.MaxConnections, l.cfg.MaxLogins, l.cfg.AuthTimeout = connections, connections, authTimeout
}

// accept returns the next connection that there is room for. It returns an error only when the
// listener is closed: a lack of file descriptors, say, makes it wait.
func (l *Listener) accept() (*Conn, error) {
	for pause := 5 * time.Millisecond; ; {
		raw, err := l.inner.Accept()
		if err != nil {
			if l.isClosed() || errors.Is(err, net.ErrClosed) {
				return nil, err
			}
			time.Sleep(pause)
			pause = min(2*pause, time.Second)
			continue
		}
		pause = 5 * time.Millisecond
		if c := l.admit(raw); c != nil {
			return c, nil
		}
		_ = raw.Close()
	}
}

// admit takes a place for raw among those that log in, of an older one where there is none, or
// returns nil where nobody logs in whose place it could be.
func (l *Listener) admit(raw net.Conn) *Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.closed || len(l.conns) >= l.cfg.MaxConnections+spareLogins || len(l.conns)-l.loggedIn >= l.cfg.MaxLogins {
		if l.closed || !l.makeRoom() {
			return nil
		}
	}
	from := Network(HostOf(raw.RemoteAddr()))
	c := newConn(raw, l)
	l.conns[c] = &seat{entering: true, from: from, since: time.Now()}
	l.logins[from]++
	return c
}

// authTimeout is the present limit of a login.
func (l *Listener) authTimeout() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cfg.AuthTimeout
}

func (l *Listener) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Addr is the address that is listened on.
func (l *Listener) Addr() net.Addr { return l.inner.Addr() }

// Close ends listening: no connection is accepted any more; open ones go on.
func (l *Listener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	return l.inner.Close()
}

// CloseConnections closes every open connection.
func (l *Listener) CloseConnections() {
	l.mu.Lock()
	open := make([]*Conn, 0, len(l.conns))
	for c := range l.conns {
		open = append(open, c)
	}
	l.mu.Unlock()
	var closing sync.WaitGroup
	for _, c := range open { // a client that does not read makes the end of TLS wait
		closing.Go(func() { _ = c.Close() })
	}
	closing.Wait()
}

// Traffic is how many bytes of packets all clients have sent, and how many have been sent to them.
func (l *Listener) Traffic() (received, sent uint64) { return l.received.Load(), l.sent.Load() }

// Connections returns the number of open connections.
func (l *Listener) Connections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// MaxConnections returns the present limit of open connections.
func (l *Listener) MaxConnections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cfg.MaxConnections
}
