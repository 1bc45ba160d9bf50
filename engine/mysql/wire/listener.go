package wire

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dolthub/vitess/go/mysql"
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
	open := slices.Collect(maps.Keys(l.conns))
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

// seat is what an open connection takes of the listener's limits: a place among those that log in,
// and then one among those that have, which is also its account's.
type seat struct {
	entering bool   // it has not logged in yet
	from     string // the address that this counts for
	since    time.Time
	loggedIn bool
	account  string
}

// spareLogins are connections beyond MaxConnections that may begin to log in: who holds the place
// for administrators is known only then, and those who are refused must not keep an administrator
// out.
const spareLogins = 32

// makeRoom closes a connection that has not logged in yet, for another one: of the address that has
// most of them the oldest. Whoever opens connections and says nothing loses their own; who logs in
// needs its place only for as long as that takes. It reports false where there is none. l.mu is
// held.
func (l *Listener) makeRoom() bool {
	var oldest *Conn
	var of *seat
	for c, s := range l.conns {
		if s.entering && (of == nil || l.logins[s.from] > l.logins[of.from] || l.logins[s.from] == l.logins[of.from] && s.since.Before(of.since)) {
			oldest, of = c, s
		}
	}
	if of == nil {
		return false
	}
	l.entered(of)
	delete(l.conns, oldest)
	_ = oldest.raw.Close() // not in TLS, whose end waits for the client
	return true
}

// entered notes that a connection is not one any more that has not logged in yet. l.mu is held.
func (l *Listener) entered(s *seat) {
	if !s.entering {
		return
	}
	s.entering = false
	if l.logins[s.from]--; l.logins[s.from] == 0 {
		delete(l.logins, s.from)
	}
}

// seat gives a client that has shown its password a place, or tells MySQL's error. An administrator
// may take one more than there are, and any number of its account's.
func (l *Listener) seat(c *Conn, login *Login) error {
	err := l.take(c, login, false)
	if err != nil && login.Administrator != nil && login.Administrator() {
		return l.take(c, login, true)
	}
	return err
}

func (l *Listener) take(c *Conn, login *Login, administrator bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.conns[c]
	if s == nil {
		return errLogin // closed meanwhile
	}
	l.leave(s)
	limit := l.cfg.MaxConnections
	if administrator {
		limit++
	}
	switch {
	case l.loggedIn >= limit:
		return mysql.NewSQLError(errTooMany, "08004", "Too many connections")
	case !administrator && login.OwnConnections > 0 && l.accounts[login.Account] >= login.OwnConnections:
		return mysql.NewSQLError(errUserLimit, "42000", "%s",
			fmt.Sprintf("User '%s' has exceeded the 'max_user_connections' resource (current value: %d)", login.User, login.OwnConnections))
	case !administrator && login.OwnConnections == 0 && login.MaxConnections > 0 && l.accounts[login.Account] >= login.MaxConnections:
		return mysql.NewSQLError(errTooManyOfUser, "42000", "%s",
			fmt.Sprintf("User %s already has more than 'max_user_connections' active connections", login.User))
	}
	l.entered(s)
	s.loggedIn, s.account = true, login.Account
	l.loggedIn++
	l.accounts[s.account]++
	return nil
}

// leave gives back what a connection holds as one that is logged in. l.mu is held.
func (l *Listener) leave(s *seat) {
	if !s.loggedIn {
		return
	}
	l.loggedIn--
	if l.accounts[s.account]--; l.accounts[s.account] == 0 {
		delete(l.accounts, s.account)
	}
	s.loggedIn, s.account = false, ""
}

// release forgets a closed connection.
func (l *Listener) release(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.conns[c]; s != nil {
		l.entered(s)
		l.leave(s)
		delete(l.conns, c)
	}
}

// HostOf is the address of a client without its port, localhost for one at a socket of this
// machine.
func HostOf(a net.Addr) string {
	if a.Network() == "unix" {
		return "localhost"
	}
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}

// Network is what is taken for one address where clients are bounded by it: of IPv6, what one
// customer has.
func Network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || !ip.Unmap().Is6() {
		return address
	}
	p, _ := ip.WithZone("").Prefix(64)
	return p.String()
}
