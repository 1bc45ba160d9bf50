package clickhouse

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
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
