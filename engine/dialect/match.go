package dialect

import (
	"strings"

	"scrim/internal/sqltext"
)

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
	for _, p := range pieces {
		if !m.piece(p) {
			return false
		}
	}
	return m.s.ends(m.at)
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
