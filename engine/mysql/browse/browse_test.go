package browse

import (
	"fmt"
	"strings"
	"testing"
)

func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"people", "people", true}, {"PEOPLE", "people", true}, {"peopl", "people", false}, {"p%", "people", true}, {"%", "", true}, {"", "", true}, {"", "a", false},
		{"p_ople", "people", true}, {"p_", "people", false}, {`a\_b`, "a_b", true}, {`a\_b`, "axb", false}, {`a\%`, "a%", true}, {`a\%`, "ab", false}, {"%e%e", "people", true},
		{"%é_", "café!", true}, {strings.Repeat("%a", 40) + "b", strings.Repeat("a", 64), false}, {`a\`, `a\`, true},
	} {
		if got := like(&c.pattern, c.name); got != c.want {
			t.Errorf("%q LIKE %q: got %v", c.name, c.pattern, got)
		}
	}
	if !like(nil, "x") {
		t.Error("no pattern fits nothing")
	}
}

func TestParametersOf(t *testing.T) {
	for signature, want := range map[string]string{
		"dp_set_budget(table | 'entity:NAME', principal, epsilon | 'rho=R', delta, window [, reason])": "[table principal epsilon delta window reason]",
		"dp_public(table)": "[table]", "dp_nothing()": "[]", "dp_odd": "[]",
	} {
		if got := fmt.Sprint(parametersOf(signature)); got != want {
			t.Errorf("%s: got %s, want %s", signature, got, want)
		}
	}
}

// TestEveryAnswerHasItsArguments: what the forms write is what the answers take.
func TestEveryAnswerHasItsArguments(t *testing.T) {
	for kind := range answers {
		if _, ok := arguments[kind]; !ok {
			t.Errorf("%s: nobody says how many arguments it takes", kind)
		}
	}
	if len(answers) != len(arguments) {
		t.Errorf("%d answers and %d numbers of arguments", len(answers), len(arguments))
	}
	odd, s := "`x`'; DROP TABLE t; --", &Server{}
	text := from("databases", &odd)
	if strings.Contains(text, "DROP") || strings.Count(text, "`") != 4 {
		t.Errorf("an argument is part of the text: %s", text)
	}
	for _, name := range []string{"", "zz", "64617461626173657300", "646174616261736573", "7461626c6573 - xzz", "7461626c6573"} {
		if got, err := s.answer(nil, name); got != nil && err == nil {
			t.Errorf("%q is the name of an answer", name)
		}
	}
}
