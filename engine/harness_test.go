package engine

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/rs/zerolog"

	"scrim/engine/estimator/noise"
	"scrim/internal/panics"
	"scrim/internal/spill"
)

const rootPassword = "root-password"

// buffer is a log that tests read while the server writes.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// instance is a server of a test.
type instance struct {
	*Server
	t    *testing.T
	log  *buffer
	stop context.CancelFunc
	done chan error

	before  uint64 // panics that were recovered from before it began
	defects bool   // panics are what the test is about
	broken  bool   // a file of it cannot be written any more: it does not close well
}

// small is the configuration of a test's server on dir, at a port that is free.
func small(dir string) Config {
	cfg := DefaultConfig(dir)
	cfg.Listen, cfg.RootPassword, cfg.Threads, cfg.MemoryLimit = "127.0.0.1:0", rootPassword, 2, "512MiB"
	return cfg
}

// scratch returns a directory for the data of a test to which it does not matter where they are: in
// memory where Linux has room there, as half of the time would go by waiting for a disk's syncs.
func scratch(t *testing.T) string {
	t.Helper()
	const memory, room = "/dev/shm", 4 << 30
	if free, _, err := (spill.Disk{Dir: memory}).Free(); err != nil || free < room {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "scrim-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// start opens dir, or a new one when it is "", and serves it.
func start(t *testing.T, dir string, change ...func(*Config)) *instance {
	t.Helper()
	return startWith(t, dir, noise.Secure, change...)
}

// startWith is start with a source of noise of the test's own.
func startWith(t *testing.T, dir string, source func() noise.Noiser, change ...func(*Config)) *instance {
	t.Helper()
	if dir == "" {
		dir = filepath.Join(scratch(t), "data")
	}
	i := &instance{t: t, log: &buffer{}, done: make(chan error, 1), before: panics.Total()}
	cfg := small(dir)
	cfg.Logger = zerolog.New(i.log)
	for _, c := range change {
		c(&cfg)
	}
	var err error
	if i.Server, err = open(cfg, source); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	i.stop = stop
	go func() { i.done <- i.Serve(ctx) }()
	t.Cleanup(i.end)
	return i
}

// end stops the server as SIGTERM does.
func (i *instance) end() {
	i.stop()
	select {
	case <-i.done:
		i.done <- nil
	case <-time.After(2 * time.Minute):
		i.t.Error("the server did not stop")
	}
	if err := i.Close(); err != nil && !i.broken {
		i.t.Errorf("close: %v", err)
	}
	if n := panics.Total() - i.before; n > 0 && !i.defects {
		i.t.Errorf("%d panics were recovered from, whose stacks are in the log", n)
	}
}

// client connects one session.
func (i *instance) client(user, password string, change ...func(*mysql.Config)) *client {
	i.t.Helper()
	return i.endpoint().client(user, password, change...)
}

func (i *instance) dial(user, password string, change ...func(*mysql.Config)) (*client, error) {
	return i.endpoint().dial(user, password, change...)
}

func (i *instance) root() *client {
	i.t.Helper()
	return i.endpoint().root()
}

// analyst makes an account that may read the schema, and connects it.
func (i *instance) analyst(root *client, name, schema string) *client {
	i.t.Helper()
	return i.endpoint().analyst(root, name, schema)
}

func (i *instance) endpoint() endpoint { return endpoint{i.t, i.Addr().String()} }

// endpoint is where a server listens, in this process or in another one.
type endpoint struct {
	t       *testing.T
	address string
}

func (e endpoint) client(user, password string, change ...func(*mysql.Config)) *client {
	e.t.Helper()
	c, err := e.dial(user, password, change...)
	if err != nil {
		e.t.Fatal(err)
	}
	return c
}

func (e endpoint) dial(user, password string, change ...func(*mysql.Config)) (*client, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Passwd, cfg.Net, cfg.Addr = user, password, "tcp", e.address
	cfg.Logger = &mysql.NopLogger{}
	for _, c := range change {
		c(cfg)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	e.t.Cleanup(func() { db.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	e.t.Cleanup(func() { conn.Close() })
	return &client{e.t, conn}, nil
}

func (e endpoint) root() *client {
	e.t.Helper()
	return e.client("root", rootPassword)
}

func (e endpoint) analyst(root *client, name, schema string) *client {
	e.t.Helper()
	root.exec("CREATE USER '" + name + "'@'%' IDENTIFIED BY 'pw-" + name + "'")
	if schema != "" {
		root.exec("GRANT SELECT ON " + schema + ".* TO '" + name + "'@'%'")
	}
	return e.client(name, "pw-"+name)
}

// client is one session of a test.
type client struct {
	t    *testing.T
	conn *sql.Conn
}

func (c *client) exec(statements ...string) {
	c.t.Helper()
	for _, s := range statements {
		if _, err := c.conn.ExecContext(context.Background(), s); err != nil {
			c.t.Fatalf("%s: %v", s, err)
		}
	}
}

// try runs a statement and reads its rows; NULL is "NULL".
func (c *client) try(query string, args ...any) ([][]string, error) {
	rows, err := c.conn.QueryContext(context.Background(), query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out [][]string
	for rows.Next() {
		vals := make([]sql.NullString, len(cols))
		ptrs := make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			return nil, err
		}
		row := make([]string, len(cols))
		for i, v := range vals {
			row[i] = "NULL"
			if v.Valid {
				row[i] = v.String
			}
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

func (c *client) query(query string, args ...any) [][]string {
	c.t.Helper()
	rows, err := c.try(query, args...)
	if err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
	return rows
}

// value returns the one value of a query.
func (c *client) value(query string, args ...any) string {
	c.t.Helper()
	rows := c.query(query, args...)
	if len(rows) != 1 || len(rows[0]) == 0 {
		c.t.Fatalf("%s: got %v, want one row", query, rows)
	}
	return rows[0][0]
}

// insert inserts rows, each as text in brackets, into a table.
func (c *client) insert(table string, rows []string) {
	c.t.Helper()
	for some := range slices.Chunk(rows, 1000) {
		c.exec("INSERT INTO " + table + " VALUES " + strings.Join(some, ","))
	}
}

// refusedFor checks that statements fail, each with an error that has the words.
func (c *client) refusedFor(words map[string]string) {
	c.t.Helper()
	for q, want := range words {
		if rows, err := c.try(q); err == nil || !strings.Contains(err.Error(), want) {
			c.t.Errorf("%s: got %v, %v, want %q", q, rows, err, want)
		}
	}
}

// refused checks that a statement fails with the error number and, if not "", the SQLSTATE.
func (c *client) refused(errno uint16, state, query string, args ...any) *mysql.MySQLError {
	c.t.Helper()
	rows, err := c.try(query, args...)
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		c.t.Errorf("%s: got %v, %v, want error %d", query, rows, err, errno)
		return &mysql.MySQLError{}
	}
	if e.Number != errno || state != "" && string(e.SQLState[:]) != state {
		c.t.Errorf("%s: got %v, want error %d (%s)", query, e, errno, state)
	}
	return e
}
