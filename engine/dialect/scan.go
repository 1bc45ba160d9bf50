package dialect

import "strings"

// line passes a comment that ends with its line.
func (s *scanner) line() {
	if i := strings.IndexByte(s.src[s.pos:], '\n'); i >= 0 {
		s.pos += i + 1
		return
	}
	s.pos = len(s.src)
}

// dashes passes a comment, or reads a minus: two dashes begin a comment only before a blank, where
// vitess takes every two.
func (s *scanner) dashes() {
	if c := s.at(2); c <= ' ' {
		s.line()
		return
	}
	s.edit(s.pos+1, s.pos+1, " ")
	s.pos++
	s.emit(s.pos-1, mark)
}

// ownVersion is the first version of MySQL whose comments are not for this server, which speaks
// MySQL 8.0.
const ownVersion = 80100

// comment passes a comment. What stands in one for this server's version is read as tokens; one for
// a later version, or for MariaDB, is no part of the statement, though vitess reads it.
func (s *scanner) comment() {
	rest := s.src[s.pos+2:]
	end := strings.Index(rest, "*/")
	if end < 0 {
		start := s.pos
		s.pos = len(s.src)
		s.emit(start, wrong)
		return
	}
	after := s.pos + 2 + end + 2
	switch {
	case strings.HasPrefix(rest, "M!"):
		s.edit(s.pos, after, " ")
	case strings.HasPrefix(rest, "!") && !s.versioned:
		digits := 0
		version := 0
		for digits < 6 && 1+digits < len(rest) && digit(rest[1+digits]) {
			version = 10*version + int(rest[1+digits]-'0')
			digits++
		}
		if version < ownVersion {
			s.versioned = true
			s.pos += 3 + digits
			return
		}
		s.edit(s.pos, after, " ")
	}
	s.pos = after
}

// text reads a literal in quotes.
func (s *scanner) text(quote byte) {
	start, escaped := s.pos, false
	s.pos++
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '\\':
			escaped = true
			s.pos++
			if !s.mode.NoBackslash {
				s.pos++
			}
		case c == quote && s.at(1) == quote:
			s.pos += 2
		case c == quote:
			s.pos++
			s.emit(start, text).escaped = escaped
			return
		default:
			s.pos++
		}
	}
	s.pos = len(s.src)
	s.emit(start, wrong)
}

// quoted reads a name in quotes.
func (s *scanner) quoted(quote byte) {
	start := s.pos
	if !s.quotes(quote) {
		s.emit(start, wrong)
		return
	}
	s.emit(start, name)
}

// quotes passes a name in quotes, whose quotes are doubled in it.
func (s *scanner) quotes(quote byte) bool {
	s.pos++
	for s.pos < len(s.src) {
		switch {
		case s.src[s.pos] == quote && s.at(1) == quote:
			s.pos += 2
		case s.src[s.pos] == quote:
			s.pos++
			return true
		default:
			s.pos++
		}
	}
	return false
}

// variable reads a user's or a system variable.
func (s *scanner) variable() {
	start := s.pos
	s.pos++
	if s.at(0) == '@' {
		s.pos++
	}
	switch c := s.at(0); {
	case c == '`' || c == '"' || c == '\'':
		if !s.quotes(c) {
			s.emit(start, wrong)
			return
		}
	default:
		for s.pos < len(s.src) && (letter(s.src[s.pos]) || digit(s.src[s.pos])) {
			s.pos++
		}
	}
	s.emit(start, variable)
}

// number reads a number. What goes on with letters is a name: 1a.
func (s *scanner) number() {
	start := s.pos
	if s.src[s.pos] == '0' && (s.at(1)|0x20 == 'x' || s.at(1)|0x20 == 'b') {
		s.pos += 2
		for s.pos < len(s.src) && (digit(s.src[s.pos]) || letter(s.src[s.pos])) {
			s.pos++
		}
		s.emit(start, number)
		return
	}
	s.digits()
	if s.at(0) == '.' {
		s.pos++
		s.digits()
	}
	if s.at(0)|0x20 == 'e' && (digit(s.at(1)) || (s.at(1) == '+' || s.at(1) == '-') && digit(s.at(2))) {
		s.pos += 2
		s.digits()
	}
	if letter(s.at(0)) && strings.IndexByte(s.src[start:s.pos], '.') < 0 {
		s.word(start)
		return
	}
	s.emit(start, number)
}

func (s *scanner) digits() {
	for s.pos < len(s.src) && digit(s.src[s.pos]) {
		s.pos++
	}
}

// word reads a name without quotes, or a keyword, that began at start.
func (s *scanner) word(start int) {
	foreign := false
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		if !letter(c) && !digit(c) {
			break
		}
		foreign = foreign || c == '$' || c >= 0x80
		s.pos++
	}
	s.emit(start, word).foreign = foreign
}

// mark reads an operator or a separator.
func (s *scanner) mark() {
	start := s.pos
	s.pos++
	switch two := s.src[start:min(start+2, len(s.src))]; two {
	case ":=", "||", "&&", "<=", ">=", "<>", "!=", "<<", ">>", "->":
		s.pos++
	}
	if third := s.at(0); third == '>' {
		switch s.src[start:s.pos] {
		case "<=", "->":
			s.pos++
		}
	}
	s.emit(start, mark)
}
