package result

import (
	"errors"
	"io"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"scrim/internal/quota"
	"scrim/internal/turns"
)

// batchRows is how many rows go to the client at a time. Up to so many rows are held back until the
// statement has ended without an error, so that a small answer is either whole or an error.
const batchRows = 128

// batchBytes is how large a batch may become before it is sent, however few rows it has.
const batchBytes = 16 << 20

// longRow is the size from which a row is taken from the connection's memory while it is held back:
// once as it is, and once as it is written.
const longRow = 4096

// rowText is how much room the text of a result has at first; a batch that needs more makes it
// larger.
const rowText = 512

// Spool reads all rows, sends full batches, closes the iterator and returns what is still to be
// sent.
func Spool(ctx *sql.Context, schema sql.Schema, rows sql.RowIter, send func(*sqltypes.Result) error) (last *sqltypes.Result, err error) {
	closed := false
	defer func() {
		if !closed {
			_ = rows.Close(ctx)
		}
	}()
	s := newSpool(ctx, schema)
	sent := false
	for {
		row, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if types.IsOkResult(row) {
			s.ok = okResult(row[0].(types.OkResult))
			continue
		}
		if len(s.rows) == batchRows || s.bytes > batchBytes {
			turns.Of(ctx).Rest() // the client may be slow
			if err := send(s.result()); err != nil {
				return nil, err
			}
			if err := turns.Of(ctx).Look(ctx); err != nil {
				return nil, err
			}
			sent = true
			s.clear(ctx)
		}
		if err := s.add(ctx, row); err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	closed = true
	if err := rows.Close(ctx); err != nil {
		return nil, err
	}
	if s.ok == nil && sent && len(s.rows) == 0 {
		return nil, nil
	}
	return s.result(), nil
}

// spooled is a batch of rows that are held back, as text.
type spooled struct {
	schema sql.Schema
	fields []*querypb.Field
	ok     *sqltypes.Result // of a statement without rows

	rows   [][]sqltypes.Value
	values []sqltypes.Value // of all rows
	buffer *sql.ByteBuffer  // of values that did not come as text
	bytes  int64            // of long rows
}

func newSpool(ctx *sql.Context, schema sql.Schema) *spooled {
	s := &spooled{schema: schema, buffer: sql.NewByteBuffer(rowText)}
	if !types.IsOkResultSchema(schema) {
		s.fields = Fields(ctx, schema)
	}
	return s
}

// add holds a row back.
func (s *spooled) add(ctx *sql.Context, row sql.Row) error {
	if n := quota.Row(row); n > longRow {
		if err := quota.Of(ctx).Take(2 * n); err != nil {
			return err
		}
		s.bytes += n
	}
	start := len(s.values)
	for i, c := range s.schema {
		v := sqltypes.NULL
		switch x := row[i].(type) {
		case nil:
		case *sqltypes.Value:
			v = *x
		default:
			var err error
			if text, ok := appendDouble(ctx, s.buffer.Get(), c.Type, x); ok {
				v = sqltypes.MakeTrusted(c.Type.Type(), text)
			} else if v, err = c.Type.SQL(ctx, s.buffer.Get(), x); err != nil {
				return err
			}
			s.buffer.Grow(v.Len())
		}
		s.values = append(s.values, v)
	}
	values := s.values[start:len(s.values):len(s.values)]
	mysqlTimes(s.fields, values)
	s.rows = append(s.rows, values)
	return nil
}

// result is what is held back.
func (s *spooled) result() *sqltypes.Result {
	if s.ok != nil {
		return s.ok
	}
	return &sqltypes.Result{Fields: s.fields, Rows: s.rows, RowsAffected: uint64(len(s.rows))}
}

// clear begins another batch: what was sent is not looked at again.
func (s *spooled) clear(ctx *sql.Context) {
	quota.Of(ctx).Free(2 * s.bytes)
	s.bytes = 0
	s.rows, s.values = s.rows[:0], s.values[:0]
	s.buffer.Reset()
}

func okResult(r types.OkResult) *sqltypes.Result {
	out := &sqltypes.Result{RowsAffected: r.RowsAffected, InsertID: r.InsertID}
	if r.Info != nil {
		out.Info = r.Info.String()
	}
	return out
}
