// Package result makes of the rows of a statement what MySQL sends: columns, values as text, and
// batches of rows, of which the first is held back until the statement can hardly fail any more.
package result

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"

	"scrim/engine/mysql/browse"
	"scrim/internal/collation"
	"scrim/internal/quota"
	"scrim/internal/sqltext"
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
	sent, found := false, ctx.GetLastQueryInfo().FoundRows.Load()
	for {
		row, err := rows.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if types.IsOkResult(row) {
			ok := row[0].(types.OkResult)
			if update, is := ok.Info.(plan.UpdateInfo); is {
				found = int64(update.Matched)
			}
			s.ok = okResult(ok)
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
	if s.ok != nil { // go-mysql-server takes what it does not know for a SELECT of one row
		ctx.GetLastQueryInfo().RowCount.Store(int64(s.ok.RowsAffected))
		ctx.GetLastQueryInfo().FoundRows.Store(found)
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
	values []sqltypes.Value   // of all rows
	buffer *sql.ByteBuffer    // of values that did not come as text
	set    sql.CharacterSetID // that the client reads
	bytes  int64              // of long rows
}

func newSpool(ctx *sql.Context, schema sql.Schema) *spooled {
	s := &spooled{schema: schema, buffer: sql.NewByteBuffer(rowText), set: charsetOf(ctx)}
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
			if f, ok := x.(float64); ok && math.IsInf(f, 0) { // a sum
				return mysql.NewSQLError(mysql.ERDataOutOfRange, mysql.SSDataOutOfRange, "DOUBLE value is out of range in '%s'", c.Name)
			} else if text, ok := appendDouble(ctx, s.buffer.Get(), c.Type, x); ok {
				v = sqltypes.MakeTrusted(c.Type.Type(), text)
			} else if v, err = c.Type.SQL(ctx, s.buffer.Get(), x); err != nil {
				return err
			}
			s.buffer.Grow(v.Len())
		}
		if collation.Converted(s.set) && (v.IsText() || v.Type() == sqltypes.Enum || v.Type() == sqltypes.Set || v.Type() == sqltypes.TypeJSON) {
			v = sqltypes.MakeTrusted(v.Type(), []byte(collation.Encoded(s.set, v.ToString())))
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

// appendDouble appends a value of a DOUBLE or FLOAT column as MySQL does (sqltext.AppendDouble); ok
// is false where the value, or the type, is none.
func appendDouble(ctx *sql.Context, b []byte, t sql.Type, v any) (text []byte, ok bool) {
	if !types.IsFloat(t) {
		return b, false
	}
	number, _, err := t.Convert(ctx, v)
	var x float64
	bits := 64
	switch f := number.(type) {
	case float64:
		x = f
	case float32:
		x, bits = float64(f), 32
	default:
		return b, false
	}
	if math.IsNaN(x) || math.IsInf(x, 0) || err != nil && (bits == 32 || !sql.ErrTruncatedIncorrect.Is(err)) {
		return b, false
	}
	return sqltext.AppendDouble(b, x, bits), true
}

// noFraction ends a time without a fraction of a second, as go-mysql-server writes it.
var noFraction = []byte(".000000")

// mysqlTimes leaves a fraction that is zero out of the times of a row: of TIMEs without digits, and
// of dates with a time that are no columns of tables. MySQL knows of FROM_UNIXTIME(0) that it has
// no fraction, and go-mysql-server gives them all six digits. It gives years all four, too.
func mysqlTimes(fields []*querypb.Field, row []sqltypes.Value) {
	for i, f := range fields {
		switch f.Type {
		case querypb.Type_DATE, querypb.Type_DATETIME, querypb.Type_TIMESTAMP:
			if at := bytes.IndexByte(row[i].Raw(), '-'); at > 0 && at < 4 {
				row[i] = sqltypes.MakeTrusted(f.Type, append([]byte("000")[:4-at], row[i].Raw()...))
			}
		}
		switch {
		case f.Type == querypb.Type_TIME && f.Decimals == 0:
		case f.Type == querypb.Type_DATETIME && f.Table == "":
		default:
			continue
		}
		if text, ok := bytes.CutSuffix(row[i].Raw(), noFraction); ok {
			row[i] = sqltypes.MakeTrusted(f.Type, text)
		}
	}
}

// notFixedDecimals is what MySQL sends as the decimals of DOUBLE and FLOAT columns. Clients that
// get 0 there round every value to an integer.
const notFixedDecimals = 31

// Fields describes the columns of a result as MySQL does, for text and prepared statements,
// on public tables and private answers alike.
func Fields(ctx *sql.Context, schema sql.Schema) []*querypb.Field {
	set := charsetOf(ctx)
	fields := make([]*querypb.Field, len(schema))
	for i, c := range schema {
		f := &querypb.Field{
			Name:         collation.Encoded(set, c.Name),
			Table:        collation.Encoded(set, c.Source),
			Database:     collation.Encoded(set, databaseOf(c)),
			Type:         c.Type.Type(),
			Charset:      charset(c.Type, set),
			ColumnLength: length(ctx, c.Type, set),
			Flags:        uint32(columnFlags(c)),
		}
		f.OrgName, f.OrgTable = f.Name, f.Table
		switch {
		case types.IsDecimal(c.Type):
			f.Decimals = uint32(c.Type.(sql.DecimalType).Scale())
		case types.IsFloat(c.Type):
			f.Decimals = notFixedDecimals
		case types.IsDatetimeType(c.Type):
			f.Decimals = uint32(c.Type.(sql.DatetimeType).Precision())
		default:
			if t, ok := c.Type.(interface{ SecondDigits() int }); ok { // TIME(n)
				f.Decimals = uint32(t.SecondDigits())
			}
		}
		fields[i] = f
	}
	return fields
}

// databaseOf is the database of a column, as clients know it.
func databaseOf(c *sql.Column) string {
	if c.DatabaseSource == browse.ShowDatabase {
		return sql.InformationSchemaDatabaseName
	}
	return strings.TrimSpace(c.DatabaseSource)
}

// charsetOf is the character set that the client reads, unspecified where it wants texts as they
// are stored.
func charsetOf(ctx *sql.Context) sql.CharacterSetID {
	if s, ok := ctx.Session.(interface{ CharacterSetResults() sql.CharacterSetID }); ok {
		return s.CharacterSetResults()
	}
	return ctx.GetCharacterSetResults()
}

// length is how many bytes the longest value of a column has for the client.
func length(ctx *sql.Context, t sql.Type, set sql.CharacterSetID) uint32 {
	n, by, most := t.MaxTextResponseByteLength(ctx), collation.Of(t).CharacterSet(), uint32(set.MaxLength())
	switch s, text := t.(sql.StringType); {
	case set == sql.CharacterSet_Unspecified, set == sql.CharacterSet_binary, n == math.MaxUint32:
	case t.Type() == sqltypes.Text:
		return n / uint32(ctx.GetCharacterSetResults().MaxLength()) * most
	case text && types.IsTextOnly(t):
		return uint32(s.Length()) * most
	case types.IsEnum(t), types.IsSet(t):
		return n / uint32(by.MaxLength()) * most
	}
	return n
}

// charset is the character set of a column: binary, the one that the client wants results in, or
// the column's own.
func charset(t sql.Type, results sql.CharacterSetID) uint32 {
	switch {
	case types.IsBinaryType(t):
		return uint32(sql.Collation_binary)
	case results != sql.CharacterSet_Unspecified:
		return uint32(results)
	}
	if c, ok := t.(sql.TypeWithCollation); ok {
		return uint32(c.Collation())
	}
	return uint32(sql.Collation_Default)
}

func columnFlags(c *sql.Column) querypb.MySqlFlag {
	var f querypb.MySqlFlag
	if !c.Nullable {
		f |= querypb.MySqlFlag_NOT_NULL_FLAG
	}
	if c.AutoIncrement {
		f |= querypb.MySqlFlag_AUTO_INCREMENT_FLAG
	}
	if c.PrimaryKey {
		f |= querypb.MySqlFlag_PRI_KEY_FLAG
	}
	if types.IsUnsigned(c.Type) {
		f |= querypb.MySqlFlag_UNSIGNED_FLAG
	}
	return f
}
