package duckdb

import (
	"database/sql/driver"
	"io"
	"time"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
)

// boxed reads a materialised result through the driver, which makes a Go value of every one,
// whatever its type.
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

// boxedRows is how many rows are read at a time: each may be large.
const boxedRows = 16

// Batch implements store.Rows.
func (r *boxed) Batch() (*store.Batch, error) {
	if r.closed {
		return nil, store.ErrClosed
	}
	b := &store.Batch{Columns: make([]store.Values, len(r.buf))}
	for ; b.Len < boxedRows; b.Len++ {
		switch err := r.dr.Next(r.buf); {
		case err == io.EOF && b.Len > 0:
			return b, nil
		case err == io.EOF:
			return nil, io.EOF
		case err != nil:
			return nil, internal(err.Error())
		}
		for i, v := range r.buf {
			if t, ok := v.(time.Time); ok && r.columns[i].Type == "TIME" {
				v = timeOfDay(t)
			} else {
				v = value(v)
			}
			b.Columns[i].Any = append(b.Columns[i].Any, v)
		}
	}
	return b, nil
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
