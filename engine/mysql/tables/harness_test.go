package tables_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/engine/mysql/tables"
	"scrim/engine/store"
	"scrim/engine/store/duckdb"
	"scrim/internal/refuse"
	"scrim/planner/parse"
)

// policy is an Access whose answers a test sets.
type policy struct {
	mu        sync.Mutex
	protected map[string]bool
	raw       bool
	frozen    string // a column that may not be altered
	told      []string
	deaf      bool
}

func (p *policy) CheckRead(_ *sql.Context, ref store.TableRef) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.protected[ref.String()] && !p.raw {
		return refuse.New(refuse.RawRows, "The table %s is protected.", ref)
	}
	return nil
}
func (p *policy) CheckWrite(ctx *sql.Context, _ store.TableRef) error { return dba(ctx) }
func (p *policy) CheckDDL(ctx *sql.Context, _ store.TableRef) error   { return dba(ctx) }
func (p *policy) CheckAlter(_ *sql.Context, ref store.TableRef, c tables.Change) error {
	if p.frozen != "" && strings.EqualFold(c.Column, p.frozen) {
		return refuse.New(refuse.Policy, "The column %s of %s is its unit.", c.Column, ref)
	}
	return nil
}
func (p *policy) Renamed(_ *sql.Context, old, new store.TableRef) error {
	if p.deaf {
		return refuse.New(refuse.Policy, "The policy is deaf.")
	}
	p.told = append(p.told, "renamed "+old.String()+" "+new.String())
	return nil
}
func (p *policy) Dropped(_ *sql.Context, ref store.TableRef) error {
	if p.deaf {
		return refuse.New(refuse.Policy, "The policy is deaf.")
	}
	p.told = append(p.told, "dropped "+ref.String())
	return nil
}

func dba(ctx *sql.Context) error {
	if ctx.Session.Client().User != "root" {
		return refuse.New(refuse.NotDBA, "This statement is for a DBA only.")
	}
	return nil
}

// client is a session in the way that the server makes them: with a lazy transaction.
type client struct {
	*sql.BaseSession
	st store.Session
}

type transaction struct{ explicit, readOnly bool }

func (transaction) String() string     { return "tx" }
func (t transaction) IsReadOnly() bool { return t.readOnly }

func (c *client) Store(ctx *sql.Context) (store.Session, error) {
	if t, ok := c.GetTransaction().(transaction); ok && t.explicit && !c.st.InTransaction() {
		if err := c.st.Begin(ctx); err != nil {
			return nil, err
		}
	}
	return c.st, nil
}
func (c *client) StartTransaction(ctx *sql.Context, tc sql.TransactionCharacteristic) (sql.Transaction, error) {
	return transaction{explicit: ctx.GetTransaction() != nil, readOnly: tc == sql.ReadOnly}, nil
}
func (c *client) CommitTransaction(ctx *sql.Context, _ sql.Transaction) error {
	return c.st.Commit(ctx)
}
func (c *client) Rollback(ctx *sql.Context, _ sql.Transaction) error          { return c.st.Rollback(ctx) }
func (c *client) CreateSavepoint(*sql.Context, sql.Transaction, string) error { return nil }
func (c *client) RollbackToSavepoint(*sql.Context, sql.Transaction, string) error {
	return nil
}
func (c *client) ReleaseSavepoint(*sql.Context, sql.Transaction, string) error { return nil }

// server is the SQL engine over a DuckDB file in a directory of the test.
type server struct {
	t      *testing.T
	path   string
	store  *duckdb.Store
	engine *sqle.Engine
	policy *policy
	conns  uint32
}

var rulesOnce sync.Once

func open(t *testing.T, path string) *server {
	t.Helper()
	rulesOnce.Do(func() {
		analyzer.AlwaysBeforeDefault = append(tables.Rules(), analyzer.AlwaysBeforeDefault...)
	})
	st, err := duckdb.Open(path, duckdb.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, path: path, store: st, policy: &policy{protected: map[string]bool{}}}
	p := tables.NewProvider(st, s.policy)
	a := analyzer.NewBuilder(p).Build()
	p.Catalog = a.Catalog
	own := tables.NewBuilder(p, nil)
	own.Whole, a.ExecBuilder.PriorityBuilder = a.ExecBuilder, own
	s.engine = sqle.New(a, &sqle.Config{})
	t.Cleanup(func() { s.close() })
	return s
}

func (s *server) close() {
	if err := s.store.Close(); err != nil {
		s.t.Error(err)
	}
}

// newServer returns a server with a database shop, and its DBA.
func newServer(t *testing.T) (*server, *conn) {
	t.Helper()
	s := open(t, filepath.Join(t.TempDir(), "data.duckdb"))
	root := s.connect("root")
	root.exec("CREATE DATABASE shop")
	root.exec("USE shop")
	return s, root
}

// conn is one client.
type conn struct {
	s    *server
	sess *client
}

func (s *server) connect(user string) *conn {
	s.t.Helper()
	st, err := s.store.Session(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	s.conns++
	base := sql.NewBaseSessionWithClientServer("localhost", sql.Client{User: user, Address: "%"}, s.conns)
	return &conn{s: s, sess: &client{BaseSession: base, st: st}}
}

// run runs a statement and returns its rows, and the affected rows of a statement without any.
func (c *conn) run(q string) (rows [][]any, affected uint64, err error) {
	ctx := sql.NewContext(context.Background(), sql.WithSession(c.sess), sql.WithQuery(q))
	if tree, _, _, err := c.s.engine.Parser.Parse(ctx, q, false); err == nil {
		ctx = parse.WithStatement(ctx, q, tree)
	}
	schema, it, _, err := c.s.engine.Query(ctx, q)
	if err != nil {
		return nil, 0, err
	}
	return drain(ctx, schema, it)
}

// prepared prepares a statement, runs it with values, and returns the number of affected rows.
func (c *conn) prepared(q string, values ...sqlparser.Expr) uint64 {
	c.s.t.Helper()
	ctx := sql.NewContext(context.Background(), sql.WithSession(c.sess), sql.WithQuery(q))
	if _, err := c.s.engine.PrepareQuery(ctx, q); err != nil {
		c.s.t.Fatalf("prepare %s: %v", q, err)
	}
	bindings := map[string]sqlparser.Expr{}
	for i, v := range values {
		bindings[fmt.Sprintf("v%d", i+1)] = v
	}
	ctx = sql.NewContext(context.Background(), sql.WithSession(c.sess), sql.WithQuery(q))
	schema, it, _, err := c.s.engine.QueryWithBindings(ctx, q, nil, bindings, nil)
	if err != nil {
		c.s.t.Fatalf("%s: %v", q, err)
	}
	_, n, err := drain(ctx, schema, it)
	if err != nil {
		c.s.t.Fatalf("%s: %v", q, err)
	}
	return n
}

func drain(ctx *sql.Context, schema sql.Schema, it sql.RowIter) (rows [][]any, affected uint64, err error) {
	for {
		row, err := it.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			it.Close(ctx)
			return nil, 0, err
		}
		if types.IsOkResult(row) {
			affected = row[0].(types.OkResult).RowsAffected
			continue
		}
		out := make([]any, len(row))
		for i, v := range row {
			if out[i] = v; v != nil && i < len(schema) {
				text, err := schema[i].Type.SQL(ctx, nil, v)
				if err != nil {
					return nil, 0, err
				}
				out[i] = text.ToString()
			}
		}
		rows = append(rows, out)
	}
	return rows, affected, it.Close(ctx)
}

func (c *conn) exec(q string) uint64 {
	c.s.t.Helper()
	_, n, err := c.run(q)
	if err != nil {
		c.s.t.Fatalf("%s: %v", q, err)
	}
	return n
}

// want checks the rows of a query, printed one a line with values parted by "|".
func (c *conn) want(q string, want ...string) {
	c.s.t.Helper()
	rows, _, err := c.run(q)
	if err != nil {
		c.s.t.Fatalf("%s: %v", q, err)
	}
	var got []string
	for _, r := range rows {
		parts := make([]string, len(r))
		for i, v := range r {
			parts[i] = fmt.Sprint(v)
			if v == nil {
				parts[i] = "NULL"
			}
		}
		got = append(got, strings.Join(parts, "|"))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		c.s.t.Errorf("%s\n got %q\nwant %q", q, got, want)
	}
}

// fails checks that a statement fails with a text.
func (c *conn) fails(q, part string) {
	c.s.t.Helper()
	_, _, err := c.run(q)
	if err == nil || !strings.Contains(err.Error(), part) {
		c.s.t.Errorf("%s: got error %v, want one with %q", q, err, part)
	}
}

// errno checks that a statement fails with MySQL's error number.
func (c *conn) errno(q string, want int) {
	c.s.t.Helper()
	_, _, err := c.run(q)
	if err == nil {
		c.s.t.Errorf("%s: no error, want %d", q, want)
		return
	}
	if got := sql.CastSQLError(err).Num; got != want {
		c.s.t.Errorf("%s: got error %d (%v), want %d", q, got, err, want)
	}
}
