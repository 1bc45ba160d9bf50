package dialect

import (
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Mode is what a session's sql_mode says about the grammar. IGNORE_SPACE is not here: a function's
// name may always be followed by blanks.
type Mode struct {
	AnsiQuotes        bool // "x" is a name and not a text
	PipesAsConcat     bool // a || b is CONCAT(a, b) and not a OR b
	NoBackslash       bool // \ in a text is a letter like others
	HighNotPrecedence bool // NOT binds as ! does
}

// ModeOf reads a value of sql_mode.
func ModeOf(m *sql.SqlMode) Mode {
	return Mode{
		AnsiQuotes:        m.AnsiQuotes(),
		PipesAsConcat:     m.PipesAsConcat(),
		NoBackslash:       m.ModeEnabled(sql.NoBackslashEscapes),
		HighNotPrecedence: m.ModeEnabled(sql.HighNotPrecedence),
	}
}

// with returns the mode for a text that is read with the parser's options, such as a view's: what
// the options do not tell is the session's.
func (m Mode) with(o ast.ParserOptions) Mode {
	m.AnsiQuotes, m.PipesAsConcat = o.AnsiQuotes, o.PipesAsConcat
	return m
}

// equal compares words without regard to case.
func equal(text, word string) bool {
	return len(text) == len(word) && strings.EqualFold(text, word)
}
