package engine

import (
	"bytes"
	"math"
	"strconv"

	"github.com/dolthub/vitess/go/sqltypes"
	querypb "github.com/dolthub/vitess/go/vt/proto/query"
)

// mysqlDoubles writes the DOUBLE and FLOAT values of a row as MySQL does: plain digits from 1e-15 up to
// 1e15, else a mantissa and an exponent without sign or zeros in front, as in 1.5e20.
func mysqlDoubles(fields []*querypb.Field, row []sqltypes.Value) {
	for i, f := range fields {
		bits := 64
		switch f.Type {
		case querypb.Type_FLOAT64:
		case querypb.Type_FLOAT32:
			bits = 32
		default:
			continue
		}
		text := row[i].Raw()
		if row[i].IsNull() || bytes.IndexByte(text, 'e') < 0 {
			continue
		}
		if x, err := strconv.ParseFloat(string(text), bits); err == nil {
			row[i] = sqltypes.MakeTrusted(f.Type, mysqlDouble(x, bits))
		}
	}
}

func mysqlDouble(x float64, bits int) []byte {
	if a := math.Abs(x); a >= 1e-15 && a < 1e15 {
		return strconv.AppendFloat(nil, x, 'f', -1, bits)
	}
	mantissa, exponent, _ := bytes.Cut(strconv.AppendFloat(nil, x, 'e', -1, bits), []byte{'e'})
	sign := ""
	if exponent[0] == '-' {
		sign = "-"
	}
	out := append(mantissa, 'e')
	out = append(out, sign...)
	return append(out, bytes.TrimLeft(exponent[1:], "0")...)
}
