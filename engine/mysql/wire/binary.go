package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// MySQL's numbers of types, as parameters have them.
const (
	typeDecimal    = 0x00
	typeTiny       = 0x01
	typeShort      = 0x02
	typeLong       = 0x03
	typeFloat      = 0x04
	typeDouble     = 0x05
	typeNull       = 0x06
	typeTimestamp  = 0x07
	typeLongLong   = 0x08
	typeInt24      = 0x09
	typeDate       = 0x0a
	typeTime       = 0x0b
	typeDatetime   = 0x0c
	typeYear       = 0x0d
	typeVarchar    = 0x0f
	typeBit        = 0x10
	typeJSON       = 0xf5
	typeNewDecimal = 0xf6
	typeTinyBlob   = 0xf9
	typeBlob       = 0xfc
)

// parameterType is how a client sends a parameter.
type parameterType struct {
	kind     byte
	unsigned bool
}

// values reads the parameters of an execution: which are NULL, their types, if the client names
// them again, and the others' values. Long data goes before both. ok is false when something is
// missing, or of an unknown type.
func (st *statement) values(r *reader) (values map[string]*querypb.BindVariable, ok bool) {
	if st.Params == 0 {
		return nil, true
	}
	nulls := r.bytes(uint64(st.Params+7) / 8)
	if r.uint8() == 1 {
		types := make([]parameterType, st.Params)
		for i := range types {
			types[i] = parameterType{r.uint8(), r.uint8()&0x80 != 0}
		}
		if !r.bad {
			st.types = types
		}
	}
	if r.bad || st.types == nil {
		return nil, false
	}
	values = make(map[string]*querypb.BindVariable, st.Params)
	for i, t := range st.types {
		v := sqltypes.NULL
		if long, sent := st.long[i]; sent {
			v = t.text(long)
		} else if nulls[i/8]&(1<<(i%8)) == 0 {
			if v, ok = t.value(r); !ok {
				return nil, false
			}
		}
		values["v"+strconv.Itoa(i+1)] = sqltypes.ValueBindVariable(v)
	}
	return values, !r.bad
}

// value reads one value; ok is false when it is of an unknown type, or not whole.
func (t parameterType) value(r *reader) (v sqltypes.Value, ok bool) {
	switch t.kind {
	case typeNull:
		return sqltypes.NULL, true
	case typeTiny:
		n := r.uint8()
		v = t.integer(uint64(n), int64(int8(n)))
	case typeShort, typeYear:
		n := r.uint16()
		v = t.integer(uint64(n), int64(int16(n)))
	case typeLong, typeInt24:
		n := r.uint32()
		v = t.integer(uint64(n), int64(int32(n)))
	case typeLongLong:
		n := r.uint64()
		v = t.integer(n, int64(n))
	case typeFloat:
		v = float(float64(math.Float32frombits(r.uint32())), 32)
	case typeDouble:
		v = float(math.Float64frombits(r.uint64()), 64)
	case typeDate, typeDatetime, typeTimestamp:
		return moment(r, t.kind == typeDate)
	case typeTime:
		return duration(r)
	case typeDecimal, typeNewDecimal:
		text := bytes.Clone(r.text())
		v = sqltypes.MakeTrusted(sqltypes.VarBinary, text)
		if isDecimal(text) {
			v = sqltypes.MakeTrusted(sqltypes.Decimal, text)
		}
	default:
		if t.kind < typeJSON && t.kind != typeVarchar && t.kind != typeBit {
			return v, false
		}
		v = t.text(bytes.Clone(r.text()))
	}
	return v, !r.bad
}

// text is a text, VARCHAR, or what the client calls binary, VARBINARY.
func (t parameterType) text(b []byte) sqltypes.Value {
	if t.kind >= typeTinyBlob && t.kind <= typeBlob || t.kind == typeBit {
		return sqltypes.MakeTrusted(sqltypes.VarBinary, b)
	}
	return sqltypes.MakeTrusted(sqltypes.VarChar, b)
}

func (t parameterType) integer(unsigned uint64, signed int64) sqltypes.Value {
	if t.unsigned {
		return sqltypes.NewUint64(unsigned)
	}
	return sqltypes.NewInt64(signed)
}

// float is a number as a value; MySQL has no NaN and no infinity, and takes them for NULL.
func float(x float64, bits int) sqltypes.Value {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return sqltypes.NULL
	}
	return sqltypes.MakeTrusted(sqltypes.Float64, strconv.AppendFloat(nil, x, 'g', -1, bits))
}

// isDecimal reports whether text is a number in plain digits.
func isDecimal(text []byte) bool {
	digits, points := 0, 0
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			points++
		case (c == '-' || c == '+') && i == 0:
		default:
			return false
		}
	}
	return digits > 0 && digits <= 65 && points <= 1
}

// moment reads a date, with or without a time of the day.
func moment(r *reader, date bool) (sqltypes.Value, bool) {
	size := r.uint8()
	if size != 0 && size != 4 && size != 7 && size != 11 {
		return sqltypes.NULL, false
	}
	f := reader{b: r.bytes(uint64(size))}
	text := fmt.Sprintf("%04d-%02d-%02d", f.uint16(), f.uint8(), f.uint8())
	if !date || size > 4 {
		text += fmt.Sprintf(" %02d:%02d:%02d", f.uint8(), f.uint8(), f.uint8())
	}
	if size == 11 {
		text += fmt.Sprintf(".%06d", f.uint32())
	}
	return sqltypes.NewVarChar(text), !r.bad
}

// duration reads a TIME.
func duration(r *reader) (sqltypes.Value, bool) {
	size := r.uint8()
	if size != 0 && size != 8 && size != 12 {
		return sqltypes.NULL, false
	}
	f := reader{b: r.bytes(uint64(size))}
	sign := ""
	if f.uint8() == 1 {
		sign = "-"
	}
	hours := uint64(f.uint32())*24 + uint64(f.uint8())
	text := fmt.Sprintf("%s%02d:%02d:%02d", sign, hours, f.uint8(), f.uint8())
	if size == 12 {
		text += fmt.Sprintf(".%06d", f.uint32())
	}
	return sqltypes.NewVarChar(text), !r.bad
}

// appendBinaryRow appends a row as prepared statements send it: a zero byte, a bit for each NULL,
// shifted by two, and the values of the others by the fields' types.
func appendBinaryRow(b []byte, fields []*querypb.Field, row []sqltypes.Value) ([]byte, error) {
	if len(row) != len(fields) {
		return nil, fmt.Errorf("wire: row of %d values for %d fields", len(row), len(fields))
	}
	b = append(b, packetOK)
	nulls := len(b)
	b = append(b, make([]byte, (len(fields)+7+2)/8)...)
	for i, v := range row {
		if v.IsNull() {
			b[nulls+(i+2)/8] |= 1 << ((i + 2) % 8)
			continue
		}
		var err error
		if b, err = appendBinary(b, fields[i].Type, v.Raw()); err != nil {
			return nil, fmt.Errorf("wire: column %d as %v: %w", i+1, fields[i].Type, err)
		}
	}
	return b, nil
}

// appendBinary appends a value, given as text, by its type.
func appendBinary(b []byte, t querypb.Type, text []byte) ([]byte, error) {
	switch t {
	case sqltypes.Int8, sqltypes.Int16, sqltypes.Int24, sqltypes.Int32, sqltypes.Int64:
		n, err := strconv.ParseInt(string(text), 10, 64)
		return appendInteger(b, t, uint64(n)), err
	case sqltypes.Uint8, sqltypes.Uint16, sqltypes.Uint24, sqltypes.Uint32, sqltypes.Uint64, sqltypes.Year:
		n, err := strconv.ParseUint(string(text), 10, 64)
		return appendInteger(b, t, n), err
	case sqltypes.Float32:
		x, err := strconv.ParseFloat(string(text), 32)
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x))), err
	case sqltypes.Float64:
		x, err := strconv.ParseFloat(string(text), 64)
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(x)), err
	case sqltypes.Date, sqltypes.Datetime, sqltypes.Timestamp:
		return appendMoment(b, text)
	case sqltypes.Time:
		return appendDuration(b, text)
	}
	return appendText(b, text), nil
}

// appendInteger appends as many bytes of n as the type has.
func appendInteger(b []byte, t querypb.Type, n uint64) []byte {
	switch t {
	case sqltypes.Int8, sqltypes.Uint8:
		return append(b, byte(n))
	case sqltypes.Int16, sqltypes.Uint16, sqltypes.Year:
		return binary.LittleEndian.AppendUint16(b, uint16(n))
	case sqltypes.Int64, sqltypes.Uint64:
		return binary.LittleEndian.AppendUint64(b, n)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(n))
}

// digits reads the numbers of a text that is made of them and of separators, at most n of them. The
// last one is a fraction of a second, in microseconds.
func digits(text []byte, n int) ([]uint64, error) {
	out := make([]uint64, n)
	text, fraction, _ := bytes.Cut(text, []byte("."))
	parts := bytes.FieldsFunc(text, func(r rune) bool { return r == '-' || r == ':' || r == ' ' || r == 'T' })
	if len(parts) >= n {
		return nil, fmt.Errorf("more than %d numbers", n-1)
	}
	for i, p := range parts {
		x, err := strconv.ParseUint(string(p), 10, 32)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	if len(fraction) > 0 {
		micro := append([]byte("000000")[:0:0], fraction[:min(6, len(fraction))]...)
		for len(micro) < 6 {
			micro = append(micro, '0')
		}
		x, err := strconv.ParseUint(string(micro), 10, 32)
		if err != nil {
			return nil, err
		}
		out[n-1] = x
	}
	return out, nil
}

// appendMoment appends a date and time "2006-01-02 15:04:05.000000", or what of it is not zero.
func appendMoment(b []byte, text []byte) ([]byte, error) {
	n, err := digits(text, 7)
	if err != nil {
		return b, err
	}
	size := byte(11)
	switch {
	case n[6] > 0:
	case n[3]+n[4]+n[5] > 0:
		size = 7
	case n[0]+n[1]+n[2] > 0:
		size = 4
	default:
		size = 0
	}
	full := append(b, size, byte(n[0]), byte(n[0]>>8), byte(n[1]), byte(n[2]), byte(n[3]), byte(n[4]), byte(n[5]))
	full = binary.LittleEndian.AppendUint32(full, uint32(n[6]))
	return full[:len(b)+1+int(size)], nil
}

// appendDuration appends a TIME "-123:04:05.000000", or what of it is not zero.
func appendDuration(b []byte, text []byte) ([]byte, error) {
	sign := byte(0)
	if len(text) > 0 && text[0] == '-' {
		sign, text = 1, text[1:]
	}
	n, err := digits(text, 4)
	if err != nil {
		return b, err
	}
	size := byte(12)
	switch {
	case n[3] > 0:
	case n[0]+n[1]+n[2] > 0:
		size = 8
	default:
		size = 0
	}
	full := binary.LittleEndian.AppendUint32(append(b, size, sign), uint32(n[0]/24))
	full = append(full, byte(n[0]%24), byte(n[1]), byte(n[2]))
	full = binary.LittleEndian.AppendUint32(full, uint32(n[3]))
	return full[:len(b)+1+int(size)], nil
}
