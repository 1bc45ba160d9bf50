package dialect

import "strings"

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

// set is a set of words.
func set(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[w] = true
	}
	return out
}
