package dialect

import (
	"encoding/hex"
	"strings"

	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/internal/sqltext"
)

// literal adjusts a text in quotes: N'x' is 'x', since all texts are Unicode, and without backslash
// escapes a text with backslashes is written in hexadecimal digits, which say the same to the
// grammar in every mode.
//
//	"it's 50\%"    'it''s 50\\%'
func (s *statement) literal(i int, t *token) {
	if s.is(i-1, "N") && s.tokens[i-1].end == t.start {
		s.drop(i-1, i-1)
	}
	switch double := s.src[t.start] == '"'; {
	case t.escaped && s.mode.NoBackslash:
		s.replace(i, i, "_utf8mb4 x'"+hex.EncodeToString([]byte(s.unquoted(i)))+"'")
	case double, t.escaped:
		v := s.text(i)
		if double {
			v = single(v)
		}
		if v = patterns(v); v != s.text(i) {
			s.replace(i, i, v)
		}
	}
}

// single writes a text in double quotes in single ones: the binder takes one beside an aggregate
// for a column.
func single(v string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 1; i < len(v)-1; i++ {
		switch v[i] {
		case '\\':
			b.WriteString(v[i : i+2])
			i++
		case '"':
			b.WriteByte('"')
			i++
		case '\'':
			b.WriteString("''")
		default:
			b.WriteByte(v[i])
		}
	}
	b.WriteByte('\'')
	return b.String()
}

// patterns writes the backslash before % and _ twice: it stays in the text, for LIKE, and vitess
// would take it off.
func patterns(v string) string {
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		b.WriteByte(v[i])
		if v[i] != '\\' || i+1 == len(v) {
			continue
		}
		i++
		if v[i] == '%' || v[i] == '_' {
			b.WriteByte('\\')
		}
		b.WriteByte(v[i])
	}
	return b.String()
}

// name adjusts a name in double quotes within a versioned comment, where vitess forgets
// ANSI_QUOTES.
func (s *statement) name(i int, t *token) {
	if t.versioned && s.src[t.start] == '"' {
		s.replace(i, i, sqltext.Name(s.unquoted(i)))
	}
}

// number writes 0b01 as b'01'.
func (s *statement) number(i int) {
	if v := s.text(i); len(v) > 2 && v[1] == 'b' && strings.Trim(v[2:], "01") == "" {
		s.replace(i, i, "b'"+v[2:]+"'")
	}
}

// escape takes ODBC's escapes off: {d '2020-01-01'} is DATE '2020-01-01', {fn …} and {oj …} are
// what stands in them.
func (s *statement) escape(i int) {
	last := s.close(i)
	if last == len(s.tokens) || !s.named(i+1) {
		return
	}
	by := ""
	if i+3 == last && s.tokens[i+2].kind == text {
		by = map[string]string{"d": "DATE", "t": "TIME", "ts": "TIMESTAMP"}[strings.ToLower(s.text(i+1))]
	}
	if by != "" {
		s.replace(i, i+1, typedLiteral(by))
		s.replace(last, last, ")")
		return
	}
	s.replace(i, i+1, "")
	s.drop(last, last)
}

func init() {
	for _, w := range []string{"DATE", "TIME", "TIMESTAMP"} {
		words[w] = func(s *statement, i int) {
			if i+1 < len(s.tokens) && s.tokens[i+1].kind == text && !s.is(i-1, "DEFAULT") {
				s.replace(i, i, typedLiteral(w))
				s.before(i+2, ")")
			}
		}
	}
}

// typedLiteral begins the call that DATE 'text' becomes: the grammar drops the word, and the value
// would be a text.
func typedLiteral(word string) string { return sqltext.Name(strings.ToLower(word)+" literal") + "(" }

// invert makes a call of ~x, which the binder has not.
func (s *statement) invert(i int) {
	last := i + 1
	switch {
	case s.ends(last), s.tokens[last].kind == text:
		return
	case s.is(last, "("):
		last = s.close(last)
	case s.is(last, "-"):
		last++
	default:
		for s.is(last+1, ".") {
			last += 2
		}
		if s.is(last+1, "(") {
			last = s.close(last + 1)
		}
	}
	if last >= len(s.tokens) || s.is(i+1, "~") {
		return
	}
	s.replace(i, i, sqltext.Name(InvertFunction)+"(")
	s.before(last+1, ")")
}

// hasWord reports whether a text may have a word, which is in lower case, somewhere.
func hasWord(text, word string) bool {
	for i := 0; i+len(word) <= len(text); i++ {
		if text[i]|0x20 == word[0] && strings.EqualFold(text[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// intervals writes d + INTERVAL 1 DAY, and TIMESTAMPADD, as the calls of DATE_ADD and DATE_SUB that
// they are: the binder makes an operator of the one, whose type is always DATETIME.
func intervals(s ast.Statement) ast.Statement {
	found := false
	var rewrite swap
	shift := func(name string, date ast.Expr, by *ast.IntervalExpr) (ast.Expr, bool) {
		found = true
		return &ast.FuncExpr{Name: ast.NewColIdent(name), Exprs: ast.SelectExprs{
			&ast.AliasedExpr{Expr: copyOf(date, rewrite)}, &ast.AliasedExpr{Expr: copyOf(ast.Expr(by), rewrite)}}}, false
	}
	rewrite = func(e ast.Expr) (ast.Expr, bool) {
		switch e := e.(type) {
		case *ast.TimestampFuncExpr:
			if strings.EqualFold(e.Name, "timestampadd") {
				return shift("date_add", e.Expr2, &ast.IntervalExpr{Expr: e.Expr1, Unit: e.Unit})
			}
		case *ast.BinaryExpr:
			name := map[string]string{ast.PlusStr: "date_add", ast.MinusStr: "date_sub"}[e.Operator]
			if by, ok := e.Right.(*ast.IntervalExpr); ok && name != "" {
				return shift(name, e.Left, by)
			}
			if by, ok := e.Left.(*ast.IntervalExpr); ok && e.Operator == ast.PlusStr {
				return shift(name, e.Right, by)
			}
		}
		return nil, true
	}
	if out := copyOf(s, rewrite); found {
		return out
	}
	return s
}
