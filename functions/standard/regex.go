package standard

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/refuse"
)

// Pattern is a regular expression that means the same as one of MySQL's, of ICU, wherever the text
// is one that it serves for.
type Pattern struct {
	text   string // of Go's syntax, with groups for what ends the text
	unix   bool   // only \n ends a line
	lines  bool   // ^ or $ of lines that other characters end, too
	starts bool   // ^ of lines among them
	words  bool   // \b or \B
	inside bool   // a $ before the end of the pattern
}

const (
	endGroup   = "scrim__end" // the group that stands for $ and \Z
	maxRegex   = 4096         // characters of a pattern
	maxRepeats = 1000
)

// lineEnds are the characters that end a line in ICU.
var lineEnds = []rune{'\n', '\r', 0x85, 0x85, 0x2028, 0x2029}

// PatternOf translates a regular expression with a match type of the letters c, i, m, n and u;
// fold is what neither c nor i says. What it cannot translate exactly is refused by name.
func PatternOf(pattern, matchType string, fold bool) (*Pattern, error) {
	t := &translator{in: []rune(pattern), fold: fold, p: &Pattern{}}
	for _, c := range matchType {
		switch c {
		case 'c', 'i':
			t.fold = c == 'i'
		case 'm':
			t.multi = true
		case 'n':
			t.dotAll = true
		case 'u':
			t.p.unix = true
		default:
			return nil, mysql.NewSQLError(mysql.ERWrongArguments, mysql.SSUnknownSQLState, "Incorrect arguments to match type of a regular expression")
		}
	}
	switch {
	case pattern == "":
		return nil, mysql.NewSQLError(3685, mysql.SSUnknownSQLState, "Illegal argument to a regular expression.")
	case !utf8.ValidString(pattern) || len(t.in) > maxRegex:
		return nil, refuse.New(refuse.Unsupported, "A regular expression has at most %d characters.", maxRegex).
			With("Write several shorter ones, and AND or OR between them.")
	}
	if t.fold {
		t.out.WriteString("(?i)")
	}
	t.alternatives(0)
	if t.err == nil && t.at < len(t.in) {
		t.wrong("a bracket that nothing opens")
	}
	if t.err != nil {
		return nil, t.err
	}
	re, err := syntax.Parse(t.out.String(), syntax.Perl|syntax.UnicodeGroups)
	if err != nil {
		return nil, refuse.New(refuse.Unsupported, "The regular expression is not valid, or too large.").With("Use a shorter pattern, or LIKE.")
	}
	ends := 0
	walk(re, func(x *syntax.Regexp) bool {
		if isEnd(x) {
			ends++
		}
		return true
	})
	t.p.text, t.p.inside = t.out.String(), len(endsOf(re)) < ends
	return t.p, nil
}

func isEnd(x *syntax.Regexp) bool {
	return x.Op == syntax.OpCapture && strings.HasPrefix(x.Name, endGroup)
}

func walk(re *syntax.Regexp, f func(*syntax.Regexp) bool) {
	if f(re) {
		for _, s := range re.Sub {
			walk(s, f)
		}
	}
}

// endsOf are the $ behind which a pattern has nothing.
func endsOf(re *syntax.Regexp) []*syntax.Regexp {
	switch {
	case isEnd(re):
		return []*syntax.Regexp{re}
	case re.Op == syntax.OpConcat:
		return endsOf(re.Sub[len(re.Sub)-1])
	case re.Op == syntax.OpCapture:
		return endsOf(re.Sub[0])
	case re.Op == syntax.OpAlternate:
		var out []*syntax.Regexp
		for _, s := range re.Sub {
			out = append(out, endsOf(s)...)
		}
		return out
	}
	return nil
}

// ended is the pattern for texts that a line's end may end: a $ stands before that one, too.
func (p *Pattern) ended() string {
	end := `(?:\r\n|[\n-\r\x{85}\x{2028}\x{2029}])?\z`
	if p.unix {
		end = `\n?\z`
	}
	return endOfText.ReplaceAllString(p.text, "${1})"+end)
}

var endOfText = regexp.MustCompile(`(\(\?P<` + endGroup + `[0-9]+>)\\z\)`)

// Anywhere is the pattern for the store, which has to hold for texts of any kind: what does not is
// refused by name.
func (p *Pattern) Anywhere() (*syntax.Regexp, error) {
	re, err := syntax.Parse(p.ended(), syntax.Perl|syntax.UnicodeGroups)
	switch {
	case err != nil:
		return nil, refuse.New(refuse.Expression, "The regular expression is too large.")
	case p.lines:
		return nil, refuse.New(refuse.Expression, "^ and $ of lines, by the match type m, are not allowed on protected rows.").With("Use the match type mu: then only the line feed ends a line.")
	case p.inside:
		return nil, refuse.New(refuse.Expression, "A $ before the end of a regular expression is not allowed on protected rows.").With(`Use \z.`)
	case p.words && !wordEdges(re):
		return nil, refuse.New(refuse.Expression, `\b is allowed on protected rows at the beginning and the end of a regular expression only, beside characters of a word.`).With(`Use [^\w] beside the word.`)
	}
	return re, nil
}

// wordEdges writes \b at the ends of a pattern as another character, or none; false where there are
// other \b.
func wordEdges(re *syntax.Regexp) bool {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	if re.Op == syntax.OpConcat {
		other := `(?:\A|[^` + classText(classes()["w"]) + `])`
		n := len(re.Sub)
		first, last := re.Sub[0].Op == syntax.OpWordBoundary && ofWord(re.Sub[1], true), re.Sub[n-1].Op == syntax.OpWordBoundary && ofWord(re.Sub[n-2], false)
		if first {
			re.Sub[0], _ = syntax.Parse(other, syntax.Perl)
		}
		if last {
			re.Sub[n-1], _ = syntax.Parse(strings.Replace(other, `\A`, `\z`, 1), syntax.Perl)
		}
	}
	none := true
	walk(re, func(x *syntax.Regexp) bool {
		none = none && x.Op != syntax.OpWordBoundary && x.Op != syntax.OpNoWordBoundary
		return true
	})
	return none
}

// ofWord reports whether all that a pattern matches begins, or ends, with a character of a word.
func ofWord(re *syntax.Regexp, first bool) bool {
	word := classes()["w"]
	within := func(set []rune) bool {
		return len(union(word, set)) == len(word) && slices.Equal(union(word, set), word)
	}
	switch re.Op {
	case syntax.OpLiteral:
		r := re.Rune[0]
		if !first {
			r = re.Rune[len(re.Rune)-1]
		}
		return within([]rune{r, r})
	case syntax.OpCharClass:
		return within(re.Rune)
	case syntax.OpConcat:
		if first {
			return ofWord(re.Sub[0], first)
		}
		return ofWord(re.Sub[len(re.Sub)-1], first)
	case syntax.OpCapture, syntax.OpPlus:
		return ofWord(re.Sub[0], first)
	case syntax.OpRepeat:
		return re.Min > 0 && ofWord(re.Sub[0], first)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(s *syntax.Regexp) bool { return !ofWord(s, first) })
	}
	return false
}

// translator writes a pattern of ICU's for Go.
type translator struct {
	in                            []rune
	at                            int
	out                           strings.Builder
	p                             *Pattern
	fold, multi, dotAll, comments bool
	err                           error
}

func (t *translator) wrong(what string) {
	if t.err == nil {
		t.err = mysql.NewSQLError(3692, mysql.SSUnknownSQLState, "Syntax error in regular expression: %s at character %d.", what, min(t.at+1, len(t.in)))
	}
}

func (t *translator) missing(what string) {
	if t.err == nil {
		t.err = refuse.New(refuse.Unsupported, "A regular expression with %s is not supported.", what).
			With("Patterns here have literals, sets, classes, groups, alternatives, anchors and repetitions.")
	}
}

func (t *translator) more() bool { return t.err == nil && t.at < len(t.in) }

func (t *translator) peek(s string) bool {
	return strings.HasPrefix(string(t.in[t.at:min(t.at+len(s), len(t.in))]), s)
}

// skip passes over blanks and comments where the flag x says so.
func (t *translator) skip() {
	for t.comments && t.at < len(t.in) {
		switch c := t.in[t.at]; {
		case unicode.Is(unicode.Pattern_White_Space, c):
			t.at++
		case c == '#':
			for t.at < len(t.in) && !unicode.Is(unicode.Pattern_White_Space, t.in[t.at]) || t.at < len(t.in) && (t.in[t.at] == ' ' || t.in[t.at] == '\t') {
				t.at++
			}
		default:
			return
		}
	}
}

// alternatives translates up to a closing bracket or the end.
func (t *translator) alternatives(depth int) {
	if depth > 200 {
		t.missing("brackets of more than 200 levels")
	}
	fold, multi, dotAll, comments := t.fold, t.multi, t.dotAll, t.comments
	for t.skip(); t.more() && t.in[t.at] != ')'; t.skip() {
		if t.in[t.at] == '|' {
			t.out.WriteByte('|')
			t.at++
			continue
		}
		before := t.out.String()
		if t.atom(depth) {
			t.repetition(before)
		}
	}
	t.fold, t.multi, t.dotAll, t.comments = fold, multi, dotAll, comments
}

// repetition translates what stands behind an atom; before is what was written before it.
func (t *translator) repetition(before string) {
	if t.skip(); !t.more() {
		return
	}
	form := ""
	switch c := t.in[t.at]; c {
	case '*', '+', '?':
		form = string(c)
		t.at++
	case '{':
		end := slices.Index(t.in[t.at:], '}')
		if end < 0 {
			t.wrong("a brace that nothing closes")
			return
		}
		low, high, two := strings.Cut(string(t.in[t.at+1:t.at+end]), ",")
		n, err := strconv.Atoi(low)
		m := n
		if two && high != "" && err == nil {
			m, err = strconv.Atoi(high)
		}
		if err != nil || n < 0 || m < n {
			t.wrong("a wrong repetition")
			return
		}
		if m > maxRepeats {
			t.missing("more than 1000 repetitions")
		}
		form = "{" + low + "}"
		if two {
			form = "{" + low + "," + high + "}"
		}
		t.at += end + 1
	default:
		return
	}
	if t.more() && t.in[t.at] == '+' {
		t.missing("possessive repetitions")
		return
	}
	if t.more() && t.in[t.at] == '?' {
		form += "?"
		t.at++
	}
	if t.skip(); t.more() && strings.ContainsRune("*+?{", t.in[t.at]) {
		t.wrong("a repetition of a repetition")
	}
	atom := t.out.String()[len(before):]
	t.out.Reset()
	t.out.WriteString(before + "(?:" + atom + ")" + form)
}

// atom translates one atom; false where there is nothing to repeat.
func (t *translator) atom(depth int) bool {
	c := t.in[t.at]
	t.at++
	switch c {
	case '(':
		return t.group(depth)
	case '[':
		t.at--
		t.class(t.set(0))
	case '.':
		switch {
		case t.dotAll && t.p.unix:
			t.out.WriteString(`(?s:.)`)
		case t.dotAll:
			t.out.WriteString(`(?:\r\n|(?s:.))`)
		case t.p.unix:
			t.out.WriteString(`[^\n]`)
		default:
			t.class(negated(lineEnds))
		}
	case '^':
		if !t.multi {
			t.out.WriteString(`\A`)
			break
		}
		t.out.WriteString(`(?m:^)`)
		t.p.lines, t.p.starts = t.p.lines || !t.p.unix, t.p.starts || !t.p.unix
	case '$':
		if !t.multi {
			t.end()
			break
		}
		t.out.WriteString(`(?m:$)`)
		t.p.lines = t.p.lines || !t.p.unix
	case '*', '+', '?', '{', '}':
		t.at--
		t.wrong("a repetition of nothing")
	case '\\':
		t.escape()
	default:
		t.literal(c)
	}
	return true
}

func (t *translator) literal(c rune) { fmt.Fprintf(&t.out, `\x{%X}`, c) }

func (t *translator) end() { t.out.WriteString(`(?P<` + endGroup + strconv.Itoa(t.out.Len()) + `>\z)`) }

// group translates a group behind its opening bracket; false of what is none.
func (t *translator) group(depth int) bool {
	open := "("
	for _, kind := range []struct{ begin, name string }{{"?=", "look-ahead"}, {"?!", "look-ahead"}, {"?<=", "look-behind"}, {"?<!", "look-behind"}, {"?>", "atomic groups"}} {
		if t.peek(kind.begin) {
			t.missing(kind.name)
			return false
		}
	}
	fold, multi, dotAll, comments := t.fold, t.multi, t.dotAll, t.comments
	switch {
	case t.peek("?#"):
		for t.more() && t.in[t.at] != ')' {
			t.at++
		}
		t.close()
		return false
	case t.peek("?:"):
		open = "(?:"
		t.at += 2
	case t.peek("?<"):
		for t.more() && t.in[t.at] != '>' {
			t.at++
		}
		t.at++
	case t.peek("?"):
		on := true
		for t.at++; t.more() && t.in[t.at] != ')' && t.in[t.at] != ':'; t.at++ {
			switch t.in[t.at] {
			case '-':
				on = false
			case 'i':
				t.fold = on
			case 'm':
				t.multi = on
			case 's':
				t.dotAll = on
			case 'x':
				t.comments = on
			case 'w', 'd':
				t.missing("the flags w and d")
			default:
				t.wrong("an unknown flag")
			}
		}
		open = "(?-i"
		if t.fold {
			open = "(?i"
		}
		if t.more() && t.in[t.at] == ')' { // up to the end of the group around
			t.out.WriteString(open + ")")
			t.at++
			return false
		}
		t.at++
		open += ":"
	}
	t.out.WriteString(open)
	t.alternatives(depth + 1)
	t.close()
	t.out.WriteByte(')')
	t.fold, t.multi, t.dotAll, t.comments = fold, multi, dotAll, comments
	return true
}

func (t *translator) close() {
	if !t.more() {
		t.wrong("a bracket that nothing closes")
	}
	t.at++
}

// escape translates what stands behind a backslash.
func (t *translator) escape() {
	if !t.more() {
		t.wrong("a backslash at the end")
		return
	}
	c := t.in[t.at]
	if class := t.named(c); class != nil {
		t.class(class)
		return
	}
	switch c {
	case 'A', 'z':
		t.out.WriteString(`\` + string(c))
	case 'Z':
		t.end()
	case 'b', 'B':
		t.p.words = true
		t.out.WriteString(`\` + string(c))
	case 'Q':
		rest := string(t.in[t.at+1:])
		quoted, _, _ := strings.Cut(rest, `\E`)
		for _, r := range quoted {
			t.literal(r)
		}
		t.at += len([]rune(quoted))
		if strings.Contains(rest, `\E`) {
			t.at += 2
		}
	case 'E':
	case 'G', 'N', 'R', 'X':
		t.missing(`\` + string(c))
	case 'k':
		t.missing("back references")
	default:
		if c >= '1' && c <= '9' {
			t.missing("back references")
			return
		}
		t.literal(t.escaped())
		return
	}
	t.at++
}

// escaped reads a character behind a backslash.
func (t *translator) escaped() rune {
	c := t.in[t.at]
	t.at++
	number := func(least, most, base int) rune {
		n := 0
		for n < most && t.at+n < len(t.in) && strings.ContainsRune("0123456789abcdefABCDEF"[:base+6*(base/16)], t.in[t.at+n]) {
			n++
		}
		v, err := strconv.ParseInt(string(t.in[t.at:t.at+n]), base, 32)
		if n < least || err != nil || v > unicode.MaxRune || v >= 0xD800 && v < 0xE000 {
			t.wrong("a wrong escape")
			return 0
		}
		t.at += n
		return rune(v)
	}
	switch c {
	case 'a':
		return 7
	case 'e':
		return 27
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'c':
		if t.at < len(t.in) {
			t.at++
			return t.in[t.at-1] & 31
		}
		t.wrong("a wrong escape")
	case '0':
		return number(1, 3, 8)
	case 'u':
		return number(4, 4, 16)
	case 'U':
		return number(8, 8, 16)
	case 'x':
		if t.at < len(t.in) && t.in[t.at] == '{' {
			t.at++
			v := number(1, 6, 16)
			if t.at >= len(t.in) || t.in[t.at] != '}' {
				t.wrong("a wrong escape")
			}
			t.at++
			return v
		}
		return number(1, 2, 16)
	}
	return c
}
