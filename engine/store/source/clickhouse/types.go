package clickhouse

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"scrim/engine/store/source"
	"scrim/internal/lists"
)

// kind is how the values of a column are read, and what they are in the store.
type kind struct {
	store string           // the store's type
	read  string           // what is read in place of a column, whose name is %s
	wire  string           // the type that it has then
	names map[int64]string // what the numbers of an enumeration stand for
}

// partial tells whether there are values of the type that the store cannot have. They are NULL.
func (k *kind) partial() bool { return k.store == "VARCHAR" || k.wire == "Decimal" }

// plain are ClickHouse's types without parameters. Moments are read as numbers, so that neither
// server's nor column's time zone matters: a DateTime is a moment, and becomes its time in UTC.
// The server makes no texts: toString of an Enum that is NULL fails, and of a Decimal128 is wrong
// (18.16).
var plain = map[string]kind{
	"Int8": {"TINYINT", "%s", "Int8", nil}, "Int16": {"SMALLINT", "%s", "Int16", nil}, "Int32": {"INTEGER", "%s", "Int32", nil}, "Int64": {"BIGINT", "%s", "Int64", nil},
	"UInt8": {"UTINYINT", "%s", "UInt8", nil}, "UInt16": {"USMALLINT", "%s", "UInt16", nil}, "UInt32": {"UINTEGER", "%s", "UInt32", nil}, "UInt64": {"UBIGINT", "%s", "UInt64", nil},
	"Float32": {"FLOAT", "%s", "Float32", nil}, "Float64": {"DOUBLE", "%s", "Float64", nil},
	"String": {"VARCHAR", "%s", "String", nil}, "UUID": {"VARCHAR", "%s", "String", nil},
	"Date": {"DATE", "toUInt16(%s)", "UInt16", nil}, "DateTime": {"TIMESTAMP", "toInt64(toUInt32(%s)) * 1000000", "Int64", nil},
}

var (
	wrapped     = regexp.MustCompile(`^(Nullable|LowCardinality)\((.*)\)$`)
	decimals    = regexp.MustCompile(`^Decimal\(([0-9]+), ([0-9]+)\)$`)
	inTimeZone  = regexp.MustCompile(`^DateTime\('[^']*'\)$`)
	fixedString = regexp.MustCompile(`^FixedString\([0-9]+\)$`)
)

// kindOf returns what a type is in the store, or nil where the store has no type for it.
func kindOf(typ string) (k *kind, null bool) {
	for m := wrapped.FindStringSubmatch(typ); m != nil; m = wrapped.FindStringSubmatch(typ) {
		null, typ = null || m[1] == "Nullable", m[2]
	}
	if inTimeZone.MatchString(typ) {
		typ = "DateTime"
	}
	if k, ok := plain[typ]; ok {
		return &k, null
	}
	switch m := decimals.FindStringSubmatch(typ); {
	case m != nil:
		if p, err := strconv.Atoi(m[1]); err == nil && p <= 38 { // as many digits as the store's type has
			return &kind{fmt.Sprintf("DECIMAL(%s,%s)", m[1], m[2]), "%s", "Decimal", nil}, null
		}
	case fixedString.MatchString(typ):
		return &kind{store: "VARCHAR", read: "%s", wire: "FixedString"}, null
	}
	if names, ok := labels(typ); ok {
		return &kind{"VARCHAR", "toInt16(%s)", "Int16", names}, null
	}
	return nil, null
}

// text is a text as the store can hold it. ClickHouse's are any bytes: what is not UTF-8 is NULL. A
// fixed string comes without the zeros that fill it up.
func text(s string, fixed bool) (string, bool) {
	if fixed {
		s = strings.TrimRight(s, "\x00")
	}
	return s, utf8.ValidString(s)
}

var (
	enumType = regexp.MustCompile(`^Enum(?:8|16)\((.*)\)$`)
	enumItem = regexp.MustCompile(`^(?:, )?'((?:[^'\\]|\\.)*)' = (-?[0-9]+)`)
	escaped  = regexp.MustCompile(`\\.`)
)

// labels reads what the numbers of an enumeration stand for; ok is false where the type is none
// that is understood. Numbers are read rather than names: the library's reader of such a type ends
// the process where a name has a quote in it.
func labels(typ string) (names map[int64]string, ok bool) {
	m := enumType.FindStringSubmatch(typ)
	if m == nil {
		return nil, false
	}
	names = map[int64]string{}
	for rest := m[1]; rest != ""; {
		item := enumItem.FindStringSubmatch(rest)
		if item == nil {
			return nil, false
		}
		n, err := strconv.ParseInt(item[2], 10, 16)
		name, clear := unescape(item[1])
		if err != nil || !clear {
			return nil, false
		}
		names[n], rest = name, rest[len(item[0]):]
	}
	return names, true
}

// unescape reads a text as it is between quotes.
func unescape(s string) (out string, ok bool) {
	ok = true
	out = escaped.ReplaceAllStringFunc(s, func(e string) string {
		at := strings.IndexByte(`'\ntr0bf`, e[1])
		if at < 0 {
			ok = false
			return ""
		}
		return "'\\\n\t\r\x00\b\f"[at : at+1]
	})
	return out, ok
}

// reader reads the values of a column, one by one.
type reader interface {
	into() any                    // where the next value goes
	take(v *source.Vector, i int) // puts it at its place
}

// of reads values of one type, of which a nullable one comes as a pointer. The library leaves the
// pointer as it was at a NULL of some types, decimals among them, so that it is nil before every
// row.
type of[T any] struct {
	put  func(v *source.Vector, i int, value T) (ok bool) // false: NULL
	one  T
	null *T
	may  bool // be NULL
}

func (r *of[T]) into() any {
	if r.may {
		return &r.null
	}
	return &r.one
}

func (r *of[T]) take(v *source.Vector, i int) {
	switch {
	case !r.may:
		v.Null[i] = !r.put(v, i, r.one)
	case r.null != nil:
		v.Null[i] = !r.put(v, i, *r.null)
		r.null = nil
	default:
		v.Null[i] = true
	}
}

func whole[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](v *source.Vector, i int, value T) bool {
	v.Ints[i] = int64(value) // UInt64 by its bits
	return true
}

func floating[T float32 | float64](v *source.Vector, i int, value T) bool {
	v.Floats[i] = float64(value)
	return true
}

// numeral puts a decimal number by its digits. ClickHouse lets numbers of more digits into a column
// than its type says, as far as they fit into the bits: they are NULL.
func numeral(digits, scale int) func(*source.Vector, int, decimal.Decimal) bool {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	return func(v *source.Vector, i int, value decimal.Decimal) bool {
		n := value.Coefficient()
		if int(value.Exponent()) != -scale {
			n = value.Shift(int32(scale)).BigInt()
		}
		if n.CmpAbs(limit) >= 0 {
			return false
		}
		if v.Ints != nil {
			v.Ints[i] = n.Int64()
			return true
		}
		low := new(big.Int).And(n, lowest) // in two's complement
		v.Wide[i] = source.Int128{Hi: new(big.Int).Rsh(n, 64).Int64(), Lo: low.Uint64()}
		return true
	}
}

// lowest has the lower 64 bits.
var lowest = new(big.Int).SetUint64(math.MaxUint64)

func named(names map[int64]string) func(*source.Vector, int, int16) bool {
	return func(v *source.Vector, i int, value int16) (ok bool) {
		v.Texts[i], ok = names[int64(value)]
		return ok
	}
}

func textual(fixed bool) func(*source.Vector, int, string) bool {
	return func(v *source.Vector, i int, value string) (ok bool) {
		if v.Texts[i], ok = text(value, fixed); !ok {
			v.Texts[i] = ""
		}
		return ok
	}
}

// reader reads the column.
func (c *column) reader() reader {
	if c.as.names != nil {
		return &of[int16]{put: named(c.as.names), may: c.null}
	}
	switch c.as.wire {
	case "Int8":
		return &of[int8]{put: whole[int8], may: c.null}
	case "Int16":
		return &of[int16]{put: whole[int16], may: c.null}
	case "Int32":
		return &of[int32]{put: whole[int32], may: c.null}
	case "Int64":
		return &of[int64]{put: whole[int64], may: c.null}
	case "UInt8":
		return &of[uint8]{put: whole[uint8], may: c.null}
	case "UInt16":
		return &of[uint16]{put: whole[uint16], may: c.null}
	case "UInt32":
		return &of[uint32]{put: whole[uint32], may: c.null}
	case "UInt64":
		return &of[uint64]{put: whole[uint64], may: c.null}
	case "Float32":
		return &of[float32]{put: floating[float32], may: c.null}
	case "Float64":
		return &of[float64]{put: floating[float64], may: c.null}
	case "Decimal":
		digits, scale, _ := source.Decimal(c.as.store)
		return &of[decimal.Decimal]{put: numeral(digits, scale), may: c.null}
	}
	return &of[string]{put: textual(c.as.wire == "FixedString"), may: c.null}
}

// scanSQL reads columns of all rows, once.
func (t *table) scanSQL(columns []column) string {
	list := lists.Map(columns, func(c column) string { return fmt.Sprintf(c.as.read, "`"+c.name+"`") })
	return "SELECT " + strings.Join(list, ", ") + " FROM " + t.database + "." + t.name
}

// read hands over columns of all rows.
func (s *session) read(ctx context.Context, t *table, list []column, columns []source.Column, each func(*source.Batch) error) error {
	readers, into := make([]reader, len(list)), make([]any, len(list))
	for i := range list {
		readers[i] = list[i].reader()
		into[i] = readers[i].into()
	}
	return source.Piped(columns, each, func(b *source.Batch, next func(*source.Batch) (*source.Batch, error)) (*source.Batch, error) {
		err := s.rows(ctx, t.scanSQL(list), func(scan func(...any) error) (err error) {
			if err := scan(into...); err != nil {
				return err
			}
			for i, r := range readers {
				r.take(&b.Columns[i], b.Len)
			}
			if b.Len++; b.Len == source.BatchRows {
				b, err = next(b)
			}
			return err
		})
		return b, err
	})
}
