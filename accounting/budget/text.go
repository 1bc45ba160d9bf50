package budget

import (
	"strings"
	"unicode/utf8"

	"scrim/accounting/internal/invalid"
)

// MaxStatement is how many bytes of a statement a record keeps: enough to recognise a generated
// query, little enough that a flood of long ones does not fill the disk.
const MaxStatement = 16 << 10

// MaxName bounds the names of accounts and principals. MySQL's longest user@host is 32+1+255
// characters of up to four bytes.
const MaxName = 4 * 320

// CheckName refuses an s that is no name of what: one that is empty, longer than MaxName bytes, not
// UTF-8, or with a NUL character.
func CheckName(what, s string) error {
	switch {
	case s == "":
		return invalid.New("%s is empty", what)
	case len(s) > MaxName:
		return invalid.New("%s: want at most %d bytes, have %d", what, MaxName, len(s))
	case !utf8.ValidString(s):
		return invalid.New("%s is not UTF-8", what)
	case strings.IndexByte(s, 0) >= 0:
		return invalid.New("%s holds a NUL character", what)
	}
	return nil
}

// Clip cuts a text to what a record keeps, at a character's edge.
func Clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= MaxStatement {
		return s
	}
	cut := MaxStatement - len("…")
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}
