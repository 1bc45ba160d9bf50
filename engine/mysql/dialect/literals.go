package dialect

import (
	"cmp"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/mysql"
	ast "github.com/dolthub/vitess/go/vt/sqlparser"

	"scrim/internal/collation"
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
	case s.ends(last), !s.ends(last+1) && s.tokens[last+1].kind == text: // a text of bytes, as x'0f'
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

// exactly keeps the digits of decimal constants that are compared with a column or a call, which
// may be an aggregate: the planner would round them to its scale, and 0.001 would be found among
// zeros. It puts each into a cast to a wider type than its own: one to its own would be left out.
func exactly(s ast.Statement) {
	if _, ok := s.(*ast.DDL); ok { // is shown as it is written
		return
	}
	number := func(n int) *ast.SQLVal { return ast.NewIntVal([]byte(strconv.Itoa(n))) }
	keep := func(e *ast.Expr) {
		v := constant(*e)
		if v == nil {
			return
		}
		whole, fraction, _ := strings.Cut(string(v.Val), ".")
		if fraction == "" || strings.ContainsAny(fraction, "eE") {
			return
		}
		if _, cast := plain(*e).(*ast.ConvertExpr); !cast { // a number has one spelling
			whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
			v.Val = []byte(cmp.Or(whole, "0") + "." + cmp.Or(fraction, "0"))
		}
		if digits := len(whole) + len(fraction); fraction != "" && len(fraction) <= 30 && digits <= 60 {
			*e = &ast.ConvertExpr{Name: "CAST", Expr: *e, Type: &ast.ConvertType{Type: "decimal", Length: number(digits + 2), Scale: number(len(fraction))}}
		}
	}
	everywhere(s, func(n ast.SQLNode) {
		if c, ok := n.(*ast.ComparisonExpr); ok {
			if rounds(plain(c.Right)) {
				keep(&c.Left)
			} else if rounds(plain(c.Left)) {
				keep(&c.Right)
			}
		}
	})
}

// shortened writes CAST(x AS CHAR(n) CHARACTER SET c) as LEFT(CONVERT(CAST(x AS CHAR) USING c), n):
// the binder leaves a cast of a text to a text out, its length and its character set too. CHAR(n
// USING c) is CONVERT(CHAR(n) USING c).
func shortened(s ast.Statement) ast.Statement {
	if _, ok := s.(*ast.DDL); ok { // is shown as it is written
		return s
	}
	found := false
	var rewrite swap
	rewrite = func(e ast.Expr) (ast.Expr, bool) {
		if c, ok := e.(*ast.CharExpr); ok && c.Type != "" {
			found = true
			return &ast.ConvertUsingExpr{Expr: copyOf(ast.Expr(&ast.CharExpr{Exprs: c.Exprs}), rewrite), Type: c.Type}, false
		}
		c, ok := e.(*ast.ConvertExpr)
		if !ok || !strings.EqualFold(c.Type.Type, "char") || c.Type.Length == nil && c.Type.Charset == "" {
			return nil, true
		}
		found = true
		whole := *c
		whole.Expr, whole.Type = copyOf(c.Expr, rewrite), &ast.ConvertType{Type: c.Type.Type}
		var out ast.Expr = &whole
		if c.Type.Charset != "" {
			out = &ast.ConvertUsingExpr{Expr: out, Type: c.Type.Charset}
		}
		if c.Type.Length != nil {
			out = &ast.FuncExpr{Name: ast.NewColIdent("left"), Exprs: ast.SelectExprs{&ast.AliasedExpr{Expr: out}, &ast.AliasedExpr{Expr: c.Type.Length}}}
		}
		return out, false
	}
	if out := copyOf(s, rewrite); found {
		return out
	}
	return s
}

// charsets refuses to convert to a character set that the server does not have, and has the binder
// read that of ALTER DATABASE. It knows itself those of columns and constants.
func charsets(s ast.Statement) (err error) {
	everywhere(s, func(n ast.SQLNode) {
		switch n := n.(type) {
		case *ast.ConvertUsingExpr:
			c, unknown := sql.ParseCollation(n.Type, "", false)
			if err == nil && unknown == nil { // the binder tells what is unknown
				err = collation.Check(c)
			}
		case *ast.DBDDL:
			for _, c := range n.CharsetCollate {
				if strings.EqualFold(c.Type, ast.CharsetStr) { // which the binder passes over
					c.Type = strings.TrimSpace(ast.CharacterSetStr)
				}
			}
		}
	})
	return err
}

// rounds reports whether the planner rounds constants beside an expression.
func rounds(e ast.Expr) bool {
	_, call := e.(*ast.FuncExpr)
	return call || isColumn(e)
}

// constant returns the number within the brackets, signs and casts of an expression, nil where
// there is another thing.
func constant(e ast.Expr) *ast.SQLVal {
	switch n := e.(type) {
	case *ast.SQLVal:
		if n.Type == ast.FloatVal {
			return n
		}
	case *ast.ParenExpr:
		return constant(n.Expr)
	case *ast.UnaryExpr:
		if n.Operator == ast.UPlusStr || n.Operator == ast.UMinusStr {
			return constant(n.Expr)
		}
	case *ast.ConvertExpr:
		if strings.EqualFold(n.Type.Type, "decimal") {
			return constant(n.Expr)
		}
	}
	return nil
}

// positions writes out the numbers of arguments that GROUP_CONCAT is ordered by, which the planner
// takes for those of the columns of FROM.
func positions(s ast.Statement) (err error) {
	everywhere(s, func(n ast.SQLNode) {
		g, ok := n.(*ast.GroupConcatExpr)
		if !ok {
			return
		}
		for _, o := range g.OrderBy {
			v, ok := o.Expr.(*ast.SQLVal)
			if !ok || v.Type != ast.IntVal {
				continue
			}
			if n, _ := strconv.Atoi(string(v.Val)); n < 1 || n > len(g.Exprs) {
				err = mysql.NewSQLError(mysql.ERBadFieldError, mysql.SSBadFieldError, "Unknown column '%s' in 'order clause'", v.Val)
			} else if a, ok := g.Exprs[n-1].(*ast.AliasedExpr); ok {
				o.Expr = copyOf(a.Expr, nil)
			}
		}
	})
	return err
}
