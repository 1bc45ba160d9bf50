package dialect

import (
	"context"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"
)

// Grammar is a parser that reads what vitess' grammar lacks, too. It is safe for concurrent use.
type Grammar struct {
	sql.Parser
	forms forms
}

// Parser wraps a parser of vitess' grammar. The forms are tried in their order, before the rules.
func Parser(base sql.Parser, list ...Form) *Grammar {
	return &Grammar{Parser: base, forms: compile(list)}
}

// ParseSimple implements sql.Parser: go-mysql-server reads defaults and checks of tables with it.
func (p *Grammar) ParseSimple(query string) (ast.Statement, error) {
	m, changed, err := p.adjust(query, Mode{}, Caller{}, false)
	switch {
	case err != nil:
		return nil, err
	case !changed:
		s, err := p.Parser.ParseSimple(query)
		return tree(s, query, err)
	}
	s, err := p.Parser.ParseSimple(m.text)
	return m.tree(s, err)
}

// Parse implements sql.Parser: it reads a client's statement.
func (p *Grammar) Parse(ctx *sql.Context, query string, multi bool) (ast.Statement, string, string, error) {
	m, changed, err := p.adjust(query, ModeOf(sql.LoadSqlMode(ctx)), callerOf(ctx), multi)
	switch {
	case err != nil:
		return nil, "", "", err
	case !changed:
		s, first, rest, err := p.Parser.Parse(ctx, query, multi)
		s, err = tree(s, query, err)
		return s, first, rest, err
	}
	s, _, _, err := p.Parser.Parse(ctx, m.text, false)
	return m.outcome(s, query, multi, err)
}

// ParseWithOptions implements sql.Parser: go-mysql-server reads views with it, and statements a second time.
func (p *Grammar) ParseWithOptions(ctx context.Context, query string, delimiter rune, multi bool, o ast.ParserOptions) (ast.Statement, string, string, error) {
	mode := modeIn(ctx).with(o)
	if defines(query) {
		mode.NoBackslash = false // adjust lets no other definition pass
	}
	m, changed, err := p.adjust(query, mode, callerIn(ctx), multi)
	switch {
	case err != nil:
		return nil, "", "", err
	case !changed:
		s, first, rest, err := p.Parser.ParseWithOptions(ctx, query, delimiter, multi, o)
		s, err = tree(s, query, err)
		return s, first, rest, err
	}
	s, _, _, err := p.Parser.ParseWithOptions(ctx, m.text, delimiter, false, o)
	return m.outcome(s, query, multi, err)
}

// ParseOneWithOptions implements sql.Parser: what is prepared comes here.
func (p *Grammar) ParseOneWithOptions(ctx context.Context, query string, o ast.ParserOptions) (ast.Statement, int, error) {
	m, changed, err := p.adjust(query, modeIn(ctx).with(o), callerIn(ctx), true)
	switch {
	case err != nil:
		return nil, 0, err
	case !changed:
		s, end, err := p.Parser.ParseOneWithOptions(ctx, query, o)
		s, err = tree(s, query, err)
		return s, end, err
	}
	s, _, err := p.Parser.ParseOneWithOptions(ctx, m.text, o)
	s, err = m.tree(s, err)
	return s, min(m.end+1, len(query)), err // past the semicolon
}

// tree ends the reading of a statement: it rewrites what the rules for tokens have marked, and refuses what could not be planned soon.
func tree(s ast.Statement, text string, err error) (ast.Statement, error) {
	if err == nil {
		err = bounded(s, text)
	}
	if err != nil || !strings.Contains(text, RollupMark) {
		return s, err
	}
	return s, rollups(s)
}

// tree ends the reading of an edited statement.
func (m adjusted) tree(s ast.Statement, err error) (ast.Statement, error) {
	if err != nil {
		return nil, err
	}
	return tree(m.restore(s), m.text, nil)
}

// defines reports whether a text is the definition of a view.
func defines(query string) bool {
	tokens, _, _ := scan(query, Mode{}, nil)
	s := statement{src: query, tokens: tokens}
	return s.view()
}

// view reports whether the statement is CREATE VIEW.
func (s *statement) view() bool {
	if !s.is(0, "CREATE", "ALTER") {
		return false
	}
	for i := 1; i < len(s.tokens) && !s.is(i, "AS"); i++ {
		if s.is(i, "VIEW") {
			return true
		}
	}
	return false
}

// definition refuses the definition of a view that means something else in another session: it is kept as it was written.
func (s *statement) definition() {
	if !s.mode.NoBackslash || !s.view() {
		return
	}
	for _, t := range s.tokens {
		if t.escaped {
			s.refuse("A view whose texts have backslashes cannot be defined under NO_BACKSLASH_ESCAPES.", "SET sql_mode = DEFAULT, and write each backslash twice.")
		}
	}
}

// modeIn is the mode of the session in a context, if there is one.
func modeIn(ctx context.Context) Mode {
	if c, ok := ctx.(*sql.Context); ok && c.Session != nil {
		return ModeOf(sql.LoadSqlMode(c))
	}
	return Mode{}
}

func callerIn(ctx context.Context) Caller {
	if c, ok := ctx.(*sql.Context); ok {
		return callerOf(c)
	}
	return Caller{}
}

func callerOf(ctx *sql.Context) Caller {
	if ctx.Session == nil {
		return Caller{}
	}
	c := ctx.Session.Client()
	return Caller{User: c.User, Host: c.Address}
}

// Placeholders counts the question marks of a statement that stand for values.
func Placeholders(ctx *sql.Context, query string) int {
	tokens, _, _ := scan(query, ModeOf(sql.LoadSqlMode(ctx)), nil)
	s := statement{src: query, tokens: tokens}
	n := 0
	for i := range tokens {
		if s.is(i, "?") {
			n++
		}
	}
	return n
}

// room holds the tokens of a statement between statements.
var room = sync.Pool{New: func() any { t := make([]token, 0, 256); return &t }}

// adjust edits the first statement of a text. What follows it is left out if cut is set, and left as it is otherwise.
func (p *Grammar) adjust(query string, mode Mode, who Caller, cut bool) (m adjusted, changed bool, err error) {
	tokens := room.Get().(*[]token)
	list, end, edits := scan(query, mode, *tokens)
	defer func() {
		*tokens = list[:0]
		room.Put(tokens)
	}()
	s := statement{src: query[:end], mode: mode, who: who, tokens: list, edits: edits}
	answered := p.forms.answer(&s)
	if !answered {
		s.rules()
		s.definition()
	}
	if s.err != nil || len(s.edits) == 0 {
		return adjusted{}, false, s.err
	}
	m = s.apply()
	m.answered, m.end = answered, end
	if !cut {
		m.text += query[end:]
	}
	return m, true, nil
}

// outcome ends the reading of an edited statement: the text that is told and what follows it are the client's.
func (m adjusted) outcome(s ast.Statement, query string, multi bool, err error) (ast.Statement, string, string, error) {
	if s, err = m.tree(s, err); err != nil {
		return nil, "", "", err
	}
	first, rest := query, ""
	if multi && sql.RemoveSpaceAndDelimiter(query[m.end:], ';') != "" {
		first, rest = query[:m.end], query[m.end+1:]
	}
	return s, sql.RemoveSpaceAndDelimiter(first, ';'), rest, nil
}
