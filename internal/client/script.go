package client

import (
	"slices"
	"strings"
)

// Statement is one statement of a text, or one command, which begins with a backslash.
type Statement struct {
	Text     string // without its end
	Vertical bool   // it ended with \G
	Line     int    // where it begins, from 1
}

func (s Statement) Command() bool { return strings.HasPrefix(s.Text, `\`) }

// Next takes the first statement of a text. It ends with ; or \g or \G outside quotes and
// comments, a command with its line. Where whole is false, the text has no end of a statement: s
// is what there is of it, which may be nothing. Comments before a statement are left out; those
// within are sent, since hints are comments.
func Next(text string) (s Statement, rest string, whole bool) {
	start := blank(text)
	s.Line = 1 + strings.Count(text[:start], "\n")
	if strings.HasPrefix(text[start:], `\`) {
		line, rest, ended := strings.Cut(text[start:], "\n")
		s.Text = strings.TrimRight(strings.TrimSpace(line), ";")
		return s, rest, ended
	}
	for i := start; i < len(text); i = skip(text, i) {
		width := 1
		switch {
		case text[i] == ';':
		case strings.HasPrefix(text[i:], `\G`), strings.HasPrefix(text[i:], `\g`):
			s.Vertical, width = text[i+1] == 'G', 2
		default:
			continue
		}
		s.Text = strings.TrimSpace(text[start:i])
		return s, text[i+width:], true
	}
	s.Text = strings.TrimSpace(text[start:])
	return s, "", false
}

// Complete reports whether a text that is being typed can be run: nothing of a statement is open.
func Complete(text string) bool {
	for {
		s, rest, whole := Next(text)
		if !whole {
			return s.Text == "" || s.Command() || Leaves(s.Text)
		}
		text = rest
	}
}

// Leaves reports whether a line without an end asks to leave, as users of other clients type it.
func Leaves(line string) bool { return line == "exit" || line == "quit" }

// blank is the length of the white space, lone semicolons and comments that a text begins with.
// Comments that a server reads, /*! and /*+, are none.
func blank(text string) int {
	i := 0
	for i < len(text) {
		switch {
		case strings.IndexByte(" \t\r\n;", text[i]) >= 0:
			i++
		case comment(text[i:]) && !strings.HasPrefix(text[i:], "/*!") && !strings.HasPrefix(text[i:], "/*+"):
			i = skip(text, i)
		default:
			return i
		}
	}
	return i
}

// comment reports whether a text begins with a comment.
func comment(text string) bool {
	return strings.HasPrefix(text, "/*") || strings.HasPrefix(text, "#") || strings.HasPrefix(text, "-- ") ||
		strings.HasPrefix(text, "--\n") || strings.HasPrefix(text, "--\t") || text == "--"
}

// skip is the place after the quoted text, the comment or the byte at i.
func skip(text string, i int) int {
	switch c := text[i]; {
	case c == '\'' || c == '"' || c == '`':
		for j := i + 1; j < len(text); j++ {
			if text[j] == c {
				return j + 1 // a doubled quote is a second text
			}
			if text[j] == '\\' && c != '`' {
				j++
			}
		}
		return len(text)
	case strings.HasPrefix(text[i:], "/*"):
		if n := strings.Index(text[i+2:], "*/"); n >= 0 {
			return i + 2 + n + 2
		}
		return len(text)
	case comment(text[i:]):
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			return i + n + 1
		}
		return len(text)
	}
	return i + 1
}

// Asks reports whether a statement asks for rows that may be a private answer.
func Asks(query string) bool {
	return WordAt(query, 0, "SELECT") || WordAt(query, 0, "WITH") || WordAt(query, 0, "EXECUTE") || strings.HasPrefix(query, "(")
}

// Single is the one statement of a text, without its end; ok is false where the text has none or
// more than one.
func Single(text string) (query string, ok bool) {
	s, rest, _ := Next(text)
	return s.Text, s.Text != "" && !s.Command() && !s.Vertical && blank(rest) == len(rest)
}

// reading are the words that a statement begins with which changes nothing.
var reading = []string{"SELECT", "WITH", "SHOW", "DESCRIBE", "DESC", "EXPLAIN"}

// changing are words outside parentheses that make a statement change something, or write a file.
var changing = []string{"INSERT", "UPDATE", "DELETE", "REPLACE", "INTO", "ANALYZE"}

// Reads reports, by the text alone, whether a statement only reads. What an account may do is for
// the server to say.
func Reads(query string) bool {
	begins := func(word string) bool { return WordAt(query, 0, word) }
	if query == "" || query[0] != '(' && !slices.ContainsFunc(reading, begins) {
		return false
	}
	if WordAt(query, 0, "SHOW") {
		return true
	}
	for depth, i := 0, 0; i < len(query); i = skip(query, i) {
		switch query[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		stands := func(word string) bool { return WordAt(query, i, word) }
		if depth == 0 && slices.ContainsFunc(changing, stands) && !call(query, i) {
			return false
		}
	}
	return true
}

// call reports whether the word at i is the name of a function.
func call(query string, i int) bool {
	for i < len(query) && Letter(query[i]) {
		i++
	}
	return i < len(query) && query[i] == '('
}
