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
