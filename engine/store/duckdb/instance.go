package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"

	duckdb "github.com/marcboeker/go-duckdb/v2"
	"github.com/marcboeker/go-duckdb/v2/mapping"

	"scrim/engine/store"
)

// instance is one DuckDB database instance, reached in two ways: by the driver's connector and by
// the C interface's handle that the driver's instance cache shares with it.
type instance struct {
	path      string
	catalog   string // DuckDB's name of the database, from the file's name
	connector *duckdb.Connector
	db        mapping.Database
	helpers   *helperThreads
	// what was acknowledged of it; nil before setUp
	acknowledged *acknowledged
}

// held are the files that this process has open: DuckDB would quietly share an instance.
var held = struct {
	sync.Mutex
	paths map[string]bool
}{paths: map[string]bool{}}

func openInstance(path string) (*instance, error) {
	path, err := cleanPath(path)
	if err != nil {
		return nil, err
	}
	held.Lock()
	defer held.Unlock()
	if held.paths[path] {
		return nil, store.ErrInUse
	}
	connector, err := duckdb.NewConnector(path, nil)
	if err != nil {
		if strings.Contains(err.Error(), "Could not set lock on file") {
			return nil, store.ErrInUse
		}
		return nil, fmt.Errorf("duckdb: open: %w", err)
	}
	base := strings.ToLower(filepath.Base(path))
	in := &instance{path: path, connector: connector, catalog: strings.TrimSuffix(base, filepath.Ext(base))}
	if err := in.share(); err != nil {
		connector.Close()
		return nil, err
	}
	in.helpers = newHelperThreads(in.db)
	held.paths[path] = true
	return in, nil
}

// share takes the C handle of the instance that the connector opened. Its configuration must be the
// one that the connector used, or the cache refuses.
func (in *instance) share() error {
	var config mapping.Config
	if mapping.CreateConfig(&config) == mapping.StateError {
		return errors.New("duckdb: no memory for a configuration")
	}
	defer mapping.DestroyConfig(&config)
	if mapping.SetConfig(config, "duckdb_api", "go") == mapping.StateError {
		return errors.New("duckdb: configuration refused")
	}
	var msg string
	if mapping.GetOrCreateFromCache(duckdb.GetInstanceCache(), in.path, &in.db, config, &msg) == mapping.StateError {
		return fmt.Errorf("duckdb: share instance: %s", msg)
	}
	return nil
}

// connect opens a driver connection.
func (in *instance) connect(ctx context.Context) (*conn, error) {
	dc, err := in.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &conn{dc: dc.(*duckdb.Conn), helpers: in.helpers}
	handle, err := handleOf(c.dc)
	if err != nil {
		c.close()
		return nil, err
	}
	c.pooled = &pooledConn{raw: &raw{c: handle, helpers: in.helpers}, plans: map[string]plan{}, room: sessionPlans}
	return c, nil
}

// handleOf returns the C interface's handle of a driver connection, which the driver has in a field
// of its own: only so do the statements of one transaction get written by the driver's appender and
// read column by column.
func handleOf(dc *duckdb.Conn) (mapping.Connection, error) {
	var c mapping.Connection
	own := reflect.ValueOf(dc).Elem().FieldByName("conn")
	if !own.IsValid() || own.Type() != reflect.TypeOf(c) || own.Field(0).UnsafePointer() == nil {
		return c, errors.New("duckdb: the driver's connection has another form than that of the version which this was written for")
	}
	c.Ptr = own.Field(0).UnsafePointer()
	return c, nil
}

func (in *instance) close() {
	held.Lock()
	defer held.Unlock()
	in.helpers.close()
	mapping.Close(&in.db)
	in.connector.Close()
	if a := in.acknowledged; a != nil {
		_ = errors.Join(a.sync(), a.file.Close())
	}
	delete(held.paths, in.path)
}

// conn is one driver connection. Its methods return the driver's errors as they are: callers that
// face the outside classify them.
type conn struct {
	dc      *duckdb.Conn
	helpers *helperThreads
	pooled  *pooledConn // the same connection through the C interface; closing dc closes it

	// bumpSQL, prepared: every change runs it, and an INSERT's plan rests on no statistics
	bumping *duckdb.Stmt
	marking *duckdb.Stmt // markSQL, likewise
}

// errType tells that a statement is not of a type that its caller may run.
var errType = errors.New("duckdb: statement type not allowed here")

// prepare prepares exactly one statement. A text of several is refused: the driver would run all
// but the last one unchecked.
func (c *conn) prepare(sql string) (*duckdb.Stmt, duckdb.StmtType, error) {
	if err := whole(sql); err != nil {
		return nil, 0, err
	}
	st, err := c.dc.Prepare(sql)
	if err != nil {
		return nil, 0, err
	}
	stmt := st.(*duckdb.Stmt)
	typ, err := stmt.StatementType()
	if err != nil {
		stmt.Close()
		return nil, 0, err
	}
	return stmt, typ, nil
}

// exec runs one statement of ours and returns the number of rows changed.
func (c *conn) exec(ctx context.Context, sql string, args ...any) (int64, error) {
	stmt, _, err := c.prepare(sql)
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	return c.run(ctx, stmt, args)
}

func (c *conn) run(ctx context.Context, stmt *duckdb.Stmt, args []any) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	named, err := driverArgs(args)
	if err != nil {
		return 0, err
	}
	defer c.helpers.begin(patience)()
	stop := c.pooled.interruptWith(ctx)
	res, err := stmt.ExecContext(context.WithoutCancel(ctx), named) // see interruptWith
	stop()
	if err != nil {
		return 0, errors.Join(ctx.Err(), err)
	}
	return res.RowsAffected()
}

// configure runs statements that take no arguments.
func (c *conn) configure(ctx context.Context, statements []string) error {
	for _, sql := range statements {
		if _, err := c.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// within runs f in a transaction, which commits unless f fails.
func (c *conn) within(ctx context.Context, f func() error) error {
	if _, err := c.exec(ctx, "BEGIN TRANSACTION"); err != nil {
		return err
	}
	err := f()
	if err == nil {
		_, err = c.exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		// a failed COMMIT has rolled back already
		_, _ = c.exec(context.WithoutCancel(ctx), "ROLLBACK")
	}
	return err
}

// query runs a prepared SELECT and returns its materialised rows; closing them closes stmt.
func (c *conn) query(ctx context.Context, stmt *duckdb.Stmt, args []any) (*boxed, error) {
	r, err := c.open(ctx, stmt, args)
	if err != nil {
		stmt.Close()
		return nil, err
	}
	return r, nil
}

func (c *conn) open(ctx context.Context, stmt *duckdb.Stmt, args []any) (*boxed, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	named, err := driverArgs(args)
	if err != nil {
		return nil, err
	}
	defer c.helpers.begin(patience)()
	stop := c.pooled.interruptWith(ctx)
	dr, err := stmt.QueryContext(context.WithoutCancel(ctx), named)
	stop()
	if err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	return newBoxed(dr, stmt), nil
}

// collect runs one SELECT of ours and returns all its rows.
func (c *conn) collect(ctx context.Context, sql string, args ...any) ([][]any, error) {
	stmt, _, err := c.prepare(sql)
	if err != nil {
		return nil, err
	}
	r, err := c.query(ctx, stmt, args)
	if err != nil {
		return nil, err
	}
	var out [][]any
	err = store.Each(r, func(row []any) error {
		out = append(out, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *conn) close() {
	if c.pooled != nil {
		c.pooled.forget()
	}
	for _, stmt := range []*duckdb.Stmt{c.bumping, c.marking} {
		if stmt != nil {
			_ = stmt.Close() // fails only when closed before
		}
	}
	_ = c.dc.Close() // fails only when closed before
}

// whole refuses a statement that C would read only up to its first zero byte.
func whole(s string) error {
	if strings.IndexByte(s, 0) >= 0 {
		return &store.Error{Kind: store.BadValue, Driver: "statement with a zero byte"}
	}
	return nil
}

// driverArgs numbers arguments as $1, $2, …; a place holder may be used any number of times.
func driverArgs(args []any) ([]driver.NamedValue, error) {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		v, err := bindable(a)
		if err != nil {
			return nil, err
		}
		out[i] = driver.NamedValue{Name: strconv.Itoa(i + 1), Ordinal: i + 1, Value: v}
	}
	return out, nil
}

// internal is a failure without a driver message.
func internal(driverText string) error {
	return &store.Error{Kind: store.Internal, Driver: driverText}
}
