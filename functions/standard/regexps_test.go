package standard

import (
	"fmt"
	"strings"
	"testing"

	"scrim/internal/refuse"
)

// TestRegexps compares with what ICU's and MySQL's manuals say.
func TestRegexps(t *testing.T) {
	cases := []struct {
		name string
		args []any
		want any
	}{
		{"regexp_like", []any{"a\rb", "a.b"}, "0"}, {"regexp_like", []any{"a\rb", "a.b", "n"}, "1"}, {"regexp_like", []any{"a\rb", "a.b", "u"}, "1"}, {"regexp_like", []any{"a\nb", "a.b", "u"}, "0"},
		{"regexp_like", []any{"a\n", "a$"}, "1"}, {"regexp_like", []any{"a\r\n", "a$"}, "1"}, {"regexp_like", []any{"a\n\n", "a$"}, "0"}, {"regexp_like", []any{"a\r", "a$", "u"}, "0"}, {"regexp_like", []any{"a\n", `a\z`}, "0"},
		{"regexp_like", []any{"a\n", "(b|a$)"}, "1"}, {"regexp_like", []any{"ab", "a$|b$"}, "1"}, {"regexp_like", []any{"b\na", "^a", "m"}, "1"}, {"regexp_like", []any{"b\na", "^a"}, "0"}, {"regexp_like", []any{"b\rc", "b$", "mu"}, "0"},
		{"regexp_like", []any{"٣", `^\d$`}, "1"}, {"regexp_like", []any{"é", `^\w$`}, "1"}, {"regexp_like", []any{"é", `\W`}, "0"}, {"regexp_like", []any{"\u00a0", `\s`}, "1"}, {"regexp_like", []any{"é", "^[[:alpha:]]$"}, "1"},
		{"regexp_like", []any{"$", "[[:punct:]]"}, "0"}, {"regexp_like", []any{"!", "[[:punct:]]"}, "1"}, {"regexp_like", []any{"x", "[[a-c][x-z]]"}, "1"}, {"regexp_like", []any{"b", "[^[:upper:]a]"}, "1"},
		{"regexp_like", []any{"foo", "(?x) f o # comment\n o "}, "1"}, {"regexp_like", []any{"wxyz", "w(?# comment 1)xy(?# comment 2)z"}, "1"}, {"regexp_like", []any{"A", "a"}, "0"}, {"regexp_like", []any{"A", "a", "i"}, "1"},
		{"regexp_like", []any{"A", "a", "ic"}, "0"}, {"regexp_like", []any{"aB", "a(?i)b"}, "1"}, {"regexp_like", []any{"AB", "a(?i:b)"}, "0"}, {"regexp_like", []any{"a]", `[\]]$`}, "1"}, {"regexp_like", []any{"-", "[a-]"}, "1"},
		{"regexp_like", []any{"a.b", `\Qa.b\E`}, "1"}, {"regexp_like", []any{"axb", `\Qa.b\E`}, "0"}, {"regexp_like", []any{"A", `\x41\u0042?\x{43}*`}, "1"}, {"regexp_like", []any{"foo bar", `\bbar\b`}, "1"}, {"regexp_like", []any{"a", nil}, nil},
		{"regexp_like", []any{"日本", "^.{2}$"}, "1"}, {"regexp_like", []any{"ABD", "(?i)a[^bc]d"}, "0"}, {"regexp_like", []any{"AXD", "(?i)a[^bc]d"}, "1"}, {"regexp_like", []any{"α", `\p{Greek}`}, "1"}, {"regexp_like", []any{"a", `\P{L}`}, "0"},
		{"regexp_instr", []any{"dog cat dog", "dog"}, "1"}, {"regexp_instr", []any{"dog cat dog", "dog", 2}, "9"}, {"regexp_instr", []any{"aa aaa aaaa", "a{2}"}, "1"}, {"regexp_instr", []any{"aa aaa aaaa", "a{4}"}, "8"},
		{"regexp_instr", []any{"日本日", "日", 2}, "3"}, {"regexp_instr", []any{"日本日", "日", 1, 2, 1}, "4"}, {"regexp_instr", []any{"abc", "^b", 2}, "0"}, {"regexp_instr", []any{"a\n", "a$", 1, 1, 1}, "2"}, {"regexp_instr", []any{"xyz", "a"}, "0"},
		{"regexp_substr", []any{"abc def ghi", "[a-z]+"}, "abc"}, {"regexp_substr", []any{"abc def ghi", "[a-z]+", 1, 3}, "ghi"}, {"regexp_substr", []any{"abc", "x"}, nil}, {"regexp_substr", []any{"éa日b", "[ab]", 3}, "b"},
		{"regexp_replace", []any{"a b c", "b", "X"}, "a X c"}, {"regexp_replace", []any{"abc def ghi", "[a-z]+", "X", 1, 3}, "abc def X"}, {"regexp_replace", []any{"abc", "(b)", "<$1>"}, "a<b>c"}, {"regexp_replace", []any{"ab", "a*", "X"}, "XXbX"},
		{"regexp_replace", []any{"abc", "b", `\$1`}, "a$1c"}, {"regexp_replace", []any{"aaa", "a", "b", 2}, "abb"}, {"regexp_replace", []any{"日本", "", "x"}, "3685"}, {"regexp_replace", []any{"a", "a", "$1"}, "3686"},
		{"regexp_replace", []any{"ab\n", "b$", "x"}, "ax\n"}, {"regexp_instr", []any{"a", "a", 3}, "3686"}, {"regexp_instr", []any{"a", "a", 0}, "1210"}, {"regexp_like", []any{"a", "a", "q"}, "1210"},
		{"regexp_like", []any{"a", "("}, "3692"}, {"regexp_like", []any{"a", "a)"}, "3692"}, {"regexp_like", []any{"a", "a**"}, "3692"}, {"regexp_like", []any{"a", "[b-a]"}, "3692"}, {"regexp_like", []any{"a", "(?P<x>a)"}, "3692"}, {"regexp_like", []any{"a", "{"}, "3692"},
	}
	for _, c := range cases {
		got := eval(t, c.name, c.args...)
		if err, ok := got.(error); ok {
			got = err.Error()
			if n, ok := c.want.(string); ok && strings.Contains(err.Error(), "errno "+n) {
				got = n
			}
		}
		if got != c.want {
			t.Errorf("%s%q: got %v, want %v", c.name, c.args, got, c.want)
		}
	}
}

// TestRegexpsRefused: what has no counterpart in linear time is refused by its name.
func TestRegexpsRefused(t *testing.T) {
	for pattern, name := range map[string]string{
		`(a)\1`: "back references", `(?<n>a)\k<n>`: "back references", "a(?=b)": "look-ahead", "a(?!b)": "look-ahead", "(?<=a)b": "look-behind", "(?<!a)b": "look-behind", "(?>a)": "atomic groups",
		"a++": "possessive", "a{2}+": "possessive", "[a-z&&[aeiou]]": "operations of sets", "[[a-z]--[aeiou]]": "operations of sets", "(?w)a": "flags w", `\X`: `\X`, `\R`: `\R`, "a{1001}": "repetitions", `\p{Line_Break=X}`: "property",
	} {
		err, ok := eval(t, "regexp_like", "aa", pattern).(error)
		if e, refused := refuse.As(err); !ok || !refused || !strings.Contains(e.Cause, name) {
			t.Errorf("%q: %v, want a refusal of %s", pattern, err, name)
		}
	}
	for text, pattern := range map[string]string{"é a": `\ba`, "a\n": "(a$)?b*", "a\rb": "(?m)^b", "b\n": "(?m)^a"} {
		if got := eval(t, "regexp_like", text, pattern); !strings.Contains(fmt.Sprint(got), "is not supported") {
			t.Errorf("%q on %q: %v, want a refusal", pattern, text, got)
		}
	}
}
