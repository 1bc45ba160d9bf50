package dialect

import (
	"slices"
	"sort"
	"strings"
)

// statement is a text in tokens, with what has been noted for it.
type statement struct {
	src    string
	mode   Mode
	who    Caller
	tokens []token
	edits  []edit
	row    rowSeen
	steps  int   // how many tokens have been passed in search of an end
	err    error // a refusal
}

// maxSteps bounds the search for the ends of brackets and expressions: where they stand within each
// other it takes the square of their number.
const maxSteps = 1 << 22

// step counts a token that is passed; false once there have been too many, and the statement is
// refused.
func (s *statement) step() bool {
	if s.steps++; s.steps > maxSteps && s.err == nil {
		s.refuse("The statement has too many expressions within each other.", "Write several statements.")
	}
	return s.steps <= maxSteps
}

// Caller is the account that a statement comes from; both are empty where nobody is known.
type Caller struct{ User, Host string }

// text returns the bytes of a token, "" beyond the last.
func (s *statement) text(i int) string {
	if i < 0 || i >= len(s.tokens) {
		return ""
	}
	return s.src[s.tokens[i].start:s.tokens[i].end]
}

// is reports whether a token is one of these words, without quotes, or marks.
func (s *statement) is(i int, words ...string) bool {
	if i < 0 || i >= len(s.tokens) || s.tokens[i].kind != word && s.tokens[i].kind != mark {
		return false
	}
	t := s.text(i)
	return slices.ContainsFunc(words, func(w string) bool { return equal(t, w) })
}

// are reports whether these words and marks follow each other from a token on.
func (s *statement) are(i int, words ...string) bool {
	for k, w := range words {
		if !s.is(i+k, w) {
			return false
		}
	}
	return true
}

// named reports whether a token can be a name.
func (s *statement) named(i int) bool {
	return i < len(s.tokens) && (s.tokens[i].kind == word || s.tokens[i].kind == name)
}

// ends reports whether there is nothing from a token on.
func (s *statement) ends(i int) bool { return i >= len(s.tokens) }

// close returns the token that closes the bracket at i, or the number of tokens.
func (s *statement) close(i int) int {
	depth := 0
	for ; i < len(s.tokens); i++ {
		if !s.step() {
			return len(s.tokens)
		}
		switch {
		case s.is(i, "(", "{"):
			depth++
		case s.is(i, ")", "}"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return i
}

// replace notes that the tokens from first to last are replaced.
func (s *statement) replace(first, last int, by string) {
	s.edits = append(s.edits, edit{s.tokens[first].start, s.tokens[last].end, by})
}

// drop notes that the tokens from first to last are left out.
func (s *statement) drop(first, last int) { s.replace(first, last, " ") }

// before notes a text in front of a token, or at the end.
func (s *statement) before(i int, what string) {
	at := len(s.src)
	if i < len(s.tokens) {
		at = s.tokens[i].start
	} else if len(s.tokens) > 0 {
		at = s.tokens[len(s.tokens)-1].end
	}
	s.edits = append(s.edits, edit{at, at, what})
}

// whole notes that another statement takes this one's place.
func (s *statement) whole(by string) {
	s.edits = []edit{{0, len(s.src), by}}
}

// unquoted is the value of a token that is a name or a text.
func (s *statement) unquoted(i int) string {
	t := s.text(i)
	if k := s.tokens[i].kind; k != name && k != text || len(t) < 2 {
		return t
	}
	quote := t[:1]
	v := strings.ReplaceAll(t[1:len(t)-1], quote+quote, quote)
	if s.tokens[i].kind == text && s.tokens[i].escaped && !s.mode.NoBackslash {
		v = unescape(v)
	}
	return v
}

// unescape resolves backslashes as MySQL does: % and _ keep theirs.
func unescape(v string) string {
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		if v[i] != '\\' || i+1 == len(v) {
			b.WriteByte(v[i])
			continue
		}
		i++
		switch c := v[i]; c {
		case '0':
			b.WriteByte(0)
		case 'b':
			b.WriteByte('\b')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'Z':
			b.WriteByte(26)
		case '%', '_':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// adjusted is a text after its edits, and the way back.
type adjusted struct {
	text     string
	src      string // the client's statement
	end      int    // where that ends in the client's text
	edits    []edit // in their order, none within another
	answered bool   // by a form
	mode     Mode
}

// apply makes the edits. Of edits that overlap the one that begins first, or else is longest, is
// made, after what is put in front of it.
func (s *statement) apply() adjusted {
	e := s.edits
	sort.SliceStable(e, func(i, j int) bool {
		if e[i].start != e[j].start {
			return e[i].start < e[j].start
		}
		ni, nj := e[i].end-e[i].start, e[j].end-e[j].start
		return ni == 0 && nj > 0 || nj > 0 && ni > nj
	})
	m := adjusted{src: s.src}
	var b strings.Builder
	at := 0
	for _, x := range e {
		if x.start < at {
			continue
		}
		b.WriteString(s.src[at:x.start])
		b.WriteString(x.by)
		at = x.end
		m.edits = append(m.edits, x)
	}
	b.WriteString(s.src[at:])
	m.text = b.String()
	return m
}

// back returns the place in the client's text of a place in the edited one. A place within what
// replaced something is where that begins, or ends if end is set.
func (m adjusted) back(pos int, end bool) int {
	shift := 0 // the client's place less the edited one
	for _, x := range m.edits {
		start := x.start - shift
		stop := start + len(x.by)
		switch {
		case pos == start && end && m.src[x.start:x.end] == "}":
			return x.end // what ends an escape
		case pos < start, pos == start && (!end || len(x.by) > 0):
			return pos + shift
		case pos < stop, pos == stop && end:
			if end {
				return x.end
			}
			return x.start
		}
		shift = x.end - stop
	}
	return pos + shift
}
