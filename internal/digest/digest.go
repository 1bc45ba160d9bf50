package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// MaxBytes bounds a redacted text.
const MaxBytes = 16 << 10

// maxRead is how much of a text is read: more than the longest statement that somebody wrote by
// hand, and little enough that a long INSERT costs a millisecond.
const maxRead = 256 << 10

// cut stands for what is left out.
const cut = "…"

// Redact returns the text of one or more statements without its literals, at most MaxBytes long. It
// never fails.
func Redact(sql string) string {
	long := len(sql) > maxRead
	if long {
		sql = sql[:maxRead]
	}
	tokens, whole := read(strings.ToValidUTF8(sql, "\uFFFD"), long)
	out := show(fold(tokens))
	if !whole || long {
		out = strings.TrimSpace(out + " " + cut)
	}
	return clip(out)
}

// Of returns a short name of a redacted text: 32 hexadecimal digits.
func Of(redacted string) string {
	h := sha256.Sum256([]byte(redacted))
	return hex.EncodeToString(h[:16])
}

// read returns the tokens of a text, and whether they are all of it. Of a text that goes on (long)
// the last token is left out, as it may be a part of one.
func read(sql string, long bool) ([]token, bool) {
	l := lexer{text: sql}
	tokens := l.run()
	end := l.odd // where the text cannot be read further, -1: nowhere
	if end >= 0 && l.unclear >= 0 {
		end = min(end, l.unclear)
	}
	if l.unclear >= 0 && end < 0 {
		// The other reading of a backslash before a quote. If it is one, nobody can say which was
		// meant.
		other := lexer{text: sql, plain: true}
		if other.run(); other.odd < 0 {
			end = l.unclear
		}
	}
	if end < 0 && !long {
		return tokens, true
	}
	for len(tokens) > 0 && (end >= 0 && tokens[len(tokens)-1].at >= end) {
		tokens = tokens[:len(tokens)-1]
	}
	if end < 0 && len(tokens) > 0 {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens, false
}

// clip cuts a text to MaxBytes at a character's edge.
func clip(s string) string {
	if len(s) <= MaxBytes {
		return s
	}
	n := MaxBytes - len(cut)
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + cut
}

// show prints tokens with one space where one belongs.
func show(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && spaced(tokens[i-1], t) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		if b.Len() > MaxBytes {
			break
		}
	}
	return b.String()
}

// spaced reports whether a space stands between two tokens. It depends on nothing but the tokens,
// so that texts which differ in white space print alike.
func spaced(a, b token) bool {
	switch {
	case a.text == "(" || a.text == "." || b.text == ")" || b.text == "," || b.text == "." || b.text == ";":
		return false
	case b.text == "(" || b.text == list:
		return a.kind == keyword || a.kind == operator || a.kind == literal || a.kind == hint
	}
	return true
}
