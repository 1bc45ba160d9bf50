// Package connlimit bounds the open connections of a listener, all of them and those of one
// address.
package connlimit

import (
	"net"
	"net/netip"
	"sync"
)

// Listener accepts while there is room.
type Listener struct {
	net.Listener

	mu     sync.Mutex
	turn   *sync.Cond // a connection has ended, the limits have changed, or the listener is closed
	most   int
	each   int // connections of one address; 0 for any number
	open   int
	counts map[netip.Prefix]int
	closed bool
}

// New returns a listener of at most n open connections: more wait. Of one address there are at most
// each, 0 for any number: what is more is closed.
func New(l net.Listener, n, each int) *Listener {
	out := &Listener{Listener: l, most: n, each: each, counts: map[netip.Prefix]int{}}
	out.turn = sync.NewCond(&out.mu)
	return out
}

// SetLimits changes the limits of New. Connections that are open stay until they end.
func (l *Listener) SetLimits(n, each int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.most, l.each = n, each
	l.turn.Broadcast()
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		if !l.wait() {
			return nil, net.ErrClosed
		}
		c, err := l.Listener.Accept()
		if err != nil {
			l.leave(netip.Prefix{}, false)
			return nil, err
		}
		from := Network(c.RemoteAddr().String())
		if l.enter(from) {
			return &conn{Conn: c, leave: sync.OnceFunc(func() { l.leave(from, true) })}, nil
		}
		_ = c.Close()
		l.leave(from, false)
	}
}

// wait takes a place for a connection that is to come; false where the listener is closed.
func (l *Listener) wait() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.open >= l.most && !l.closed {
		l.turn.Wait()
	}
	l.open++
	return !l.closed
}

// enter counts a connection of an address, if it may have one more.
func (l *Listener) enter(from netip.Prefix) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.each > 0 && l.counts[from] >= l.each {
		return false
	}
	l.counts[from]++
	return true
}

// leave gives a place back, and that of the address where one was counted.
func (l *Listener) leave(from netip.Prefix, counted bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if counted {
		if l.counts[from]--; l.counts[from] == 0 {
			delete(l.counts, from)
		}
	}
	l.turn.Signal()
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.turn.Broadcast()
	l.mu.Unlock()
	return l.Listener.Close()
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
	leave func()
}

// Close implements net.Conn.
func (c *conn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
