package tables

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"

	"scrim/engine/store"
	"scrim/internal/sqltext"
)

// asText is the context's key for a caller of Next who takes text. The value is a form.
type asText struct{}

// form is how text is taken.
type form struct{ projected bool } // what computes with numbers has taken the sign from zeros

// AsText returns a context to read a statement's rows with. Where the values of its result are
// those that a query of the store has read, and nothing in between looks at them, each of a row's
// is then given as a *sqltypes.Value, the text that a client gets. The value holds until the next
// row is asked for, its text for as long as it is used. Otherwise rows are what they are.
func AsText(ctx *sql.Context, iter sql.RowIter) *sql.Context {
	tracked, ok := iter.(*plan.TrackedRowIter)
	if !ok {
		return ctx
	}
	f, ok := form{}, ownRows(tracked.GetIter())
	if !ok {
		f, ok = stays(tracked.GetNode())
	}
	if !ok {
		return ctx
	}
	return ctx.WithContext(context.WithValue(ctx.Context, asText{}, f))
}

// ownRows reports whether an iterator is one of the store's rows, below what ends the statement's
// transaction.
func ownRows(iter sql.RowIter) bool {
	if inner, ok := iter.(interface{ GetIter() sql.RowIter }); ok {
		iter = inner.GetIter()
	}
	_, ok := iter.(*rows)
	return ok
}

// stays reports whether the rows of a plan have the values that its one table's have.
func stays(n sql.Node) (f form, ok bool) {
	switch n := n.(type) {
	case *plan.ResolvedTable:
		table := n.Table
		if p, tracked := table.(*plan.ProcessTable); tracked {
			table = p.Table
		}
		_, ok = table.(*Table)
		return f, ok
	case *plan.TableAlias:
		return stays(n.Child)
	case *plan.Limit:
		return stays(n.Child)
	case *plan.Offset:
		return stays(n.Child)
	case *plan.Project:
		for _, e := range n.Projections {
			if a, named := e.(*expression.Alias); named {
				e = a.Child
			}
			if _, column := e.(*expression.GetField); !column {
				return f, false
			}
		}
		_, ok = stays(n.Child)
		return form{projected: true}, ok
	}
	return f, false
}

// texts writes rows of batches as text.
type texts struct {
	schema  sql.Schema
	read    []reader
	write   []writer // for the result's kinds, once they are known
	form    form
	values  []sqltypes.Value
	out     sql.Row // points to values
	written []byte  // the text of this row and of some before it
}

// A piece of text has room for at least leastText bytes, and for more the more text there is.
const leastText, mostText = 1 << 10, 1 << 16

func newTexts(schema sql.Schema, read []reader, f form) *texts {
	t := &texts{schema: schema, read: read, form: f, values: make([]sqltypes.Value, len(schema)), out: make(sql.Row, len(schema))}
	for i := range t.values {
		t.out[i] = &t.values[i]
	}
	return t
}

// row returns a row of a batch, whose values hold until the next call, and their text longer.
func (t *texts) row(ctx *sql.Context, b *store.Batch, at int) (sql.Row, error) {
	if t.write == nil {
		t.write = make([]writer, len(t.schema))
		for i, c := range t.schema {
			t.write[i] = writerOf(ctx, c.Type, b.Columns[i].Kind)
		}
	}
	if cap(t.written)-len(t.written) < leastText/2 {
		t.written = make([]byte, 0, min(max(2*cap(t.written), leastText), mostText))
	}
	for i := range t.values {
		if err := t.value(ctx, i, &b.Columns[i], at); err != nil {
			return nil, err
		}
	}
	return t.out, nil
}

// value writes one value of the row.
func (t *texts) value(ctx *sql.Context, i int, v *store.Values, at int) error {
	typ := t.schema[i].Type
	if v.IsNull(at) {
		t.values[i] = sqltypes.NULL
		return nil
	}
	if t.form.projected && v.Kind == store.KindFloat && v.Floats[at] == 0 {
		v, at = &zero, 0
	}
	if t.write[i] != nil {
		start := len(t.written)
		if text, ok := t.write[i](t.written, v, at); ok {
			t.written = text
			t.values[i] = sqltypes.MakeTrusted(typ.Type(), text[start:len(text):len(text)])
			return nil
		}
	}
	x, err := t.read[i](ctx, v.At(at))
	if err != nil || x == nil {
		t.values[i] = sqltypes.NULL
		return err
	}
	t.values[i], err = typ.SQL(ctx, nil, x)
	return err
}

// zero is a column of the number without a sign.
var zero = store.Values{Kind: store.KindFloat, Floats: []float64{0}}

// writer appends the text of the value at i of a batch's column, which is not NULL, as a client
// gets it. Where ok is false, the value is one for the type's own conversions.
type writer func(b []byte, v *store.Values, i int) (text []byte, ok bool)

// writerOf returns the writer from values of a kind to an SQL type; nil where there is none. It
// writes what readerOf and the type would.
func writerOf(ctx *sql.Context, t sql.Type, kind store.ValueKind) writer {
	switch {
	case kind == store.KindInt && types.IsInteger(t), kind == store.KindBool && types.IsInteger(t):
		return integers(t)
	case kind == store.KindUint && t.Type() == sqltypes.Uint64:
		return func(b []byte, v *store.Values, i int) ([]byte, bool) {
			return strconv.AppendUint(b, uint64(v.Ints[i]), 10), true
		}
	case kind == store.KindFloat && t == types.Float64:
		return doubles
	case kind == store.KindText && utf8Text(ctx, t):
		return func(b []byte, v *store.Values, i int) ([]byte, bool) { return append(b, v.Texts[i]...), true }
	case kind == store.KindDate && t.Type() == sqltypes.Date:
		return func(b []byte, v *store.Values, i int) ([]byte, bool) { return appendDay(b, v.Ints[i]) }
	case kind == store.KindTimestamp && t.Type() == sqltypes.Datetime:
		return moments(t.(sql.DatetimeType).Precision())
	case kind == store.KindDecimal:
		if d, ok := t.(sql.DecimalType); ok {
			return decimals(d)
		}
	}
	return nil
}

// utf8Text reports whether texts of a type go to the client as they are.
func utf8Text(ctx *sql.Context, t sql.Type) bool {
	s, ok := t.(sql.StringType)
	if !ok || !types.IsTextOnly(t) {
		return false
	}
	set := ctx.GetCharacterSetResults()
	if set == sql.CharacterSet_Unspecified || set == sql.CharacterSet_binary {
		set = s.CharacterSet()
	}
	return set == sql.CharacterSet_utf8mb4
}

// integers writes what a type of integers can hold.
func integers(t sql.Type) writer {
	low, high := int64(0), int64(math.MaxInt64)
	switch t.Type() {
	case sqltypes.Int8:
		low, high = math.MinInt8, math.MaxInt8
	case sqltypes.Int16:
		low, high = math.MinInt16, math.MaxInt16
	case sqltypes.Int24:
		low, high = -1<<23, 1<<23-1
	case sqltypes.Int32:
		low, high = math.MinInt32, math.MaxInt32
	case sqltypes.Int64:
		low = math.MinInt64
	case sqltypes.Uint8:
		high = math.MaxUint8
	case sqltypes.Uint16:
		high = math.MaxUint16
	case sqltypes.Uint24:
		high = 1<<24 - 1
	case sqltypes.Uint32:
		high = math.MaxUint32
	case sqltypes.Uint64:
	default:
		return nil
	}
	return func(b []byte, v *store.Values, i int) ([]byte, bool) {
		x := v.Ints[i]
		if x < low || x > high {
			return b, false
		}
		return strconv.AppendInt(b, x, 10), true
	}
}

// doubles writes numbers as MySQL does. What is none is NULL.
func doubles(b []byte, v *store.Values, i int) ([]byte, bool) {
	x := v.Floats[i]
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return b, false
	}
	return sqltext.AppendDouble(b, x, 64), true
}

const daySeconds = 24 * 60 * 60

// appendDay appends a date, if its year has four digits.
func appendDay(b []byte, day int64) ([]byte, bool) {
	t := time.Unix(day*daySeconds, 0).UTC()
	y, m, d := t.Date()
	if y < 1000 || y > 9999 {
		return b, false
	}
	return append(b, digit(y/1000), digit(y/100), digit(y/10), digit(y), '-', digit(int(m)/10), digit(int(m)), '-', digit(d/10), digit(d)), true
}

func digit(n int) byte { return '0' + byte(n%10) }

// moments writes dates with times, of a number of digits of a fraction of a second. Where there is
// more to a moment, it is rounded elsewhere.
func moments(precision int) writer {
	return func(b []byte, v *store.Values, i int) ([]byte, bool) {
		seconds, micros := v.Ints[i]/1e6, v.Ints[i]%1e6
		if micros != 0 {
			return b, false
		}
		day, rest := seconds/daySeconds, int(seconds%daySeconds)
		if rest < 0 {
			day, rest = day-1, rest+daySeconds
		}
		b, ok := appendDay(b, day)
		if !ok {
			return b, false
		}
		h, m, s := rest/3600, rest/60%60, rest%60
		b = append(b, ' ', digit(h/10), digit(h), ':', digit(m/10), digit(m), ':', digit(s/10), digit(s))
		if precision > 0 {
			b = append(append(b, '.'), "000000"[:precision]...)
		}
		return b, true
	}
}

// decimals writes numbers that have a type's own scale, and no more digits than it.
func decimals(t sql.DecimalType) writer {
	limit, scale := uint64(math.MaxUint64), int(t.Scale())
	if p := t.Precision(); p < 20 {
		limit = 1
		for range p {
			limit *= 10
		}
	}
	return func(b []byte, v *store.Values, i int) ([]byte, bool) {
		x, n := v.Ints[i], uint64(v.Ints[i])
		if x < 0 {
			n = -n
		}
		if v.Scale != scale || n >= limit {
			return b, false
		}
		if x < 0 {
			b = append(b, '-')
		}
		return appendFixed(b, n, scale), true
	}
}

// appendFixed appends n / 10^scale with scale digits after the point.
func appendFixed(b []byte, n uint64, scale int) []byte {
	var digits [24]byte
	at := len(digits)
	for left := scale; n > 0 || left >= 0; left-- {
		if left == 0 && scale > 0 {
			at--
			digits[at] = '.'
		}
		at--
		digits[at] = '0' + byte(n%10)
		n /= 10
	}
	return append(b, digits[at:]...)
}
