package wire

import (
	"bytes"
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
			v = sqltypes.MakeTrusted(sqltypes.VarBinary, long)
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
		v = sqltypes.MakeTrusted(sqltypes.VarBinary, bytes.Clone(r.text()))
	}
	return v, !r.bad
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
