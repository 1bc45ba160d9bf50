package duckdb

import (
	"database/sql/driver"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/cockroachdb/apd/v3"
	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
	"scrim/internal/lists"
)

// bindable turns an argument into one of the types that a place holder takes: nil, bool, int64,
// uint64, float64, string, []byte, time.Time, *big.Int, or the driver's interval.
func bindable(a any) (any, error) {
	switch v := a.(type) {
	case nil, bool, int64, uint64, float64, string, []byte, *big.Int, duckdb.Interval:
		return v, nil
	case time.Time:
		return v.UTC(), nil
	}
	if v, ok := widen(a); ok {
		return v, nil
	}
	return nil, internal(fmt.Sprintf("cannot bind a %T", a))
}

// widen makes a number of 64 bits of a smaller one; ok is false for anything else.
func widen(v any) (wide any, ok bool) {
	switch v := v.(type) {
	case int, int8, int16, int32:
		return reflect.ValueOf(v).Int(), true
	case uint, uint8, uint16, uint32:
		return reflect.ValueOf(v).Uint(), true
	case float32:
		return float64(v), true
	}
	return nil, false
}

// value turns a driver value into one of the types that store.Rows promises.
func value(v any) any {
	switch v := v.(type) {
	case nil, bool, int64, uint64, float64, string, []byte, *big.Int:
		return v
	case time.Time:
		return v.UTC()
	case duckdb.Decimal:
		return decimalOf(v.Value, int(v.Scale))
	case duckdb.Interval:
		return duration(v)
	case []any:
		return lists.Map(v, value)
	}
	if w, ok := widen(v); ok {
		return w
	}
	return fmt.Sprint(v)
}

// decimalOf is unscaled / 10^scale.
func decimalOf(unscaled *big.Int, scale int) *apd.Decimal {
	return apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(unscaled), -int32(scale))
}

// duration is an interval with months of 30 days. It saturates: DuckDB's intervals reach further.
func duration(v duckdb.Interval) time.Duration {
	total := big.NewInt(int64(v.Months)*30 + int64(v.Days))
	total.Mul(total, big.NewInt(24*int64(time.Hour/time.Microsecond)))
	total.Add(total, big.NewInt(v.Micros))
	total.Mul(total, big.NewInt(int64(time.Microsecond)))
	if !total.IsInt64() {
		if total.Sign() < 0 {
			return -1 << 63
		}
		return 1<<63 - 1
	}
	return time.Duration(total.Int64())
}

// timeOfDay is the driver's TIME, a clock reading on the year 1.
func timeOfDay(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
		time.Duration(t.Second())*time.Second + time.Duration(t.Nanosecond())
}

// text writes a value as DuckDB reads it back from VARCHAR.
func text(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return v
	case []byte:
		return string(v)
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05.999999")
	case time.Duration:
		return strconv.FormatInt(v.Microseconds(), 10) + " microseconds"
	case *big.Int:
		return v.String()
	}
	return fmt.Sprint(v)
}

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
	return slices.ContainsFunc(r.columns, func(c store.Column) bool { return slices.Contains(types, c.Type) })
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
