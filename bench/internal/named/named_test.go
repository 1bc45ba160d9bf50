package named

import (
	"strings"
	"testing"
)

func TestCanonicalForm(t *testing.T) {
	n, err := Parse("kind:b=2.50,a=x")
	if err != nil {
		t.Fatal(err)
	}
	if x := n.Float("b", 1, 0, 10); x != 2.5 {
		t.Errorf("b = %v, want 2.5", x)
	}
	if x := n.Int("c", 7, 0, 10); x != 7 {
		t.Errorf("c = %v, want the default 7", x)
	}
	if x := n.Word("a", "y", "x", "y"); x != "x" {
		t.Errorf("a = %q, want x", x)
	}
	if err := n.Check(); err != nil || !n.OK() {
		t.Error(err)
	}
	if got := n.String(); got != "kind:a=x,b=2.5,c=7" {
		t.Errorf("canonical form %q", got)
	}
}

func TestProblemsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		"k:a=11":    "want a number from 0 to 10",
		"k:a=NaN":   "want a number from 0 to 10",
		"k:a=x":     "want a number from 0 to 10",
		"k:b=1.5":   "want an integer",
		"k:w=../x":  "want a word",
		"k:w=other": "want one of one, two",
		"k:z=1":     `no parameter "z"`,
	} {
		n, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		n.Float("a", 1, 0, 10)
		n.Int("b", 1, 0, 10)
		n.Word("w", "one", "one", "two")
		if err := n.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	for _, text := range []string{"k:a", "k:a=1,a=2"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
