package monitor

import (
	"net"
	"sync"
)

// maxHTTP bounds the open HTTP connections, so that they leave files for the clients of the
// database. More wait.
const maxHTTP = 128

// limitedListener accepts while there is room.
type limitedListener struct {
	net.Listener
	room chan struct{}
	end  chan struct{}
	once sync.Once
}

func limited(l net.Listener, n int) net.Listener {
	return &limitedListener{Listener: l, room: make(chan struct{}, n), end: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *limitedListener) Accept() (net.Conn, error) {
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
	return &limitedConn{Conn: c, leave: sync.OnceFunc(func() { <-l.room })}, nil
}

// Close implements net.Listener.
func (l *limitedListener) Close() error {
	l.once.Do(func() { close(l.end) })
	return l.Listener.Close()
}

// limitedConn gives its place back when it closes.
type limitedConn struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
