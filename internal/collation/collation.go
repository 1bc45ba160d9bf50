// Package collation says how texts compare: which of MySQL's collations the server has, and which
// of them compare by bytes.
package collation

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
)

// Bytes is the collation of texts that are declared without one: they are equal where their bytes
// are.
const Bytes = sql.Collation_utf8mb4_0900_bin

// supported are the collations that a column may have, by the number that MySQL gives them.
var supported = []sql.CollationID{
	sql.Collation_utf8mb4_0900_ai_ci, sql.Collation_utf8mb4_0900_as_ci, sql.Collation_utf8mb4_0900_as_cs, sql.Collation_utf8mb4_0900_bin,
	sql.Collation_utf8mb4_general_ci, sql.Collation_utf8mb4_unicode_ci, sql.Collation_utf8mb4_bin,
	sql.Collation_utf8mb3_general_ci, sql.Collation_utf8mb3_unicode_ci, sql.Collation_utf8mb3_bin,
	sql.Collation_latin1_swedish_ci, sql.Collation_latin1_general_ci, sql.Collation_latin1_general_cs, sql.Collation_latin1_bin,
	sql.Collation_ascii_general_ci, sql.Collation_ascii_bin, sql.Collation_binary,
}

// Supported reports whether the server has a collation.
func Supported(c sql.CollationID) bool {
	return c == sql.Collation_Unspecified || slices.Contains(supported, c)
}

// SupportedCharset reports whether the server has a character set.
func SupportedCharset(c sql.CharacterSetID) bool {
	return c == sql.CharacterSet_Unspecified || slices.ContainsFunc(supported, func(s sql.CollationID) bool { return s.CharacterSet() == c })
}

// Check refuses a collation that the server does not have, and names one that it has.
func Check(c sql.CollationID) error {
	if Supported(c) {
		return nil
	}
	if set := c.CharacterSet(); !SupportedCharset(set) {
		return mysql.NewSQLError(1235, "42000", "The character set %s is not supported. Use utf8mb4, utf8mb3, latin1, ascii or binary.", set.Name())
	}
	use := sql.Collation_utf8mb4_0900_ai_ci
	switch name := c.Name(); {
	case strings.HasPrefix(name, "latin1"):
		use = sql.Collation_latin1_swedish_ci
	case strings.HasSuffix(name, "_as_cs"), strings.HasSuffix(name, "_cs_ks"):
		use = sql.Collation_utf8mb4_0900_as_cs
	case !strings.Contains(name, "_0900_"):
		use = sql.Collation_utf8mb4_unicode_ci
	}
	return mysql.NewSQLError(1235, "42000", "The collation %s is not supported. Use %s.", c.Name(), use.Name())
}

// ByBytes reports whether texts of a collation are equal exactly where their bytes are, and ordered
// as these. The collations that end in _bin are not all of this kind: most of them pad with blanks.
func ByBytes(c sql.CollationID) bool {
	return c == sql.Collation_Unspecified || c == Bytes || c == sql.Collation_binary
}

// Of is the collation of the values of a type, Bytes for those that are no texts.
func Of(t sql.Type) sql.CollationID {
	if c, ok := t.(sql.TypeWithCollation); ok && !ByBytes(c.Collation()) {
		return c.Collation()
	}
	return Bytes
}

// Narrow reports whether a character set has not all characters.
func Narrow(set sql.CharacterSetID) bool {
	return set == sql.CharacterSet_latin1 || set == sql.CharacterSet_ascii || set == sql.CharacterSet_utf8mb3
}

// Converted reports whether texts of a character set are converted for clients: those that say
// utf8mb3, as old ones do that know every character, get and send all.
func Converted(set sql.CharacterSetID) bool {
	return Narrow(set) && set != sql.CharacterSet_utf8mb3
}

// Outside is the place in a text of the first character that a character set does not have, -1
// where it has all.
func Outside(set sql.CharacterSetID, text string) int {
	if !Narrow(set) {
		return -1
	}
	for i, r := range text {
		switch {
		case r < utf8.RuneSelf, set == sql.CharacterSet_utf8mb3 && r <= 0xffff:
		case set == sql.CharacterSet_latin1:
			if _, ok := set.Encoder().EncodeRune([]byte(string(r))); !ok {
				return i
			}
		default:
			return i
		}
	}
	return -1
}

// Encoded returns a text as clients of a character set get it, with question marks as in Within.
func Encoded(set sql.CharacterSetID, text string) string {
	switch set {
	case sql.CharacterSet_latin1:
		b, _ := set.Encoder().Encode([]byte(Within(set, text)))
		return string(b)
	case sql.CharacterSet_ascii:
		return Within(set, text)
	}
	return text
}

// Within returns a text with question marks in the place of characters that a character set does
// not have.
func Within(set sql.CharacterSetID, text string) string {
	if Outside(set, text) < 0 {
		return text
	}
	letters := []rune(text)
	for i, r := range letters {
		if Outside(set, string(r)) >= 0 {
			letters[i] = '?'
		}
	}
	return string(letters)
}
