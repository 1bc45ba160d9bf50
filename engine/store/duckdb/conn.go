package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
)

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
	defer c.helpers.begin()()
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
	defer c.helpers.begin()()
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

// whole refuses a text that C would read only up to its first zero byte.
func whole(s string) error {
	if strings.IndexByte(s, 0) >= 0 {
		return &store.Error{Kind: store.BadValue, Driver: "text with a zero byte"}
	}
	return nil
}

// driverArgs numbers arguments as $1, $2, …; a place holder may be used any number of times.
func driverArgs(args []any) ([]driver.NamedValue, error) {
	out := make([]driver.NamedValue, len(args))
	for i, a := range args {
		v, err := bindable(a)
		if t, ok := v.(string); ok && err == nil {
			err = whole(t)
		}
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
