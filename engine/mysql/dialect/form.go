package dialect

import (
	"fmt"
	"slices"
	"strings"

	"scrim/internal/lists"
	"scrim/internal/refuse"
	"scrim/internal/sqltext"
)

// Form is a statement as a whole that the grammar lacks, or that is to be answered otherwise:
// another statement answers it, or it is refused.
//
// Pattern is what the statement looks like, in pieces between blanks:
//
//	SHOW ENGINE          words, whatever their case
//	( * ) =              marks, each a piece of its own
//	[STORAGE]            may be left out
//	{IN|FROM}            one of these words; [IN|FROM] may be left out
//	<name>               a name, plain or in quotes; <word> and <number> likewise
//	<text>               a literal in quotes
//	<table>              a table with or without its database: two arguments, the first NULL where there is no database
//	<account>            'ann'@'%', ann or CURRENT_USER(): two arguments, name and host
//	<filter>             at the end: nothing, LIKE 'pattern' or WHERE condition, over the answer
//	<rest>               at the end: anything
//
// The first form of a list that fits counts.
type Form struct {
	Pattern string
	// Query is the statement that answers. $1, $2, … are the arguments in their order, as literals
	// in quotes, or NULL; :1, :2, … the same as names in quotes.
	Query string
	// Like is the column that the LIKE of a <filter> is about, "" for the first of the answer,
	// which Query then names by itself.
	Like string
	// Make writes the statement from the arguments, in the place of Query; "" where the form does
	// not fit after all.
	Make func(args []*string) string
	// Refusal says why there is no answer.
	Refusal *refuse.Error
}

// Empty is a query without rows: columns of texts with these names.
func Empty(columns ...string) string {
	return "SELECT " + strings.Join(lists.Map(columns, func(c string) string { return "'' AS " + sqltext.Name(c) }), ", ") + " FROM DUAL WHERE 1 = 0"
}

// forms finds patterns by their first word, in upper case.
type forms map[string][]form

type form struct {
	Form
	pieces []piece
}

// piece is one piece of a pattern.
type piece struct {
	words    []string // one of them
	class    string   // or what stands between < and >
	optional bool
}

// compile reads the patterns. It panics on one that is wrong, which is a bug of the list.
func compile(list []Form) forms {
	out := forms{}
	for _, f := range list {
		c := form{Form: f}
		c.pieces = append(c.pieces, lists.Map(strings.Fields(f.Pattern), compilePiece)...)
		if len(c.pieces) == 0 || len(c.pieces[0].words) != 1 || c.pieces[0].optional || (f.Query == "" && f.Make == nil) == (f.Refusal == nil) {
			panic("dialect: form without a first word, or without one answer: " + f.Pattern)
		}
		first := strings.ToUpper(c.pieces[0].words[0])
		out[first] = append(out[first], c)
	}
	return out
}

// classes are what may stand between < and >.
var classes = []string{"name", "word", "number", "text", "table", "account", "filter", "rest"}

func compilePiece(p string) piece {
	switch {
	case p[0] == '<' && len(p) > 2:
		c := strings.Trim(p, "<>")
		if !slices.Contains(classes, c) {
			panic("dialect: form with an unknown piece: " + p)
		}
		return piece{class: c}
	case p[0] == '[' && len(p) > 2:
		return piece{words: strings.Split(strings.Trim(p, "[]"), "|"), optional: true}
	case p[0] == '{' && len(p) > 2:
		return piece{words: strings.Split(strings.Trim(p, "{}"), "|")}
	}
	return piece{words: []string{p}}
}

// answer lets the first form that fits answer the statement.
func (f forms) answer(s *statement) bool {
	if len(s.tokens) == 0 || s.tokens[0].kind != word {
		return false
	}
	for _, c := range f[strings.ToUpper(s.text(0))] {
		m := match{s: s}
		if !m.all(c.pieces) {
			continue
		}
		if c.Refusal != nil {
			s.err = c.Refusal
			return true
		}
		query := c.Query
		if c.Make != nil {
			if query = c.Make(m.args); query == "" {
				continue
			}
		} else {
			query = fill(query, m.args)
		}
		s.whole(m.filtered(query, c.Like))
		return true
	}
	return false
}

// fill puts the arguments into a query.
func fill(query string, args []*string) string {
	for i := len(args); i > 0; i-- {
		literal, quoted := "NULL", "NULL"
		if a := args[i-1]; a != nil {
			literal, quoted = sqltext.Text(*a), sqltext.Name(*a)
		}
		query = strings.ReplaceAll(query, fmt.Sprintf("$%d", i), literal)
		query = strings.ReplaceAll(query, fmt.Sprintf(":%d", i), quoted)
	}
	return query
}

// match compares a statement with a pattern.
type match struct {
	s     *statement
	at    int // the next token
	args  []*string
	like  string // the literal of a <filter>
	where string // its condition
}

// all matches all pieces up to the statement's end.
func (m *match) all(pieces []piece) bool {
	return !slices.ContainsFunc(pieces, func(p piece) bool { return !m.piece(p) }) && m.s.ends(m.at)
}

func (m *match) piece(p piece) bool {
	if p.class != "" {
		return m.class(p.class)
	}
	if m.s.is(m.at, p.words...) {
		m.at++
		return true
	}
	return p.optional
}

func (m *match) class(class string) bool {
	switch class {
	case "filter":
		return m.filter()
	case "rest":
		m.at = len(m.s.tokens)
		return true
	case "table":
		return m.table()
	case "account":
		return m.account()
	}
	if m.s.ends(m.at) {
		return false
	}
	k := m.s.tokens[m.at].kind
	if fits := class == "text" && k == text || class == "number" && k == number || class == "word" && k == word ||
		class == "name" && (k == word || k == name); !fits {
		return false
	}
	m.take(m.at)
	m.at++
	return true
}

// take adds a token to the arguments.
func (m *match) take(i int) {
	v := m.s.unquoted(i)
	m.args = append(m.args, &v)
}

func (m *match) table() bool {
	if !m.s.named(m.at) {
		return false
	}
	if m.s.is(m.at+1, ".") && m.s.named(m.at+2) {
		m.take(m.at)
		m.take(m.at + 2)
		m.at += 3
		return true
	}
	m.args = append(m.args, nil)
	m.take(m.at)
	m.at++
	return true
}

// account matches an account as GRANT names one.
func (m *match) account() bool {
	if m.s.is(m.at, "CURRENT_USER", "USER") {
		n := 1
		if m.s.are(m.at+1, "(", ")") {
			n = 3
		}
		if n == 3 || m.s.is(m.at, "CURRENT_USER") {
			m.args = append(m.args, &m.s.who.User, &m.s.who.Host)
			m.at += n
			return true
		}
	}
	if m.s.ends(m.at) || m.s.tokens[m.at].kind != text && !m.s.named(m.at) {
		return false
	}
	m.take(m.at)
	m.at++
	host := "%"
	if !m.s.ends(m.at) && m.s.tokens[m.at].kind == variable && m.s.tokens[m.at].start == m.s.tokens[m.at-1].end {
		host = m.s.host(m.at)
		m.at++
	}
	m.args = append(m.args, &host)
	return true
}

// host reads the host of an account, which the scanner takes for a variable.
func (s *statement) host(i int) string {
	t := s.text(i)[1:]
	if len(t) < 2 || strings.IndexByte("`'\"", t[0]) < 0 {
		return t
	}
	return strings.ReplaceAll(t[1:len(t)-1], t[:1]+t[:1], t[:1])
}

// filter matches a condition on the answer's rows.
func (m *match) filter() bool {
	s := m.s
	switch {
	case s.is(m.at, "LIKE") && !s.ends(m.at+1) && s.tokens[m.at+1].kind == text:
		m.like = sqltext.Text(s.unquoted(m.at + 1))
		m.at += 2
	case s.is(m.at, "WHERE") && !s.ends(m.at+1):
		m.where = s.src[s.tokens[m.at+1].start:s.tokens[len(s.tokens)-1].end]
		m.at = len(s.tokens)
	}
	return true
}

// filtered puts the filter around a query.
func (m *match) filtered(query, column string) string {
	switch {
	case m.like != "":
		return "SELECT * FROM (" + query + ") AS answer WHERE " + sqltext.Name(column) + " LIKE " + m.like
	case m.where != "":
		return "SELECT * FROM (" + query + ") AS answer WHERE " + m.where
	}
	return query
}
