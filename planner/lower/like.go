package lower

import (
	"strings"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/internal/refuse"
)

// like translates LIKE with a constant pattern. A plain text, a prefix, a suffix or a part becomes
// the store's function for it, several parts the store's LIKE, which looks for one after the other;
// anything else a regular expression, so that the time stays linear.
func (l *lowerer) like(e *expression.Like) (Expr, error) {
	x, err := l.scalar(e.LeftChild, "LIKE")
	if err != nil {
		return x, err
	}
	p, err := l.expr(e.RightChild)
	if err != nil {
		return p, err
	}
	if x.Type.Kind == Null || p.Type.Kind == Null {
		return maybe(Bool, "CAST(NULL AS BOOLEAN)"), nil
	}
	escape := `\`
	if e.Escape != nil {
		esc, err := l.expr(e.Escape)
		if err != nil {
			return esc, err
		}
		if esc.text == nil || utf8.RuneCountInString(*esc.text) > 1 {
			return Expr{}, refuse.New(refuse.Expression, "ESCAPE of LIKE needs a constant character on protected rows.")
		}
		escape = *esc.text
	}
	if p.number != nil || p.Type.Kind != String {
		p = l.toString(p)
	}
	if p.text == nil {
		return Expr{}, refuse.New(refuse.Expression, "LIKE needs a constant pattern on protected rows.")
	}
	s := l.toString(x)
	return boolean(l.matchLike(s.SQL, *p.text, escape), s), nil
}

// likeToken is a literal text, or one of the wildcards '%' and '_'.
type likeToken struct {
	wild byte
	text string
}

func likeTokens(pattern, escape string) []likeToken {
	var out []likeToken
	literal := func(r string) {
		if n := len(out); n > 0 && out[n-1].wild == 0 {
			out[n-1].text += r
			return
		}
		out = append(out, likeToken{text: r})
	}
	runes := []rune(pattern)
	for i := 0; i < len(runes); i++ {
		r := string(runes[i])
		switch {
		case escape != "" && r == escape && i+1 < len(runes):
			i++
			literal(string(runes[i]))
		case r == "%":
			if n := len(out); n == 0 || out[n-1].wild != '%' {
				out = append(out, likeToken{wild: '%'})
			}
		case r == "_":
			out = append(out, likeToken{wild: '_'})
		default:
			literal(r)
		}
	}
	return out
}

func (l *lowerer) matchLike(s, pattern, escape string) string {
	ts := likeTokens(pattern, escape)
	any := func(i int) bool { return ts[i].wild == '%' }
	lit := func(i int) bool { return ts[i].wild == 0 }
	switch {
	case len(ts) == 0:
		return "(" + s + " = '')"
	case len(ts) == 1 && any(0):
		return "(" + s + " = " + s + ")"
	case len(ts) == 1 && lit(0):
		return "(" + s + " = " + l.hold(ts[0].text) + ")"
	case len(ts) == 2 && lit(0) && any(1):
		return "starts_with(" + s + ", " + l.hold(ts[0].text) + ")"
	case len(ts) == 2 && any(0) && lit(1):
		return "suffix(" + s + ", " + l.hold(ts[1].text) + ")"
	case len(ts) == 3 && any(0) && lit(1) && any(2):
		return "contains(" + s + ", " + l.hold(ts[1].text) + ")"
	}
	if parts, ok := plainParts(ts); ok {
		return "(" + s + " LIKE '" + parts + "')"
	}
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	for _, t := range ts {
		switch t.wild {
		case '%':
			re.WriteString(".*")
		case '_':
			re.WriteString(".")
		default:
			re.WriteString(quotePattern(t.text))
		}
	}
	re.WriteString(`\z`)
	return "regexp_matches(" + s + ", '" + re.String() + "')"
}

// plainParts writes a pattern of texts and '%' for the store, whose LIKE has no escapes; false
// where a text has other characters than letters, digits and spaces.
func plainParts(ts []likeToken) (string, bool) {
	var b strings.Builder
	for _, t := range ts {
		switch {
		case t.wild == '%':
			b.WriteByte('%')
		case t.wild != 0 || strings.ContainsFunc(t.text, func(r rune) bool { return !plainLetter(r) }):
			return "", false
		}
		b.WriteString(t.text)
	}
	return b.String(), true
}

func plainLetter(r rune) bool {
	return r == ' ' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
