package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"sync"
	"time"
)

// What clients send is held in memory until it is worked on: packets, and long data of prepared
// statements. A connection holds one packet and long data of at most heldByOne times the largest,
// and all together at most heldByAll times. Buffers up to keep bytes are not counted.
const (
	heldByOne = 2
	heldByAll = 4
)

// Collecting garbage at once gives memory back that would otherwise wait for the heap to fill
// again.
const (
	returnAfter = 8 << 20 // bytes that are not held any more
	returnEvery = 5 * time.Second
)

// Errors of what does not fit.
var (
	errHeld   = errors.New("wire: one connection holds too much")
	errNoRoom = errors.New("wire: all connections together hold too much")
)

// hold counts n bytes more of all connections, or tells that they may not be held.
func (l *Listener) hold(n int) error {
	if l.held.Add(int64(n)) > heldByAll*int64(l.cfg.MaxPacket) {
		l.held.Add(-int64(n))
		return errNoRoom
	}
	return nil
}

// Held is how many bytes of what clients have sent are held.
func (l *Listener) Held() int64 { return l.held.Load() }

// letGo is told that n bytes are not held any more.
func (l *Listener) letGo(n int) {
	l.held.Add(-int64(n))
	l.returned(n)
}

// returned gives memory back to the operating system once so much of it is free.
func (l *Listener) returned(n int) {
	if l.free.Add(int64(n)) < returnAfter || !l.returning.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(time.Second, func() {
		l.free.Store(0)
		debug.FreeOSMemory()
		time.AfterFunc(returnEvery, func() {
			l.returning.Store(false)
			l.returned(0) // what was let go meanwhile
		})
	})
}

// dropPacket forgets the packet that was read last, and its buffer if that is large.
func (c *Conn) dropPacket() {
	if c.in = c.in[:0]; cap(c.in) > keep {
		c.in = nil
	}
	c.listener.letGo(c.heldIn)
	c.heldIn = 0
}

// forgetSent forgets all that the client has sent.
func (c *Conn) forgetSent() {
	c.dropPacket()
	c.listener.letGo(c.statements.long)
	c.statements = statements{}
}

// tooMuch words why something was not held.
func (c *Conn) tooMuch(err error) (errno uint16, state, text string) {
	most := c.listener.cfg.MaxPacket
	switch {
	case errors.Is(err, errHeld):
		return errCapacity, "HY000", fmt.Sprintf("Memory capacity of %d bytes for 'long data of a connection' exceeded. Execute, reset or close a statement that has some.", heldByOne*most)
	case errors.Is(err, errNoRoom):
		return errNoMemory, "HY000", fmt.Sprintf("Out of memory; the packets of all clients hold the %d bytes that there are for them. Try again.", heldByAll*most)
	case errors.Is(err, errOversize):
		return errUnknown, "HY000", "Parameter of prepared statement which is set through mysql_send_long_data() is longer than 'max_allowed_packet' bytes"
	}
	return errWrongArgs, "HY000", "Incorrect arguments to mysqld_stmt_execute"
}

// greeted bounds what a client may send before TLS has begun: the TLS library keeps it in memory.
type greeted struct {
	net.Conn
	left int // -1: any number
}

// Read implements net.Conn.
func (g *greeted) Read(p []byte) (int, error) {
	if g.left < 0 {
		return g.Conn.Read(p)
	}
	if g.left == 0 {
		return 0, errOversize
	}
	n, err := g.Conn.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}

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
