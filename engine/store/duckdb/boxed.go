package duckdb

import (
	"database/sql/driver"
	"io"
	"time"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
)

// boxed reads a materialised result through the driver, which makes a Go value of every one, whatever its type.
type boxed struct {
	dr      driver.Rows
	stmt    *duckdb.Stmt
	columns []store.Column
	buf     []driver.Value
	closed  bool
}

var _ store.Rows = (*boxed)(nil)

func newBoxed(dr driver.Rows, stmt *duckdb.Stmt) *boxed {
	names := dr.Columns()
	types := dr.(driver.RowsColumnTypeDatabaseTypeName)
	r := &boxed{dr: dr, stmt: stmt, buf: make([]driver.Value, len(names))}
	for i, n := range names {
		r.columns = append(r.columns, store.Column{Name: n, Type: types.ColumnTypeDatabaseTypeName(i), Nullable: true})
	}
	return r
}

// has tells whether a column of one of the types is there. The driver turns JSON and UUID into
// something else than their text.
func (r *boxed) has(types ...string) bool {
	for _, c := range r.columns {
		for _, t := range types {
			if c.Type == t {
				return true
			}
		}
	}
	return false
}

// Columns implements store.Rows.
func (r *boxed) Columns() []store.Column { return r.columns }

// Next implements store.Rows.
func (r *boxed) Next() ([]any, error) {
	if r.closed {
		return nil, store.ErrClosed
	}
	switch err := r.dr.Next(r.buf); {
	case err == io.EOF:
		return nil, io.EOF
	case err != nil:
		return nil, internal(err.Error())
	}
	out := make([]any, len(r.buf))
	for i, v := range r.buf {
		if t, ok := v.(time.Time); ok && r.columns[i].Type == "TIME" {
			out[i] = timeOfDay(t)
			continue
		}
		out[i] = value(v)
	}
	return out, nil
}

// Close implements store.Rows.
func (r *boxed) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	err := r.dr.Close()
	if errStmt := r.stmt.Close(); err == nil {
		err = errStmt
	}
	if err != nil {
		return internal(err.Error())
	}
	return nil
}
