package client

import (
	"regexp"
	"strings"
)

// alias finds the name that an expression of a select list is given.
var alias = regexp.MustCompile("(?is)^(.*?\\S)\\s+AS\\s+(`[^`]+`|[a-z_][a-z_0-9]*)$")

// WithIntervals adds the ends of the 95 % interval of the second column to a SELECT of two columns:
//
//	SELECT city, COUNT(*) AS n FROM visits GROUP BY city
//	SELECT city, COUNT(*) AS n, DP_LOW(n), DP_HIGH(n) FROM visits GROUP BY city
//
// It looks at the text alone; ok is false where that is not so simple. Whether the server knows an
// interval is for the server to say.
func WithIntervals(query string) (extended string, ok bool) {
	if !WordAt(query, 0, "SELECT") {
		return "", false
	}
	depth, comma, from := 0, -1, -1
	for i := len("SELECT"); i < len(query) && from < 0; i = skip(query, i) {
		switch query[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth > 0 {
				break
			}
			if comma >= 0 {
				return "", false // three columns
			}
			comma = i
		case 'F', 'f':
			if depth == 0 && WordAt(query, i, "FROM") {
				from = i
			}
		}
	}
	if comma < 0 || from < 0 {
		return "", false
	}
	answer := strings.TrimSpace(query[comma+1 : from])
	if m := alias.FindStringSubmatch(answer); m != nil {
		answer = m[2]
	}
	if answer == "" || strings.Contains(answer, "*") && !strings.Contains(answer, "(") {
		return "", false
	}
	return strings.TrimRight(query[:from], " \t\r\n") + ", DP_LOW(" + answer + "), DP_HIGH(" + answer + ") " + query[from:], true
}

// WordAt reports whether a word stands at i, in any case.
func WordAt(text string, i int, word string) bool {
	end := i + len(word)
	return end <= len(text) && strings.EqualFold(text[i:end], word) && (i == 0 || !Letter(text[i-1])) && (end == len(text) || !Letter(text[end]))
}

// Letter reports whether a byte may be part of a name.
func Letter(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
