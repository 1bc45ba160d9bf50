package contribute

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
)

// Dial opens a connection, as (*net.Dialer).DialContext does and mysql.Config.DialFunc wants.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// DialBytes is a limit for LimitDial that leaves room for the parameters of several collections.
const DialBytes = 16 << 20

// LimitDial returns a Dial whose connections break off after so many bytes from the other side,
// where a driver would read on as long as a server sends. dial is nil for the net package's.
func LimitDial(dial Dial, bytes int64) Dial {
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l := &limited{Conn: c}
		l.left.Store(bytes)
		return l, nil
	}
}

// limited is a connection that reads so many bytes and no more.
type limited struct {
	net.Conn
	left atomic.Int64
}

var errTooMuch = errors.New("contribute: the server sends more than any collection needs")

// Read implements net.Conn.
func (l *limited) Read(b []byte) (int, error) {
	left := l.left.Load()
	if left <= 0 {
		return 0, errTooMuch
	}
	n, err := l.Conn.Read(b[:min(int64(len(b)), left)])
	l.left.Add(-int64(n))
	return n, err
}
