package dialect

import (
	"encoding/hex"
	"strings"

	"scrim/internal/sqltext"
)

// literal adjusts a text in quotes: N'x' is 'x', since all texts are Unicode, and without backslash
// escapes a text with backslashes is written in hexadecimal digits, which say the same to the
// grammar in every mode.
//
//	"it's 50\%"    'it''s 50\\%'
func (s *statement) literal(i int, t *token) {
	if s.is(i-1, "N") && s.tokens[i-1].end == t.start {
		s.drop(i-1, i-1)
	}
	switch double := s.src[t.start] == '"'; {
	case t.escaped && s.mode.NoBackslash:
		s.replace(i, i, "_utf8mb4 x'"+hex.EncodeToString([]byte(s.unquoted(i)))+"'")
	case double, t.escaped:
		v := s.text(i)
		if double {
			v = single(v)
		}
		if v = patterns(v); v != s.text(i) {
			s.replace(i, i, v)
		}
	}
}

// single writes a text in double quotes in single ones: the binder takes one beside an aggregate
// for a column.
func single(v string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 1; i < len(v)-1; i++ {
		switch v[i] {
		case '\\':
			b.WriteString(v[i : i+2])
			i++
		case '"':
			b.WriteByte('"')
			i++
		case '\'':
			b.WriteString("''")
		default:
			b.WriteByte(v[i])
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// patterns writes the backslash before % and _ twice: it stays in the text, for LIKE, and vitess
// would take it off.
func patterns(v string) string {
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		b.WriteByte(v[i])
		if v[i] != '\\' || i+1 == len(v) {
			continue
		}
		i++
		if v[i] == '%' || v[i] == '_' {
			b.WriteByte('\\')
		}
		b.WriteByte(v[i])
	}
	return b.String()
}

// name adjusts a name in double quotes within a versioned comment, where vitess forgets
// ANSI_QUOTES.
func (s *statement) name(i int, t *token) {
	if t.versioned && s.src[t.start] == '"' {
		s.replace(i, i, sqltext.Name(s.unquoted(i)))
	}
}

// number writes 0b01 as b'01'.
func (s *statement) number(i int) {
	if v := s.text(i); len(v) > 2 && v[1] == 'b' && strings.Trim(v[2:], "01") == "" {
		s.replace(i, i, "b'"+v[2:]+"'")
	}
}

// escape takes ODBC's escapes off: {d '2020-01-01'} is DATE '2020-01-01', {fn …} and {oj …} are
// what stands in them.
func (s *statement) escape(i int) {
	last := s.close(i)
	if last == len(s.tokens) || !s.named(i+1) {
		return
	}
	by := ""
	if i+3 == last && s.tokens[i+2].kind == text {
		switch strings.ToLower(s.text(i + 1)) {
		case "d":
			by = "DATE "
		case "t":
			by = "TIME "
		case "ts":
			by = "TIMESTAMP "
		}
	}
	s.replace(i, i+1, by)
	s.drop(last, last)
}

// invert makes a call of ~x, which the binder has not.
func (s *statement) invert(i int) {
	last := i + 1
	switch {
	case s.ends(last), s.tokens[last].kind == text:
		return
	case s.is(last, "("):
		last = s.close(last)
	case s.is(last, "-"):
		last++
	default:
		for s.is(last+1, ".") {
			last += 2
		}
		if s.is(last+1, "(") {
			last = s.close(last + 1)
		}
	}
	if last >= len(s.tokens) || s.is(i+1, "~") {
		return
	}
	s.replace(i, i, sqltext.Name(InvertFunction)+"(")
	s.before(last+1, ")")
}
