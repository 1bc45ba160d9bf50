package fuzz

import (
	"strings"
	"testing"
)

// TestStatementsRepeat: a statement is a function of its seed and number, and no two seeds have the
// same ones.
func TestStatementsRepeat(t *testing.T) {
	for name, make := range map[string]func(seed, n uint64) Statement{"public": Public, "private": Private} {
		other := 0
		shapes := map[string]bool{}
		for n := range uint64(300) {
			a, b, c := make(1, n), make(1, n), make(2, n)
			if a.Tree.String() != b.Tree.String() || a.Shape != b.Shape {
				t.Errorf("%s %d: %s, and then %s", name, n, a.Tree, b.Tree)
			}
			if a.Tree.String() != c.Tree.String() {
				other++
			}
			shapes[a.Shape] = true
			if text := a.Tree.String(); strings.Count(text, "(") != strings.Count(text, ")") {
				t.Errorf("%s %d: %s", name, n, text)
			}
		}
		if other < 290 || len(shapes) < 3 {
			t.Errorf("%s: %d of 300 differ by seed, in %d shapes", name, other, len(shapes))
		}
	}
}

// TestSmaller: parts are left out one at a time, and what is left ends.
func TestSmaller(t *testing.T) {
	tree := part("SELECT %0 FROM t1%1", list("", ", ", 1, part("%0 AS c0", &Node{Form: "%0 + %1", Kind: 'n', Kids: []*Node{{Form: "i", Kind: 'i'}, {Form: "x", Kind: 'n'}}})), list(" WHERE ", " AND ", 0, part("i = 1"), part("x LIKE '%%'")))
	if got := tree.String(); got != "SELECT i + x AS c0 FROM t1 WHERE i = 1 AND x LIKE '%'" {
		t.Fatal(got)
	}
	var texts []string
	for _, s := range tree.Smaller() {
		texts = append(texts, s.String())
	}
	want := "SELECT i AS c0 FROM t1 WHERE i = 1 AND x LIKE '%'; SELECT x AS c0 FROM t1 WHERE i = 1 AND x LIKE '%'; SELECT i + x AS c0 FROM t1 WHERE x LIKE '%'; SELECT i + x AS c0 FROM t1 WHERE i = 1"
	if got := strings.Join(texts, "; "); got != want {
		t.Errorf("got %s", got)
	}
	for n := range uint64(100) {
		tree := Public(3, n).Tree
		for steps := 0; ; steps++ {
			smaller := tree.Smaller()
			if len(smaller) == 0 {
				break
			}
			if tree = smaller[len(smaller)-1]; steps > 300 {
				t.Fatalf("%d does not end: %s", n, tree)
			}
		}
	}
}

func TestTyped(t *testing.T) {
	for statement, want := range map[string]string{
		"SELECT p.da < DATE '2020-01-01' FROM t1 p":            "SELECT DATE < DATE FROM t1 p",
		"SELECT e, 'e', X'61', '2020-01-01', CAST(d2 AS CHAR)": "SELECT ENUM, 'e', HEXBIN, DAYTEXT, CAST(DEC AS CHAR)",
	} {
		if got := Typed(statement); got != want {
			t.Errorf("%s: got %s", statement, got)
		}
	}
}
