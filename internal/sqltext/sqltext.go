// Package sqltext quotes names and texts for statements: of MySQL, as clients send and read them,
// and of the store. It writes numbers as MySQL does.
package sqltext

import (
	"math"
	"strconv"
	"strings"

	"scrim/internal/lists"
)

// Name quotes a name for MySQL.
func Name(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

var text = strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", `\0`)

// Text quotes a text for MySQL, in the modes in which a backslash escapes.
func Text(s string) string { return "'" + text.Replace(s) + "'" }

// StoreName quotes a name for the store.
func StoreName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// StoreText quotes a text for the store, in which a backslash is a character like others.
func StoreText(s string) string { return `'` + strings.ReplaceAll(s, `'`, `''`) + `'` }

// StoreTable quotes the name of a table with its schema for the store.
func StoreTable(schema, name string) string { return StoreName(schema) + "." + StoreName(name) }

// List separates items by commas.
func List(items []string) string { return strings.Join(items, ", ") }

// StoreNames writes names for the store, separated by commas.
func StoreNames(names []string) string {
	return List(lists.Map(names, StoreName))
}

// AppendDouble appends a number as MySQL writes a DOUBLE: plain digits from 1e-15 up to 1e15, else
// a mantissa and an exponent without sign or zeros in front, as in 1.5e20. It has the digits that
// tell it from other numbers of so many bits.
func AppendDouble(b []byte, x float64, bits int) []byte {
	if a := math.Abs(x); a == 0 || a >= 1e-15 && a < 1e15 {
		return strconv.AppendFloat(b, x, 'f', -1, bits)
	}
	b = strconv.AppendFloat(b, x, 'e', -1, bits)
	// The exponent has a sign and at least two digits.
	at := len(b) - 1
	for b[at] != 'e' {
		at--
	}
	digits := b[at+2:]
	if b[at+1] == '-' {
		at++
	}
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	return append(b[:at+1], digits...)
}

// AppendFloat appends a number as MySQL writes a FLOAT: by six digits.
func AppendFloat(b []byte, x float64) []byte {
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'e', 5, 64), 64)
	return AppendDouble(b, x, 64)
}
