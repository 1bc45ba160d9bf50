package standard

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Sets of characters are sorted pairs: the first and the last of each range.

// union sorts and joins ranges.
func union(sets ...[]rune) []rune {
	var pairs [][2]rune
	for _, s := range sets {
		for i := 0; i+1 < len(s); i += 2 {
			pairs = append(pairs, [2]rune{s[i], s[i+1]})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	var out []rune
	for _, p := range pairs {
		if n := len(out); n > 0 && p[0] <= out[n-1]+1 {
			out[n-1] = max(out[n-1], p[1])
			continue
		}
		out = append(out, p[0], p[1])
	}
	return out
}

// negated is all other characters.
func negated(set []rune) []rune {
	var out []rune
	next := rune(0)
	for s := union(set); len(s) > 0; s = s[2:] {
		if s[0] > next {
			out = append(out, next, s[0]-1)
		}
		next = s[1] + 1
	}
	if next <= unicode.MaxRune {
		out = append(out, next, unicode.MaxRune)
	}
	return out
}

// tables are the characters of tables of Unicode.
func tables(list ...*unicode.RangeTable) []rune {
	var out []rune
	for _, t := range list {
		ranges := slices.Clone(t.R32)
		for _, r := range t.R16 {
			ranges = append(ranges, unicode.Range32{Lo: uint32(r.Lo), Hi: uint32(r.Hi), Stride: uint32(r.Stride)})
		}
		for _, r := range ranges {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				if out = append(out, c, c); r.Stride == 1 {
					out[len(out)-1] = rune(r.Hi)
					break
				}
			}
		}
	}
	return union(out)
}

// classes are ICU's classes of characters by the names that POSIX has for them, and by letters.
var classes = sync.OnceValue(func() map[string][]rune {
	alpha := tables(unicode.L, unicode.Nl, unicode.Other_Alphabetic)
	blank := tables(unicode.Zs)
	blank = union(blank, []rune{'\t', '\t'})
	digit, space := tables(unicode.Nd), tables(unicode.White_Space)
	control, other := tables(unicode.Cc), tables(unicode.Cc, unicode.Cs)
	assigned := tables(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
	graph := negated(union(space, other, negated(assigned)))
	return map[string][]rune{
		"alpha": alpha, "digit": digit, "d": digit, "alnum": union(alpha, digit), "space": space, "s": space, "blank": blank, "h": blank, "cntrl": control,
		"upper": tables(unicode.Lu, unicode.Other_Uppercase), "lower": tables(unicode.Ll, unicode.Other_Lowercase), "punct": tables(unicode.P),
		"xdigit": union(digit, []rune{'A', 'F', 'a', 'f', 0xFF21, 0xFF26, 0xFF41, 0xFF46}), "graph": graph, "print": union(graph, negated(union(negated(blank), control))),
		"w": union(alpha, tables(unicode.M, unicode.Nd, unicode.Pc), []rune{0x200C, 0x200D}), "v": {'\n', '\r', 0x85, 0x85, 0x2028, 0x2029},
	}
})

// properties are long names of classes.
var properties = map[string]string{"Alphabetic": "alpha", "Uppercase": "upper", "Lowercase": "lower", "White_Space": "space", "Cc": "cntrl"}

// class writes a set.
func (t *translator) class(set []rune) {
	if t.err == nil {
		t.out.WriteString("(?-i:[" + classText(set) + "])")
	}
}

// classText is what stands in the brackets of a set.
func classText(set []rune) string {
	var b strings.Builder
	if len(set) == 0 {
		b.WriteString(`^\x{0}-\x{10FFFF}`)
	}
	for ; len(set) > 1; set = set[2:] {
		fmt.Fprintf(&b, `\x{%X}-\x{%X}`, set[0], set[1])
	}
	return b.String()
}

// named reads a class whose letter stands behind a backslash; nil of others.
func (t *translator) named(c rune) []rune {
	switch c {
	case 'd', 's', 'w', 'h', 'v':
		t.at++
		return classes()[string(c)]
	case 'D', 'S', 'W', 'H', 'V':
		t.at++
		return negated(classes()[string(unicode.ToLower(c))])
	case 'p', 'P':
		t.at++
		end := slices.Index(t.in[t.at:], '}')
		if !t.peek("{") || end < 0 {
			t.wrong("a wrong property")
			return []rune{}
		}
		name := string(t.in[t.at+1 : t.at+end])
		t.at += end + 1
		other := c == 'P'
		if cut := strings.TrimPrefix(name, "^"); cut != name {
			name, other = cut, !other
		}
		var set []rune
		switch class := classes()[properties[name]]; {
		case class != nil:
			set = class
		case unicode.Categories[name] != nil && name[:1] != "C":
			set = tables(unicode.Categories[name])
		case unicode.Scripts[name] != nil:
			set = tables(unicode.Scripts[name])
		default:
			t.missing(`the property \p{` + name + "}")
			return []rune{}
		}
		if other {
			return negated(set)
		}
		return set
	}
	return nil
}

// set reads a set in square brackets.
func (t *translator) set(depth int) []rune {
	t.at++ // [
	if t.peek(":") {
		if name, _, ok := strings.Cut(string(t.in[t.at+1:]), ":]"); ok && len(name) < 10 {
			t.at += len([]rune(name)) + 3
			other := strings.TrimPrefix(name, "^")
			class := classes()[other]
			if class == nil || len(other) < 2 {
				t.missing("the class [:" + name + ":]")
			}
			if other != name {
				return negated(class)
			}
			return class
		}
	}
	not := false
	if t.skip(); t.peek("^") {
		not = true
		t.at++
	}
	var out []rune
	first, nested := true, false
	for t.skip(); t.more() && (t.in[t.at] != ']' || first); t.skip() {
		c := t.in[t.at]
		switch {
		case c == ']': // in the first place one of the set
			t.at++
		case c == '[':
			if depth > 20 {
				t.missing("sets of more than 20 levels")
			}
			out, nested, first = union(out, t.set(depth+1)), true, false
			continue
		case t.peek("&&"), t.peek("--"), nested && (c == '-' || c == '&') && !t.peek("-]"), t.peek("-["), t.peek("&["):
			t.missing("operations of sets")
		case c == '\\' && t.at+1 < len(t.in):
			t.at++
			if class := t.named(t.in[t.at]); class != nil {
				out, first, nested = union(out, class), false, true
				continue
			}
			if t.peek("Q") || t.peek("E") || t.peek("N") {
				t.missing(`\Q, \E and \N in sets`)
			}
			c = t.escaped()
		default:
			t.at++
		}
		first, nested = false, false
		last := c
		if t.skip(); t.peek("-") && !t.peek("-]") && !t.peek("--") && !t.peek("-[") {
			t.at++
			if t.skip(); !t.more() {
				break
			}
			if last = t.in[t.at]; last != '\\' {
				t.at++
			} else if t.at++; t.more() {
				if strings.ContainsRune("dDsSwWhHvVpPQEN", t.in[t.at]) {
					t.wrong("a wrong range")
				}
				last = t.escaped()
			}
			if last < c {
				t.wrong("a range from its end")
			}
		}
		out = union(out, []rune{c, last})
	}
	t.close()
	if t.fold {
		out = folded(out)
	}
	if not {
		return negated(out)
	}
	return out
}

// folded adds the other cases of characters.
func folded(set []rune) []rune {
	var more []rune
	for s := set; len(s) > 1; s = s[2:] {
		for c := s[0]; c <= min(s[1], 0x1FFFF); c++ {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				more = append(more, f, f)
			}
		}
	}
	return union(set, more)
}
