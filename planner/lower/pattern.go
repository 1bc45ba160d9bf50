package lower

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql/expression"

	"scrim/functions/standard"
	"scrim/internal/collation"
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
	by, err := standard.Collation(l.ctx, "like", e.LeftChild, e.RightChild)
	if err != nil {
		return x, err
	}
	s := By(l.toString(x), by, collation.ForFold)
	ts := likeTokens(*p.text, escape)
	for i := range ts {
		ts[i].text = collation.Fold(by, ts[i].text)
	}
	return boolean(l.matchLike(s.SQL, ts), s), nil
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

func (l *lowerer) matchLike(s string, ts []likeToken) string {
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

const (
	maxPattern = 512  // bytes of a regular expression
	maxProgram = 5000 // instructions of its program: far below the store's limit of memory
	// maxGenerated bounds what is written for the store, in bytes: classes are lists of ranges.
	maxGenerated = 64 << 10
)

// generatePattern parses a client's regular expression and writes it anew for the store, every
// character as a code point. So it can stand in the SQL, which the store needs to compile it once
// instead of once a row, and holds no text of the client. The store matches in linear time.
func generatePattern(p, matchType string) (string, error) {
	bad := refuse.New(refuse.Expression, "The regular expression is too large.").With("Use a shorter pattern, or LIKE.")
	if len(p) > maxPattern || !utf8.ValidString(p) {
		return "", bad
	}
	parsed, err := standard.PatternOf(p, matchType, false)
	if e, ok := refuse.As(err); ok {
		return "", refuse.New(refuse.Expression, "%s", e.Cause).With("%s", e.Remedy)
	} else if err != nil {
		text, _, _ := strings.Cut(err.Error(), " (errno ")
		return "", refuse.New(refuse.Expression, "%s", text).With("Correct the pattern.")
	}
	re, err := parsed.Anywhere()
	if err != nil {
		return "", err
	}
	if prog, err := syntax.Compile(re.Simplify()); err != nil || len(prog.Inst) > maxProgram {
		return "", bad
	}
	var out strings.Builder
	writePattern(&out, re)
	if out.Len() > maxGenerated || surrogate.MatchString(out.String()) {
		return "", bad
	}
	return out.String(), nil
}

// surrogate finds the code points that are no characters.
var surrogate = regexp.MustCompile(`\\x\{D[89A-F][0-9A-F]{2}\}`)

// quotePattern is a pattern that matches exactly a text.
func quotePattern(s string) string {
	var out strings.Builder
	for _, r := range s {
		writeRune(&out, r)
	}
	return out.String()
}

func writeRune(out *strings.Builder, r rune) { fmt.Fprintf(out, `\x{%X}`, r) }

func writePattern(out *strings.Builder, re *syntax.Regexp) {
	group := func(suffix string) {
		out.WriteString("(?:")
		writePattern(out, re.Sub[0])
		out.WriteString(")" + suffix)
	}
	switch re.Op {
	case syntax.OpNoMatch:
		out.WriteString(`[^\x{0}-\x{10FFFF}]`)
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			out.WriteString("(?i:")
			defer out.WriteString(")")
		}
		for _, r := range re.Rune {
			writeRune(out, r)
		}
	case syntax.OpCharClass:
		out.WriteString("[")
		for i := 0; i+1 < len(re.Rune); i += 2 {
			writeRune(out, re.Rune[i])
			out.WriteString("-")
			writeRune(out, min(re.Rune[i+1], unicode.MaxRune))
		}
		out.WriteString("]")
	case syntax.OpAnyCharNotNL:
		out.WriteString(`[^\n]`)
	case syntax.OpAnyChar:
		out.WriteString("(?s:.)")
	case syntax.OpBeginLine:
		out.WriteString("(?m:^)")
	case syntax.OpEndLine:
		out.WriteString("(?m:$)")
	case syntax.OpBeginText:
		out.WriteString(`\A`)
	case syntax.OpEndText:
		out.WriteString(`\z`)
	case syntax.OpWordBoundary:
		out.WriteString(`\b`)
	case syntax.OpNoWordBoundary:
		out.WriteString(`\B`)
	case syntax.OpCapture:
		group("")
	case syntax.OpStar:
		group("*")
	case syntax.OpPlus:
		group("+")
	case syntax.OpQuest:
		group("?")
	case syntax.OpRepeat:
		if re.Max < 0 {
			group(fmt.Sprintf("{%d,}", re.Min))
		} else {
			group(fmt.Sprintf("{%d,%d}", re.Min, re.Max))
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			out.WriteString("(?:")
			writePattern(out, sub)
			out.WriteString(")")
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				out.WriteString("|")
			}
			out.WriteString("(?:")
			writePattern(out, sub)
			out.WriteString(")")
		}
	}
}
