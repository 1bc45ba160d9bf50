package main

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// breaks makes connections that break, at moments that are drawn from a seed.
type breaks struct {
	mu    sync.Mutex
	rand  *rand.Rand
	often int          // a connection lives for 1 to twice this many writes
	count atomic.Int64 // of broken connections
}

var errBroken = errors.New("the test broke this connection")

// dial connects to an address.
func (b *breaks) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return &breaking{Conn: conn, of: b, left: 1 + b.rand.IntN(2*b.often), half: b.rand.IntN(2) == 0}, nil
}

// breaking is a connection that breaks with one of its writes: in its middle, or behind it, so that
// the statement is carried out and the client does not hear of it.
type breaking struct {
	net.Conn
	of   *breaks
	left int
	half bool
}

func (c *breaking) Write(b []byte) (int, error) {
	if c.left--; c.left > 0 {
		return c.Conn.Write(b)
	}
	c.of.count.Add(1)
	if c.half {
		n, err := c.Conn.Write(b[:len(b)/2])
		return n, errors.Join(errBroken, err, c.Conn.Close())
	}
	n, err := c.Conn.Write(b)
	return n, errors.Join(err, c.Conn.Close()) // the answer is what does not come
}

// pool opens connections to one address for many contributors; those of nil do not break.
// Statements are prepared, or text with the values in it.
func (b *breaks) pool(t *testing.T, addr, user, password string, text bool) *sql.DB {
	t.Helper()
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.Logger = user, password, "tcp", addr, &mysql.NopLogger{}
	c.InterpolateParams = text
	if b != nil {
		c.DialFunc = b.dial
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxIdleConns(64)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// fixedAddress is a free address of loopback outside the range from which the system takes ports
// for outgoing connections, so that a process that was killed can be started there again.
func fixedAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 20_000 + rand.IntN(10_000)})
		if err != nil {
			continue
		}
		defer l.Close()
		return l.Addr().String()
	}
	t.Fatal("no port is free")
	return ""
}
