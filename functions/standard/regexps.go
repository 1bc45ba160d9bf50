package standard

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"

	"scrim/internal/refuse"
)

func init() {
	defineTexts([]textual{
		{names: "regexp_like", args: "sss", least: 2, typ: types.Boolean, doc: "reports whether a text has a part that matches a regular expression.", eval: func(t *texts) any {
			m, err := t.matcher(2)
			if err != nil {
				return err
			}
			loc, err := m.find(t.s(0), 0)
			if err != nil {
				return err
			}
			if loc == nil {
				return int8(0)
			}
			return int8(1)
		}},
		{names: "regexp_instr", args: "ssiiis", least: 2, typ: types.Int64, doc: "returns where a text matches a regular expression.", eval: func(t *texts) any {
			option := int64(0)
			if len(t.args) > 4 {
				option = t.n(4)
			}
			if option != 0 && option != 1 {
				return mysql.NewSQLError(mysql.ERWrongArguments, mysql.SSUnknownSQLState, "Incorrect arguments to regexp_instr: return_option must be 1 or 0.")
			}
			loc, err := t.match(2, 5)
			if err != nil || loc == nil {
				return either[any](err != nil, err, int64(0))
			}
			return int64(utf8.RuneCountInString(t.s(0)[:loc[option]])) + 1
		}},
		{names: "regexp_substr", args: "ssiis", least: 2, doc: "returns what of a text matches a regular expression.", eval: func(t *texts) any {
			loc, err := t.match(2, 4)
			if err != nil || loc == nil {
				return either[any](err != nil, err, nil)
			}
			return t.s(0)[loc[0]:loc[1]]
		}},
		{names: "regexp_replace", args: "sssiis", least: 3, doc: "replaces what of a text matches a regular expression.", eval: func(t *texts) any {
			m, err := t.matcher(5)
			if err != nil {
				return err
			}
			from, err := t.from(3)
			if err != nil {
				return err
			}
			s, only := t.s(0), int64(0)
			if len(t.args) > 4 {
				only = t.n(4)
			}
			if only < 0 {
				only = 1
			}
			var out []byte
			done := 0
			for n := int64(1); from <= len(s); n++ {
				loc, err := m.find(s, from)
				if err != nil {
					return err
				}
				if loc == nil {
					break
				}
				if from = next(s, loc); only != 0 && only != n {
					continue
				}
				out = append(out, s[done:loc[0]]...)
				if out, err = m.expand(out, s, t.s(2), loc); err != nil {
					return err
				}
				if done = loc[1]; only == n {
					break
				}
			}
			return string(append(out, s[done:]...))
		}},
	})
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// next is where to look for the match behind one.
func next(s string, loc []int) int {
	if loc[0] < loc[1] {
		return loc[1]
	}
	_, n := utf8.DecodeRuneInString(s[loc[1]:])
	return loc[1] + max(n, 1)
}

// from is where the position of an argument is, in bytes.
func (t *texts) from(i int) (int, error) {
	pos := int64(1)
	if len(t.args) > i {
		pos = t.n(i)
	}
	n := runes(t.s(0))
	switch {
	case pos < 1:
		return 0, mysql.NewSQLError(mysql.ERWrongArguments, mysql.SSUnknownSQLState, "Incorrect arguments to a regular expression: the position is less than 1.")
	case pos > n && n > 0, pos > 1 && n == 0:
		return 0, mysql.NewSQLError(3686, mysql.SSUnknownSQLState, "Index out of bounds in regular expression search.")
	}
	return len(t.part(0, 0, pos-1)), nil
}

// match finds the match of the arguments of position and occurrence.
func (t *texts) match(position, matchType int) ([]int, error) {
	m, err := t.matcher(matchType)
	if err != nil {
		return nil, err
	}
	from, err := t.from(position)
	if err != nil {
		return nil, err
	}
	n := int64(1)
	if len(t.args) > position+1 {
		n = max(t.n(position+1), 1)
	}
	for ; from <= len(t.s(0)); n-- {
		loc, err := m.find(t.s(0), from)
		if n <= 1 || loc == nil || err != nil {
			return loc, err
		}
		from = next(t.s(0), loc)
	}
	return nil, nil
}

// matcher looks for a pattern in texts.
type matcher struct {
	*Pattern
	// for texts that a line's end ends, and for what begins behind the first character
	forms [4]func() *regexp.Regexp
}

type matcherKey struct {
	pattern, matchType string
	fold               bool
}

var matchers struct {
	sync.Mutex
	of map[matcherKey]*matcher
}

// maxMatchers is how many patterns are kept.
const maxMatchers = 256

// matcher is that of the pattern, which is the second argument, with a match type.
func (t *texts) matcher(matchType int) (*matcher, error) {
	if t.binary {
		return nil, mysql.NewSQLError(3995, mysql.SSUnknownSQLState, "Character set 'binary' cannot be used in conjunction with 'utf8mb4_0900_ai_ci' in a call of a regular expression.")
	}
	key := matcherKey{pattern: t.s(1), fold: strings.HasSuffix(t.collation().Name(), "_ci")}
	if len(t.args) > matchType {
		key.matchType = t.s(matchType)
	}
	matchers.Lock()
	defer matchers.Unlock()
	if m := matchers.of[key]; m != nil {
		return m, nil
	}
	p, err := PatternOf(key.pattern, key.matchType, key.fold)
	if err != nil {
		return nil, err
	}
	m := &matcher{Pattern: p}
	for i := range m.forms {
		text := p.text
		if i&1 != 0 {
			text = p.ended()
		}
		if text = "(?:" + text + ")"; i&2 != 0 {
			text = `\A(?s:.)(?s:.*?)(?P<scrim__start>)` + strings.ReplaceAll(text, `\A`, `[^\x{0}-\x{10FFFF}]`)
		}
		m.forms[i] = sync.OnceValue(func() *regexp.Regexp { re, _ := regexp.Compile(text); return re })
	}
	if m.forms[0]() == nil {
		return nil, refuse.New(refuse.Unsupported, "The regular expression is too large.").With("Use a shorter pattern, or LIKE.")
	}
	if len(matchers.of) >= maxMatchers || matchers.of == nil {
		matchers.of = map[matcherKey]*matcher{}
	}
	matchers.of[key] = m
	return m, nil
}

// errText is of a text for which the pattern has no exact counterpart.
func errText(what string) error {
	return refuse.New(refuse.Unsupported, "A regular expression with %s is not supported.", what).With(`Use the match type u, \z in the place of $, or [^\w] in that of \b.`)
}

// find returns the ends of the first match from a byte on, and those of the groups of the
// statement; nil where there is none.
func (m *matcher) find(s string, from int) ([]int, error) {
	last, _ := utf8.DecodeLastRuneInString(s)
	ended := strings.ContainsRune(lineEndText, last) && s != "" && !(m.unix && last != '\n')
	switch {
	case m.words && strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }):
		return nil, errText(`\b on a text with other characters than ASCII`)
	case m.inside && ended:
		return nil, errText("a $ before its end on a text that ends with a line's end")
	case m.lines && (strings.ContainsAny(s, lineEndText[1:]) || m.starts && ended):
		return nil, errText("^ or $ of lines on a text with other ends of lines than the line feed, or one at its end,")
	}
	form := 0
	if ended {
		form = 1
	}
	shift := 0
	if from > 0 {
		form += 2
		_, n := utf8.DecodeLastRuneInString(s[:from])
		shift = from - n
	}
	re := m.forms[form]()
	if re == nil {
		return nil, errors.New("standard: a regular expression that does not compile")
	}
	loc := re.FindStringSubmatchIndex(s[shift:])
	if loc == nil {
		return nil, nil
	}
	names := re.SubexpNames()
	out, groups := []int{loc[0], loc[1]}, []int(nil)
	for i := 1; i < len(names); i++ {
		switch at := loc[2*i]; {
		case names[i] == "scrim__start":
			out[0] = at
		case !strings.HasPrefix(names[i], endGroup):
			groups = append(groups, at, loc[2*i+1])
		case at >= 0 && ended:
			out[1] = at
		}
	}
	out = append(out, groups...)
	for i := range out {
		if out[i] >= 0 {
			out[i] += shift
		}
	}
	return out, nil
}

// lineEndText are the ends of lines, the line feed first.
const lineEndText = "\n\v\f\r\u0085\u2028\u2029"

// expand appends a replacement: $1 is a group, and a backslash takes its meaning from what follows.
func (m *matcher) expand(out []byte, s, replacement string, loc []int) ([]byte, error) {
	count := len(loc)/2 - 1
	r := []rune(replacement)
	for i := 0; i < len(r); i++ {
		switch {
		case r[i] == '\\' && i+1 < len(r):
			i++
			out = utf8.AppendRune(out, r[i])
		case r[i] == '$':
			n, digits := 0, 0
			for i+1 < len(r) && r[i+1] >= '0' && r[i+1] <= '9' && (digits == 0 || n*10+int(r[i+1]-'0') <= count) {
				i++
				n, digits = n*10+int(r[i]-'0'), digits+1
			}
			if digits == 0 || n > count {
				return nil, mysql.NewSQLError(3686, mysql.SSUnknownSQLState, "Index out of bounds in regular expression search: a $ in the replacement is not followed by the number of a group.")
			}
			if a, b := loc[2*n], loc[2*n+1]; a >= 0 {
				out = append(out, s[a:b]...)
			}
		case r[i] != '\\':
			out = utf8.AppendRune(out, r[i])
		}
	}
	return out, nil
}
