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

// kind is what a token is.
type kind uint8

const (
	word     kind = iota // a name or a keyword without quotes
	name                 // a name in quotes
	text                 // a literal in quotes, without its introducer
	number               // also 0x1F and 0b01
	variable             // @x, @@x and @`x`, with a name behind @@ as far as its first dot
	mark                 // an operator or a separator, as few bytes as the rules need
	wrong                // what no token begins with, or what does not end
)

// token is a piece of a statement: text[start:end].
type token struct {
	start, end int
	kind       kind
	versioned  bool // it stands in a versioned comment
	escaped    bool // a text that holds a backslash
	foreign    bool // a word with letters that vitess does not take in names without quotes
}

// edit replaces text[start:end].
type edit struct {
	start, end int
	by         string
}

// scanner cuts a text into tokens.
type scanner struct {
	src       string
	pos       int
	mode      Mode
	tokens    []token
	edits     []edit // of what stands between tokens
	versioned bool
}

// scan cuts the first statement of src into tokens, up to the semicolon or src's end, and returns
// where it ends and what has to be edited between tokens: comments that are not for this server,
// and blanks that vitess does not know.
func scan(src string, mode Mode, room []token) (tokens []token, end int, edits []edit) {
	s := scanner{src: src, mode: mode, tokens: room[:0]}
	for s.next() {
	}
	return s.tokens, s.pos, s.edits
}

// Longer reports whether the first statement of src has more than so many tokens. It keeps none of
// them.
func Longer(src string, mode Mode, most int) bool {
	s := scanner{src: src, mode: mode}
	seen := 0
	for s.next() {
		if n := len(s.tokens); n > 1 { // the last one is looked at again
			seen += n - 1
			s.tokens[0] = s.tokens[n-1]
			s.tokens, s.edits = s.tokens[:1], s.edits[:0]
		}
		if seen >= most {
			return true
		}
	}
	return seen+len(s.tokens) > most
}

// next reads one token, or what stands before one. It returns false at the statement's end.
func (s *scanner) next() bool {
	if s.pos >= len(s.src) {
		return false
	}
	c, at := s.src[s.pos], s.pos
	switch {
	case c == ' ' || c == '\n' || c == '\t' || c == '\r':
		s.pos++
	case c == '\v' || c == '\f':
		s.pos++
		s.edit(at, s.pos, " ")
	case c == '#':
		s.line()
	case c == '-' && s.at(1) == '-':
		s.dashes()
	case c == '/' && s.at(1) == '*':
		s.comment()
	case c == '*' && s.at(1) == '/' && s.versioned:
		s.pos += 2
		s.versioned = false
	case c == ';':
		return false
	case c == '\'' || c == '"' && !s.mode.AnsiQuotes:
		s.text(c)
	case c == '`' || c == '"':
		s.quoted(c)
	case c == '@':
		s.variable()
	case c >= '0' && c <= '9' || c == '.' && digit(s.at(1)) && !s.qualified():
		s.number()
	case letter(c):
		s.word(at)
	default:
		s.mark()
	}
	return true
}

func (s *scanner) at(ahead int) byte {
	if i := s.pos + ahead; i < len(s.src) {
		return s.src[i]
	}
	return 0
}

func (s *scanner) edit(start, end int, by string) {
	s.edits = append(s.edits, edit{start, end, by})
}

func (s *scanner) emit(start int, k kind) *token {
	s.tokens = append(s.tokens, token{start: start, end: s.pos, kind: k, versioned: s.versioned})
	return &s.tokens[len(s.tokens)-1]
}

// qualified reports whether a dot at hand follows a name, so that t.1a is a name's part.
func (s *scanner) qualified() bool {
	if len(s.tokens) == 0 {
		return false
	}
	t := s.tokens[len(s.tokens)-1]
	return t.end == s.pos && (t.kind == word || t.kind == name)
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// upper is a word in upper case.
func (t *token) upper(src string) string { return strings.ToUpper(src[t.start:t.end]) }
