package client

import "slices"

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
