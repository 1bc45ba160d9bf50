package dialect

import (
	"strings"

	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// heads are the rules for a statement that begins with a word, in upper case. They come before
// those for single tokens.
var heads = map[string]func(*statement){}

// words are the rules for a word, in upper case, wherever it stands.
var words = map[string]func(s *statement, i int){}

// longestWord is no less than the length of the longest key of words.
const longestWord = 32

// rules lets all rules look at the statement.
func (s *statement) rules() {
	if len(s.tokens) == 0 {
		return
	}
	if s.is(0, "(") && s.is(1, "SELECT", "(", "WITH", "VALUES", "TABLE") && s.close(0) == len(s.tokens)-1 {
		s.drop(0, 0) // the grammar has a statement in brackets within others only
		s.drop(len(s.tokens)-1, len(s.tokens)-1)
	}
	if t := s.tokens[0]; t.kind == word && t.end-t.start <= 16 {
		if rule := heads[strings.ToUpper(s.text(0))]; rule != nil {
			rule(s)
		}
	}
	for i := 0; i < len(s.tokens) && s.err == nil; i++ {
		s.token(i)
	}
}

// token lets the rules look at one token.
func (s *statement) token(i int) {
	switch t := &s.tokens[i]; t.kind {
	case word:
		s.word(i, t)
	case name:
		s.name(i, t)
	case text:
		s.literal(i, t)
	case number:
		s.number(i)
	case mark:
		switch s.src[t.start] {
		case '~':
			s.invert(i)
		case '{':
			s.escape(i)
		case ':':
			s.assignment(i)
		}
	}
}

// word looks a word up. A word behind a dot is a name.
func (s *statement) word(i int, t *token) {
	if t.foreign {
		s.replace(i, i, sqltext.Name(s.text(i)))
		return
	}
	n := t.end - t.start
	if n > longestWord || s.is(i-1, ".") || s.is(i+1, ".") {
		return
	}
	var room [longestWord]byte
	upper := room[:n]
	for k := range upper {
		c := s.src[t.start+k]
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper[k] = c
	}
	if rule := words[string(upper)]; rule != nil {
		rule(s, i)
	}
}

// refuse ends the reading.
func (s *statement) refuse(cause, remedy string) {
	s.err = refuse.New(refuse.Unsupported, "%s", cause).With("%s", remedy)
}
