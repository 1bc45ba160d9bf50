package dialect

import (
	"fmt"
	"slices"
	"strings"

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
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = "'' AS " + sqltext.Name(c)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM DUAL WHERE 1 = 0"
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
		for _, p := range strings.Fields(f.Pattern) {
			c.pieces = append(c.pieces, compilePiece(p))
		}
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
