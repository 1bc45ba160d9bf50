// Package collation says how texts compare: which of MySQL's collations the server has, and which
// of them compare by bytes.
package collation

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
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

// A text's key is its normal form: keys have the same bytes where the collation calls the texts
// equal. Its sort key has bytes in the collation's order. The planner, the store and
// go-mysql-server's expressions take both from here, so that they agree.
//
// The weights are go-mysql-server's: one of each character. So a key has as many characters as the
// text, and what MySQL expands or leaves out, such as ß = ss and a combining accent, is a character
// of its own.

// All lists the collations that the server has.
func All() []sql.CollationID { return slices.Clone(supported) }

// Pads reports whether a collation leaves spaces at the end of a text out.
func Pads(c sql.CollationID) bool { return !ByBytes(c) && c.Collation().PadAttribute == "PAD SPACE" }

// Key returns the normal form of a text: Key(c, a) = Key(c, b) where a = b by the collation. It is
// made of characters of the text's own classes, the simplest ones: mary of MÁRY.
func Key(c sql.CollationID, s string) string {
	if ByBytes(c) {
		return s
	}
	return string(TableOf(c).AppendKey(make([]byte, 0, len(s)), s))
}

// Fold returns the key of a text with all its spaces: what LIKE and searches within texts compare.
func Fold(c sql.CollationID, s string) string {
	if ByBytes(c) {
		return s
	}
	return string(TableOf(c).Fold(make([]byte, 0, len(s)), s))
}

// SortKey returns a text whose bytes compare as the collation compares s.
func SortKey(c sql.CollationID, s string) string {
	if ByBytes(c) {
		return s
	}
	return string(TableOf(c).AppendSortKey(make([]byte, 0, len(s)+len(s)/2), s))
}

// Compare orders two texts by the collation, as their sort keys are ordered.
func Compare(c sql.CollationID, a, b string) int {
	if ByBytes(c) {
		return strings.Compare(a, b)
	}
	t := TableOf(c)
	end := int32(-1) // what comes after the last character
	if t.pads {
		end = t.of(' ')
	}
	next := func(s *string) int32 {
		if *s == "" {
			return end
		}
		r, n := utf8.DecodeRuneInString(*s)
		*s = (*s)[n:]
		return t.of(r)
	}
	for a != "" || b != "" {
		if d := cmp.Compare(next(&a), next(&b)); d != 0 {
			return d
		}
	}
	return 0
}

// Table holds the weights of a collation.
type Table struct {
	pads   bool
	weight func(rune) int32
	low    []int32 // weights of the characters below tabled
	simple []rune  // by weight: the character that stands for the class
	last   rune    // stands for the characters that the charset does not have
	ascii  [utf8.RuneSelf]byte
}

// tabled bounds the characters whose weights are kept. Classes that lie beyond it wholly have one
// member each.
const tabled = 0x30000

var tables sync.Map // of func() *Table, by collation

// TableOf returns the table of a collation that is not ByBytes. The first use of each computes it.
func TableOf(c sql.CollationID) *Table {
	f, ok := tables.Load(c)
	if !ok {
		f, _ = tables.LoadOrStore(c, sync.OnceValue(func() *Table { return newTable(c) }))
	}
	return f.(func() *Table)()
}

func newTable(c sql.CollationID) *Table {
	t := &Table{pads: Pads(c), weight: c.Sorter(), low: make([]int32, tabled), last: -1}
	most := int32(0)
	for r := range t.low {
		if t.low[r] = t.weight(rune(r)); t.low[r] != math.MaxInt32 {
			most = max(most, t.low[r])
		}
	}
	t.simple = make([]rune, most+1)
	for w := range t.simple {
		t.simple[w] = -1
	}
	better := func(r, than rune) bool { return than < 0 || plain(r) < plain(than) }
	for i, w := range t.low {
		switch r := rune(i); {
		case !utf8.ValidRune(r):
		case w == math.MaxInt32:
			if better(r, t.last) {
				t.last = r
			}
		case better(r, t.simple[w]):
			t.simple[w] = r
		}
	}
	if t.last < 0 {
		t.last = tabled // of utf8mb3, which has what is tabled below its 0x10000
	}
	for b := range t.ascii {
		t.ascii[b] = 0xff
		if r := t.Simple(rune(b)); r < utf8.RuneSelf {
			t.ascii[b] = byte(r)
		}
	}
	return t
}

// plain orders the members of a class: the first in this order stands for it.
func plain(r rune) int {
	switch {
	case r < utf8.RuneSelf && (unicode.IsLower(r) || unicode.IsDigit(r)):
		return 0
	case unicode.IsLower(r):
		return 1
	case r < utf8.RuneSelf && unicode.IsPrint(r), unicode.Is(unicode.Cf, r):
		return 2
	case !unicode.IsGraphic(r):
		return 6
	case unicode.IsMark(r):
		return 5
	case unicode.ToLower(r) != r:
		return 4
	}
	return 3
}

func (t *Table) of(r rune) int32 {
	if r < tabled {
		return t.low[r]
	}
	return t.weight(r)
}

// Simple returns the character that stands for the class of r.
func (t *Table) Simple(r rune) rune {
	w := t.of(r)
	switch {
	case w == math.MaxInt32:
		return t.last
	case int(w) < len(t.simple) && t.simple[w] >= 0:
		return t.simple[w]
	}
	return r
}

// Fold appends the characters that stand for those of s.
func (t *Table) Fold(to []byte, s string) []byte {
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if k := t.ascii[b]; k != 0xff {
				to = append(to, k)
			} else {
				to = utf8.AppendRune(to, t.Simple(rune(b)))
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		to = utf8.AppendRune(to, t.Simple(r))
		i += n
	}
	return to
}

// AppendKey appends the key of s.
func (t *Table) AppendKey(to []byte, s string) []byte { return t.Fold(to, t.trimmed(s)) }

// trimmed returns s without the spaces at its end, and what has their weight, where the collation
// leaves them out.
func (t *Table) trimmed(s string) string {
	for t.pads && s != "" {
		r, n := utf8.DecodeLastRuneInString(s)
		if t.of(r) != t.of(' ') {
			break
		}
		s = s[:len(s)-n]
	}
	return s
}

// AppendSortKey appends the sort key of s: of each character one of its weight's rank. Where spaces
// at the end do not count, a text compares as if spaces without end went on behind it. So a space
// within it says whether what follows the spaces is below a space or above, and the end has its
// place between these two.
func (t *Table) AppendSortKey(to []byte, s string) []byte {
	if !t.pads {
		for _, r := range s {
			to = appendRank(to, t.of(r))
		}
		return to
	}
	s = t.trimmed(s)
	space := t.of(' ')
	for i, r := range s {
		switch w := t.of(r); {
		case w < space:
			to = appendRank(to, w)
		case w > space:
			to = appendRank(to, min(w, math.MaxInt32-2)+2)
		case t.above(s[i:], space):
			to = appendRank(to, space+2)
		default:
			to = appendRank(to, space)
		}
	}
	return appendRank(to, space+1)
}

// above reports whether what follows the spaces at the start of s is above a space.
func (t *Table) above(s string, space int32) bool {
	for _, r := range s {
		if w := t.of(r); w != space {
			return w > space
		}
	}
	return false
}

// single is the number of ranks that are one character each. There are more weights than
// characters: what is above is two.
const single = 0x10f000

// appendRank appends the characters of a weight, which compare as weights do.
func appendRank(to []byte, w int32) []byte {
	n := min(w, single+0x2000) + 1 // no zero byte
	if n < single {
		return utf8.AppendRune(to, character(n))
	}
	return utf8.AppendRune(utf8.AppendRune(to, character(single)), n-single+1)
}

// character returns the n-th code point that is a character.
func character(n int32) rune {
	if n >= 0xd800 {
		n += 0x800
	}
	return n
}

// Use is what a text is compared for.
type Use uint8

// Uses of the store's functions.
const (
	ForKey  Use = iota // Key
	ForFold            // Fold
	ForSort            // SortKey
	Uses
)

// Append appends what stands for s in a use.
func (t *Table) Append(use Use, to []byte, s string) []byte {
	switch use {
	case ForKey:
		return t.AppendKey(to, s)
	case ForFold:
		return t.Fold(to, s)
	}
	return t.AppendSortKey(to, s)
}

// Function returns the name of the store's function for a use of a collation, "" where the text
// itself will do.
func Function(c sql.CollationID, use Use) string {
	switch {
	case ByBytes(c):
		return ""
	case use == ForSort:
		return "sort_" + c.Name()
	case use == ForFold && Pads(c):
		return "fold_" + c.Name()
	}
	return "key_" + c.Name()
}
