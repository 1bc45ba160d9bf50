package wire

import (
	"context"
	"net"
	"sync"
)

// Doors is a listener that this process can enter as well: for the console, whose statements take
// the way of every client's, the login included.
type Doors struct {
	net.Listener
	accepted chan accepted
	end      chan struct{}
	once     sync.Once
}

type accepted struct {
	conn net.Conn
	err  error
}

// NewDoors opens the inner door of a listener.
func NewDoors(l net.Listener) *Doors {
	d := &Doors{Listener: l, accepted: make(chan accepted), end: make(chan struct{})}
	go d.pump()
	return d
}

// pump hands over those who come from outside.
func (d *Doors) pump() {
	for {
		c, err := d.Listener.Accept()
		select {
		case d.accepted <- accepted{c, err}:
		case <-d.end:
			if c != nil {
				_ = c.Close()
			}
			return
		}
	}
}

// Accept implements net.Listener.
func (d *Doors) Accept() (net.Conn, error) {
	select {
	case a := <-d.accepted:
		return a.conn, a.err
	case <-d.end:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (d *Doors) Close() error {
	d.once.Do(func() { close(d.end) })
	return d.Listener.Close()
}

// Dial connects from within, on behalf of somebody at an address: accounts that are bound to a
// host, limits and the brake on guessed passwords see that address.
func (d *Doors) Dial(ctx context.Context, from net.Addr) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case d.accepted <- accepted{conn: onBehalf{theirs, from}}:
		return ours, nil
	case <-d.end:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// onBehalf is a connection from within.
type onBehalf struct {
	net.Conn
	from net.Addr
}

// RemoteAddr implements net.Conn.
func (c onBehalf) RemoteAddr() net.Addr { return c.from }
