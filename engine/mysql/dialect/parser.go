package dialect

import (
	"context"
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/functions"
)

// Grammar is the one parser of statements. It brings a text into vitess' grammar, which lacks some
// of MySQL's, has it parsed once, and hands the tree through its steps. It is safe for concurrent
// use.
type Grammar struct {
	sql.Parser
	forms forms
	admit func(ctx *sql.Context, text string) error
	steps []Step
}

// Step changes the tree of a statement, or refuses the statement. It returns the tree that counts.
type Step func(ctx context.Context, s ast.Statement) (ast.Statement, error)

// Parser reads by a parser of vitess' grammar. The forms are tried in their order, before the
// rules.
func Parser(base sql.Parser, list ...Form) *Grammar {
	return &Grammar{Parser: base, forms: compile(list)}
}

// Admit has texts of clients refused before they are parsed.
func (p *Grammar) Admit(admit func(ctx *sql.Context, text string) error) *Grammar {
	p.admit = admit
	return p
}

// Then adds steps, which every tree goes through in their order.
func (p *Grammar) Then(steps ...Step) *Grammar {
	p.steps = append(p.steps, steps...)
	return p
}

// ParseSimple implements sql.Parser: go-mysql-server reads defaults and checks of tables with it.
func (p *Grammar) ParseSimple(query string) (ast.Statement, error) {
	m, _, err := p.adjust(query, Mode{}, Caller{}, false)
	if err != nil {
		return nil, err
	}
	s, err := p.Parser.ParseSimple(m.text)
	return p.tree(context.Background(), m, s, err)
}

// Parse implements sql.Parser: it reads a client's statement.
func (p *Grammar) Parse(ctx *sql.Context, query string, multi bool) (ast.Statement, string, string, error) {
	if err := p.admitted(ctx, query); err != nil {
		return nil, "", "", err
	}
	m, changed, err := p.adjust(query, ModeOf(sql.LoadSqlMode(ctx)), callerOf(ctx), multi)
	if err != nil {
		return nil, "", "", err
	}
	s, first, rest, err := p.Parser.Parse(ctx, m.text, multi && !changed)
	if changed {
		first, rest = m.parts(query, multi)
	}
	s, err = p.tree(ctx, m, s, err)
	return s, first, rest, err
}

// ParseWithOptions implements sql.Parser: go-mysql-server reads views with it, and statements a
// second time.
func (p *Grammar) ParseWithOptions(ctx context.Context, query string, delimiter rune, multi bool, o ast.ParserOptions) (ast.Statement, string, string, error) {
	mode := modeIn(ctx).with(o)
	if defines(query) {
		mode.NoBackslash = false // adjust lets no other definition pass
	}
	m, changed, err := p.adjust(query, mode, callerIn(ctx), multi)
	if err != nil {
		return nil, "", "", err
	}
	s, first, rest, err := p.Parser.ParseWithOptions(ctx, m.text, delimiter, multi && !changed, o)
	if changed {
		first, rest = m.parts(query, multi)
	}
	s, err = p.tree(ctx, m, s, err)
	return s, first, rest, err
}

// ParseOneWithOptions implements sql.Parser: what is prepared comes here.
func (p *Grammar) ParseOneWithOptions(ctx context.Context, query string, o ast.ParserOptions) (ast.Statement, int, error) {
	if client, ok := ctx.(*sql.Context); ok {
		if err := p.admitted(client, query); err != nil {
			return nil, 0, err
		}
	}
	m, changed, err := p.adjust(query, modeIn(ctx).with(o), callerIn(ctx), true)
	if err != nil {
		return nil, 0, err
	}
	s, end, err := p.Parser.ParseOneWithOptions(ctx, m.text, o)
	if changed {
		end = min(m.end+1, len(query)) // past the semicolon
	}
	s, err = p.tree(ctx, m, s, err)
	return s, end, err
}

// admitted refuses a text that its sender may not have parsed.
func (p *Grammar) admitted(ctx *sql.Context, query string) error {
	if p.admit == nil {
		return nil
	}
	return p.admit(ctx, query)
}

// tree ends the reading of a statement: its tree is brought back to the client's text, checked, and
// handed through the steps.
func (p *Grammar) tree(ctx context.Context, m adjusted, s ast.Statement, err error) (ast.Statement, error) {
	if s, err = m.tree(s, err); err != nil {
		return nil, err
	}
	for _, step := range p.steps {
		if s, err = step(ctx, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// tree brings a tree back to the client's text, refuses what could not be planned soon, and
// rewrites window functions over groups and the totals that the rules for tokens have marked.
func (m adjusted) tree(s ast.Statement, err error) (ast.Statement, error) {
	if err != nil {
		return nil, err
	}
	if len(m.edits) > 0 {
		s = m.restore(s)
	}
	m.headings(s)
	if err := bounded(s, m.text); err != nil {
		return s, err
	}
	if hasWord(m.text, "interval") || hasWord(m.text, "timestampadd") {
		s = intervals(s)
	}
	if strings.Contains(m.text, ".") {
		exactly(s)
	}
	if hasWord(m.text, "char") {
		s = shortened(s)
	}
	if hasWord(m.text, "char") || hasWord(m.text, "using") {
		if err := charsets(s); err != nil {
			return s, err
		}
	}
	if hasWord(m.text, "group_concat") {
		if err := positions(s); err != nil {
			return s, err
		}
	}
	if hasWord(m.text, functions.LawName) || hasWord(m.text, functions.IntervalName) {
		if err := unwritten(s); err != nil {
			return s, err
		}
	}
	if hasWord(m.text, "dp_low") || hasWord(m.text, "dp_high") { // before windows and totals
		if err := expressionBars(s); err != nil {
			return s, err
		}
	}
	over := hasWord(m.text, "over")
	if over || hasWord(m.text, "having") { // before totals, which are rows for it
		if err := windows(s); err != nil {
			return s, err
		}
	}
	if strings.Contains(m.text, RollupMark) {
		if err := rollups(s); err != nil {
			return s, err
		}
	}
	if over {
		return s, overs(s)
	}
	return s, nil
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

// definition refuses the definition of a view that means something else in another session: it is
// kept as it was written.
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

// Decode returns the first statement of a text in another encoding, or with whole all of it, as
// decode reads it, and what follows. A literal whose introducer names its encoding stays as it is.
func Decode(src string, mode Mode, whole bool, decode func(string) (string, error)) (first, rest string, err error) {
	var out strings.Builder
	for at := 0; src != "" && err == nil && (whole || out.Len() == 0); src = src[at:] {
		tokens, end, _ := scan(src, mode, nil)
		at = 0
		pass := func(to int) {
			if err == nil {
				first, err = decode(src[at:to])
				out.WriteString(first)
				at = to
			}
		}
		for i, t := range tokens {
			if i > 0 && t.kind == text && tokens[i-1].kind == word && src[tokens[i-1].start] == '_' {
				pass(t.start)
				out.WriteString(src[t.start:t.end])
				at = t.end
			}
		}
		pass(min(end+1, len(src)))
	}
	return out.String(), src, err
}

// room holds the tokens of a statement between statements.
var room = sync.Pool{New: func() any { t := make([]token, 0, 256); return &t }}

// adjust edits the first statement of a text. What follows it is left out if cut is set, and left
// as it is otherwise. A text that needs no edit stays whole.
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
		return adjusted{text: query, mode: mode}, false, s.err
	}
	m = s.apply()
	m.answered, m.end, m.mode = answered, end, mode
	if !cut {
		m.text += query[end:]
	}
	return m, true, nil
}

// parts returns the statement and what follows it as the client has written them.
func (m adjusted) parts(query string, multi bool) (first, rest string) {
	first = query
	if multi && sql.RemoveSpaceAndDelimiter(query[m.end:], ';') != "" {
		first, rest = query[:m.end], query[m.end+1:]
	}
	return sql.RemoveSpaceAndDelimiter(first, ';'), rest
}

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
