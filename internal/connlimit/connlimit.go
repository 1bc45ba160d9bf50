// Package connlimit bounds the open connections of a listener, all of them and those of one
// address.
package connlimit

import (
	"net"
	"sync"
)

// listener accepts while there is room.
type listener struct {
	net.Listener
	room chan struct{}
	end  chan struct{}
	once sync.Once

	each   int // connections of one address; 0 for any number
	mu     sync.Mutex
	counts map[string]int
}

// New returns a listener of at most n open connections: more wait. Of one address there are at most
// each, 0 for any number: what is more is closed.
func New(l net.Listener, n, each int) net.Listener {
	return &listener{Listener: l, room: make(chan struct{}, n), end: make(chan struct{}), each: each, counts: map[string]int{}}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		select {
		case l.room <- struct{}{}:
		case <-l.end:
			return nil, net.ErrClosed
		}
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.room
			return nil, err
		}
		from := host(c)
		if l.enter(from) {
			return &conn{Conn: c, leave: sync.OnceFunc(func() { l.leave(from) })}, nil
		}
		_ = c.Close()
		<-l.room
	}
}

func host(c net.Conn) string {
	h, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return c.RemoteAddr().String()
	}
	return h
}

// enter counts a connection of an address, if it may have one more.
func (l *listener) enter(from string) bool {
	if l.each == 0 {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts[from] >= l.each {
		return false
	}
	l.counts[from]++
	return true
}

// leave gives a connection's place back.
func (l *listener) leave(from string) {
	<-l.room
	if l.each == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts[from]--; l.counts[from] == 0 {
		delete(l.counts, from)
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.end) })
	return l.Listener.Close()
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
