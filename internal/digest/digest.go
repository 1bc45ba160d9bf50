package digest

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// MaxBytes bounds a redacted text.
const MaxBytes = 16 << 10

// maxRead is how much of a text is read: more than the longest statement that somebody wrote by
// hand, and little enough that a long INSERT costs a millisecond.
const maxRead = 256 << 10

// cut stands for what is left out.
const cut = "…"

// Redact returns the text of one or more statements without its literals, at most MaxBytes long. It
// never fails.
func Redact(sql string) string {
	long := len(sql) > maxRead
	if long {
		sql = sql[:maxRead]
	}
	tokens, whole := read(strings.ToValidUTF8(sql, "\uFFFD"), long)
	out := show(fold(tokens))
	if !whole || long {
		out = strings.TrimSpace(out + " " + cut)
	}
	return clip(out)
}

// Of returns a short name of a redacted text: 32 hexadecimal digits.
func Of(redacted string) string {
	h := sha256.Sum256([]byte(redacted))
	return hex.EncodeToString(h[:16])
}

// read returns the tokens of a text, and whether they are all of it. Of a text that goes on (long)
// the last token is left out, as it may be a part of one.
func read(sql string, long bool) ([]token, bool) {
	l := lexer{text: sql}
	tokens := l.run()
	end := l.odd // where the text cannot be read further, -1: nowhere
	if end >= 0 && l.unclear >= 0 {
		end = min(end, l.unclear)
	}
	if l.unclear >= 0 && end < 0 {
		// The other reading of a backslash before a quote. If it is one, nobody can say which was
		// meant.
		other := lexer{text: sql, plain: true}
		if other.run(); other.odd < 0 {
			end = l.unclear
		}
	}
	if end < 0 && !long {
		return tokens, true
	}
	for len(tokens) > 0 && (end >= 0 && tokens[len(tokens)-1].at >= end) {
		tokens = tokens[:len(tokens)-1]
	}
	if end < 0 && len(tokens) > 0 {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens, false
}

// clip cuts a text to MaxBytes at a character's edge.
func clip(s string) string {
	if len(s) <= MaxBytes {
		return s
	}
	n := MaxBytes - len(cut)
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + cut
}

// show prints tokens with one space where one belongs.
func show(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && spaced(tokens[i-1], t) {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		if b.Len() > MaxBytes {
			break
		}
	}
	return b.String()
}

// spaced reports whether a space stands between two tokens. It depends on nothing but the tokens,
// so that texts which differ in white space print alike.
func spaced(a, b token) bool {
	switch {
	case a.text == "(" || a.text == "." || b.text == ")" || b.text == "," || b.text == "." || b.text == ";":
		return false
	case b.text == "(" || b.text == list:
		return a.kind == keyword || a.kind == operator || a.kind == literal || a.kind == hint
	}
	return true
}

// list stands for a list of values of any length.
const list = "(...)"

// fold takes out what tokens alone do not show to be values: passwords without quotes, signs, and
// the length of lists.
func fold(tokens []token) []token {
	return folded(signs(passwords(tokens)))
}

// passwords marks what follows IDENTIFIED BY, IDENTIFIED … AS and SET PASSWORD … =, in whatever
// spelling.
func passwords(tokens []token) []token {
	secret, setting := false, false
	var out []token
	for i, t := range tokens {
		switch {
		case secret && t.kind != keyword && t.text != "," && t.text != ";":
			if len(out) == 0 || out[len(out)-1].text != mark {
				out = append(out, token{literal, mark, t.at})
			}
			continue
		case t.text == "BY" && before(tokens, i, "IDENTIFIED", 4), t.text == "AS" && before(tokens, i, "IDENTIFIED", 4):
			secret = true
		case t.text == "PASSWORD" && i > 0 && tokens[i-1].text == "SET":
			setting = true
		case setting && (t.text == "=" || t.text == "TO"):
			secret, setting = true, false
		case t.text == ";":
			secret, setting = false, false
		case secret && (t.text == "PASSWORD" || t.text == "RANDOM"):
		default:
			secret = false
		}
		out = append(out, t)
	}
	return out
}

// before reports whether a word is one of the n tokens before place i.
func before(tokens []token, i int, word string, n int) bool {
	for j := i - 1; j >= max(0, i-n); j-- {
		if tokens[j].text == word {
			return true
		}
	}
	return false
}

// signs drops the sign of a literal, and joins literals that stand side by side, as strings do.
func signs(tokens []token) []token {
	var out []token
	for _, t := range tokens {
		if t.text != mark {
			out = append(out, t)
			continue
		}
		for len(out) > 0 && (out[len(out)-1].text == "-" || out[len(out)-1].text == "+") && !operand(out[:len(out)-1]) {
			out = out[:len(out)-1]
		}
		if len(out) > 0 && out[len(out)-1].text == mark {
			continue
		}
		out = append(out, token{literal, mark, t.at})
	}
	return out
}

// operand reports whether tokens end with something that an operator takes on its left.
func operand(tokens []token) bool {
	if len(tokens) == 0 {
		return false
	}
	t := tokens[len(tokens)-1]
	return t.kind == identifier || t.kind == literal || t.text == ")"
}

// folded folds the list after IN and the rows after VALUES.
func folded(tokens []token) []token {
	f := folder{tokens: tokens, groups: groups(tokens)}
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		f.out = append(f.out, t)
		if t.kind != keyword {
			continue
		}
		switch t.text {
		case "IN":
			if g, ok := f.groups[i+1]; ok && g.values {
				f.out = append(f.out, token{operator, list, t.at})
				i = g.end
			}
		case "VALUES":
			i = f.rows(i)
		}
	}
	return f.out
}

// group is what stands between parentheses.
type group struct {
	end    int  // the place of the one that closes
	values bool // nothing but values, commas and groups of such
}

// groups finds the groups of a text by the place of the parenthesis that opens, in one pass.
func groups(tokens []token) map[int]group {
	out := map[int]group{}
	var open []int
	values := []bool{false}
	for i, t := range tokens {
		switch t.text {
		case "(":
			open, values = append(open, i), append(values, true)
		case ")":
			if n := len(open) - 1; n >= 0 {
				g := group{i, values[n+1]}
				out[open[n]] = g
				open, values = open[:n], values[:n+1]
				values[n] = values[n] && g.values
			}
		case ",", mark, "NULL", "TRUE", "FALSE", "DEFAULT", "DATE", "TIMESTAMP":
		default:
			values[len(values)-1] = false
		}
	}
	return out
}

type folder struct {
	tokens []token
	groups map[int]group
	out    []token
}

// rows appends the rows after place i, equal neighbours once, and returns the last place.
func (f *folder) rows(i int) int {
	last := ""
	for {
		from := i + 1
		if last != "" {
			if f.text(from) != "," {
				return i
			}
			from++
		}
		if f.text(from) == "ROW" {
			from++
		}
		g, ok := f.groups[from]
		if !ok {
			return i
		}
		row := []token{{operator, list, 0}}
		if !g.values {
			row = f.tokens[from : g.end+1]
		}
		if text := show(row); text != last {
			if last != "" {
				f.out = append(f.out, token{operator, ",", 0})
			}
			f.out = append(f.out, row...)
			last = text
		}
		i = g.end
	}
}

func (f *folder) text(i int) string {
	if i < len(f.tokens) {
		return f.tokens[i].text
	}
	return ""
}
