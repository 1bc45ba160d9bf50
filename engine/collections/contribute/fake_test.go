package contribute

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
)

// fakeServer answers as a server or a shuffler does, through database/sql.
type fakeServer struct {
	mu sync.Mutex
	// of dp.collection_rounds, whatever is asked
	rows    [][]driver.Value
	endless bool     // rows never end
	pins    [][]byte //
	// of a shuffler; another one has another
	id string
	// of the next queries, one each
	unasked []error
	// of the next INSERTs, one each; nil succeeds
	failures []error
	// INSERTs that fail have arrived nevertheless
	lost    bool
	accept  func(statement string, args []driver.NamedValue) error // of INSERTs
	asked   []string
	inserts []insert
}

type insert struct {
	statement     string
	token, report string
}

// fakeDB is a pool of connections to a fakeServer.
type fakeDB struct {
	*sql.DB
	fake *fakeServer
}

func pool(t testing.TB, f *fakeServer) fakeDB {
	db := sql.OpenDB(fakeConnector{f})
	t.Cleanup(func() { _ = db.Close() })
	return fakeDB{db, f}
}

// serving returns a server of one round.
func serving(t testing.TB, text, print []byte) fakeDB {
	return pool(t, &fakeServer{rows: [][]driver.Value{{text, print}}, pins: [][]byte{print}})
}

// servingParams is serving of parameters.
func servingParams(t testing.TB, p *Params) fakeDB {
	print := p.Fingerprint()
	return serving(t, p.Canonical(), print[:])
}

// sent returns how many statements carried a token or a report.
func (f *fakeServer) sent() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.inserts)
}

type fakeConnector struct{ f *fakeServer }

func (c fakeConnector) Connect(context.Context) (driver.Conn, error) { return fakeConn(c), nil }
func (fakeConnector) Driver() driver.Driver                          { return nil }

type fakeConn struct{ f *fakeServer }

func (fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not prepared") }
func (fakeConn) Begin() (driver.Tx, error)           { return nil, errors.New("no transactions") }
func (fakeConn) Close() error                        { return nil }

// QueryContext implements driver.QueryerContext.
func (c fakeConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	f := c.f
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, query)
	if len(f.unasked) > 0 {
		err := f.unasked[0]
		f.unasked = f.unasked[1:]
		return nil, err
	}
	if !strings.Contains(query, "pins") {
		return &fakeRows{ctx, f.rows, f.endless}, nil
	}
	var rows [][]driver.Value
	for _, p := range f.pins {
		if string(p) == string(args[0].Value.([]byte)) {
			rows = append(rows, []driver.Value{p, cmp.Or(f.id, "00112233445566778899aabbccddeeff")})
		}
	}
	return &fakeRows{ctx, rows, false}, nil
}

// ExecContext implements driver.ExecerContext.
func (c fakeConn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	f := c.f
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if len(f.failures) > 0 {
		err, f.failures = f.failures[0], f.failures[1:]
	}
	if err == nil && f.accept != nil {
		err = f.accept(query, args)
	}
	if err == nil || f.lost {
		f.inserts = append(f.inserts, insert{query, string(args[0].Value.([]byte)), string(args[1].Value.([]byte))})
	}
	return driver.RowsAffected(1), err
}

type fakeRows struct {
	ctx     context.Context
	rows    [][]driver.Value
	endless bool
}

func (r *fakeRows) Columns() []string {
	if len(r.rows) > 0 {
		return make([]string, len(r.rows[0]))
	}
	return []string{"params", "fingerprint"}
}
func (*fakeRows) Close() error { return nil }
func (r *fakeRows) Next(to []driver.Value) error {
	if len(r.rows) == 0 && !r.endless {
		return io.EOF
	}
	if len(r.rows) == 0 {
		<-r.ctx.Done() // a server that says nothing any more; drivers give up when the context ends
		return r.ctx.Err()
	}
	copy(to, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}
