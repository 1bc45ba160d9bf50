package clickhouse

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"scrim/engine/store/source"
)

// silence is how long a server that runs a query may send nothing. It tells of its progress several
// times a second.
const silence = time.Minute

// reach is how long a connection may take to be made.
const reach = 10 * time.Second

// session is one connection. The settings that are set on it hold for as long as it lives: where it
// breaks, no other takes its place.
type session struct {
	driver.Conn
	net *wire
}

var errBroken = errors.New("clickhouse: the connection broke")

// errBusy is the library's pool asking for another connection because the query before is over, but
// its connection is not back yet. Nothing was sent then.
var errBusy = errors.New("clickhouse: the connection is busy")

// dial connects to a server.
func dial(ctx context.Context, at source.Endpoint) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, reach)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", at.Address)
	if err != nil || at.TLS == nil {
		return conn, err
	}
	t := tls.Client(conn, at.TLS)
	if err := t.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return t, nil
}

// wire is the connection of a session. Its reads fail when the other side sends nothing for too
// long: the library's own deadlines are of a whole query.
type wire struct {
	net.Conn
	used, broken atomic.Bool
}

// Read implements net.Conn.
func (w *wire) Read(p []byte) (n int, err error) {
	if err = w.Conn.SetReadDeadline(time.Now().Add(silence)); err == nil {
		n, err = w.Conn.Read(p)
	}
	if err != nil {
		w.broken.Store(true)
	}
	return n, err
}

// Close implements net.Conn.
func (w *wire) Close() error {
	w.broken.Store(true)
	return w.Conn.Close()
}

// SetReadDeadline implements net.Conn: Read sets its own.
func (*wire) SetReadDeadline(time.Time) error { return nil }

// SetDeadline implements net.Conn.
func (w *wire) SetDeadline(t time.Time) error { return w.Conn.SetWriteDeadline(t) }

// dialled hands the connection to the library, once.
func (w *wire) dialled(context.Context, string) (net.Conn, error) {
	switch {
	case !w.used.Swap(true):
		return w, nil
	case w.broken.Load():
		return nil, errBroken
	}
	return nil, errBusy
}

// open connects.
func open(ctx context.Context, at source.Endpoint) (*session, error) {
	made, err := dial(ctx, at)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: made}
	conn, err := clickhouse.Open(&clickhouse.Options{
		Addr:         []string{at.Address},
		Auth:         clickhouse.Auth{Username: at.User, Password: at.Password},
		DialContext:  w.dialled,
		DialTimeout:  reach,
		MaxOpenConns: 1, MaxIdleConns: 1,
		ConnMaxLifetime: 24 * time.Hour,
		Compression:     &clickhouse.Compression{Method: clickhouse.CompressionLZ4},
	})
	if err != nil {
		made.Close()
		return nil, err
	}
	out := &session{conn, w}
	if err := out.run(ctx, conn.Ping); err != nil {
		out.close()
		return nil, err
	}
	return out, nil
}

// close ends the connection, and what runs on it.
func (s *session) close() {
	s.net.Close()
	s.Conn.Close()
}

// run does something that is over when the connection is. Its context is never cancelled: when ctx
// ends, the connection is closed instead. A cancelled context makes clickhouse-go close a channel
// that its reader may still send to, which would end the process (its pull request 1677).
func (s *session) run(ctx context.Context, f func(context.Context) error) error {
	stop := context.AfterFunc(ctx, func() { s.net.Close() })
	err := f(context.WithoutCancel(ctx))
	for errors.Is(err, errBusy) && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
		err = f(context.WithoutCancel(ctx))
	}
	if !stop() { // ctx has ended: whatever f says, it may have had only a part
		return ctx.Err()
	}
	return err
}

// rows runs a query, and calls each with a function that reads the columns of the row that it is
// at. It fails unless the server has said that there are no more rows.
func (s *session) rows(ctx context.Context, query string, each func(scan func(...any) error) error) error {
	return s.run(ctx, func(ctx context.Context) error {
		rows, err := s.Conn.Query(ctx, query)
		if err != nil {
			return err
		}
		for rows.Next() {
			if err := each(rows.Scan); err != nil {
				s.net.Close() // or the rest of the rows would be read first
				rows.Close()
				return err
			}
		}
		return rows.Err()
	})
}

// texts returns the rows of a query whose columns are all texts.
func (s *session) texts(ctx context.Context, columns int, query string, args ...any) (all [][]string, err error) {
	err = s.rows(ctx, fmt.Sprintf(query, args...), func(scan func(...any) error) error {
		row, into := make([]string, columns), make([]any, columns)
		for i := range row {
			into[i] = &row[i]
		}
		all = append(all, row)
		return scan(into...)
	})
	return all, err
}
