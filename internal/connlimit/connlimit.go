// Package connlimit bounds the open connections of a listener, and the requests that are answered
// on them: all, and those of one address.
package connlimit

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Listener accepts at any time. Where all connections are taken, one on which no request is being
// answered is closed for the one that comes: whoever opens connections and says nothing, or begins
// requests and does not end them, keeps nobody out.
type Listener struct {
	net.Listener

	mu   sync.Mutex
	most int // connections
	each int // requests of one address at a time; 0 for any number
	open map[*conn]struct{}
	busy map[netip.Prefix]int // requests that are being answered, by address
	all  int                  // of these
}

// New returns a listener of at most n open connections. Seven eighths of as many requests are
// answered at a time, so that there are connections to close, and of one address each, 0 for any
// number.
func New(l net.Listener, n, each int) *Listener {
	return &Listener{Listener: l, most: n, each: each, open: map[*conn]struct{}{}, busy: map[netip.Prefix]int{}}
}

// SetLimits changes the limits of New. What is being answered goes on.
func (l *Listener) SetLimits(n, each int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most, l.each = n, each
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		raw, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.enter(raw); c != nil {
			return c, nil
		}
		_ = raw.Close()
	}
}

// enter counts a connection; nil where all that are open are answering.
func (l *Listener) enter(raw net.Conn) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.open) >= l.most {
		old := l.quietest()
		if old == nil {
			return nil
		}
		delete(l.open, old)
		_ = old.Conn.Close()
	}
	c := &conn{Conn: raw, of: l, from: Network(raw.RemoteAddr().String()), since: time.Now()}
	l.open[c] = struct{}{}
	return c
}

// quietest returns the connection to close for another one: of the address with most of those that
// answer nothing, the one that has been so for longest. Nil where there is none. l.mu is held.
func (l *Listener) quietest() (found *conn) {
	quiet := map[netip.Prefix]int{}
	for c := range l.open {
		if c.requests == 0 {
			quiet[c.from]++
		}
	}
	for c := range l.open {
		if c.requests == 0 && (found == nil || quiet[c.from] > quiet[found.from] || quiet[c.from] == quiet[found.from] && c.since.Before(found.since)) {
			found = c
		}
	}
	return found
}

// Answering notes that a request of one of the listener's connections is being answered, until
// done. It reports false where as many are as may be.
func (l *Listener) Answering(of net.Conn) (done func(), ok bool) {
	c := of.(*conn)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all >= max(1, l.most-l.most/8) || l.each > 0 && l.busy[c.from] >= l.each {
		return nil, false
	}
	c.requests++
	l.all++
	l.busy[c.from]++
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		c.requests--
		c.since = time.Now()
		l.all--
		if l.busy[c.from]--; l.busy[c.from] == 0 {
			delete(l.busy, c.from)
		}
	}), true
}

// Network returns what addresses, host:port, are counted by: an IPv4 address, or an IPv6 network of
// 64 bits, which is one customer's. What is no address is the zero Prefix.
func Network(address string) netip.Prefix {
	host, _, _ := net.SplitHostPort(address)
	a, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Prefix{}
	}
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}

// conn gives its place back when it closes.
type conn struct {
	net.Conn
	of       *Listener
	from     netip.Prefix
	since    time.Time // it was accepted, or its last request was answered
	requests int       // that are being answered; of.mu guards both
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
