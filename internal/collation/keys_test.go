package collation_test

import (
	"cmp"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/dolthub/go-mysql-server/sql"

	"scrim/internal/collation"
)

func each(t *testing.T, f func(*testing.T, sql.CollationID)) {
	for _, c := range collation.All() {
		t.Run(c.Name(), func(t *testing.T) { f(t, c) })
	}
}

// all calls f with every character.
func all(f func(r rune)) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) {
			f(r)
		}
	}
}

// TestKeysAreClasses goes over all of Unicode: two characters have one key exactly if they have one
// weight, and the key is a character of their own class.
func TestKeysAreClasses(t *testing.T) {
	each(t, func(t *testing.T, c sql.CollationID) {
		weight := c.Sorter()
		keys := make([]rune, weights)
		all(func(r rune) {
			text := collation.Fold(c, string(r))
			k, n := utf8.DecodeRuneInString(text)
			w := weight(r)
			if n != len(text) || weight(k) != w {
				t.Fatalf("the key of %U is %q, which is not of its class", r, text)
			}
			if first := keys[at(w)]; first != 0 && first != k+1 {
				t.Fatalf("%U has the key %U, another of its weight %U", r, k, first-1)
			}
			keys[at(w)] = k + 1
		})
	})
}

// weights bounds the weights, but for that of what a charset lacks.
const weights = 1 << 21

func at(weight int32) int32 { return min(weight, weights-1) }

// TestSortKeysAreRanks goes over all of Unicode: sort keys compare as weights do.
func TestSortKeysAreRanks(t *testing.T) {
	each(t, func(t *testing.T, c sql.CollationID) {
		weight := c.Sorter()
		sorted := make([]string, weights)
		all(func(r rune) {
			w, k := at(weight(r)), collation.SortKey(c, "b"+string(r)+"c")
			if other := sorted[w]; other != "" && other != k {
				t.Fatalf("%U sorts as %x, another of its weight as %x", r, k, other)
			}
			sorted[w] = k
		})
		last := ""
		for w, k := range sorted {
			if k != "" && k <= last {
				t.Fatalf("weight %d sorts as %x, the one before as %x", w, k, last)
			}
			last = max(last, k)
		}
	})
}

// compare is what keys and sort keys stand for: weights one by one, spaces behind the shorter text
// where the collation pads.
func compare(c sql.CollationID, a, b string) int {
	weight := c.Sorter()
	x, y := []rune(a), []rune(b)
	for i := range max(len(x), len(y)) {
		if !collation.Pads(c) && (i >= len(x) || i >= len(y)) {
			return cmp.Compare(len(x), len(y))
		}
		v, w := weight(' '), weight(' ')
		if i < len(x) {
			v = weight(x[i])
		}
		if i < len(y) {
			w = weight(y[i])
		}
		if d := cmp.Compare(v, w); d != 0 {
			return d
		}
	}
	return 0
}

func TestTextsCompareByWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	letters := []rune("aAáÁ\u0301bBßsSæ  \t\x01\x02!_zÅå\u00a0Яя漢\ufffd\U00010400\U0010ffff\U0001f600")
	text := func() string {
		s := make([]rune, rng.IntN(5))
		for i := range s {
			s[i] = letters[rng.IntN(len(letters))]
		}
		return string(s)
	}
	each(t, func(t *testing.T, c sql.CollationID) {
		equal := 0
		for range 30000 {
			a, b := text(), text()
			want := compare(c, a, b)
			if want == 0 && a != b {
				equal++
			}
			if got := collation.Key(c, a) == collation.Key(c, b); got != (want == 0) {
				t.Fatalf("the keys of %q and %q are the same: %t", a, b, got)
			}
			if got := collation.Compare(c, a, b); got != want {
				t.Fatalf("Compare(%q, %q) = %d, want %d", a, b, got, want)
			}
			if got := cmp.Compare(collation.SortKey(c, a), collation.SortKey(c, b)); got != want {
				t.Fatalf("%q and %q sort as %d, want %d", a, b, got, want)
			}
		}
		if !collation.ByBytes(c) && equal == 0 {
			t.Error("no two texts were equal but for their bytes")
		}
	})
}

func TestKeysReadWell(t *testing.T) {
	for _, c := range []struct {
		in   sql.CollationID
		text string
		want string
	}{
		{sql.Collation_utf8mb4_0900_ai_ci, "MÁRY Ñandú  ", "mary nandu  "},
		{sql.Collation_utf8mb4_0900_as_ci, "MÁRY", "máry"},
		{sql.Collation_utf8mb4_0900_as_cs, "MÁRY", "MÁRY"},
		{sql.Collation_utf8mb4_general_ci, "MÁRY Straße  ", "mary strase"},
		{sql.Collation_utf8mb4_unicode_ci, "ПРИВЕТ", "привет"},
		{sql.Collation_utf8mb4_bin, "Mary  ", "Mary"},
		{sql.Collation_latin1_swedish_ci, "ÅSA", "åsa"},
		{sql.Collation_binary, "Mary  ", "Mary  "},
		{sql.Collation_utf8mb4_0900_ai_ci, "１２ Ⅷ", "12 ⅷ"},
	} {
		if got := collation.Key(c.in, c.text); got != c.want {
			t.Errorf("%s: the key of %q is %q, want %q", c.in.Name(), c.text, got, c.want)
		}
	}
}

// TestNumbersAreTheirOwnKeys: persons may be named by numbers in one table and by texts in another.
func TestNumbersAreTheirOwnKeys(t *testing.T) {
	each(t, func(t *testing.T, c sql.CollationID) {
		for _, s := range []string{"-1234567890.5", "1e+20", "2026-11-29 10:20:30.456789"} {
			if got := collation.Key(c, s); got != s {
				t.Errorf("the key of %q is %q", s, got)
			}
		}
	})
}

func BenchmarkTable(b *testing.B) {
	for _, c := range collation.All()[:3] {
		b.Run(c.Name(), func(b *testing.B) {
			for range b.N {
				collation.NewTable(c)
			}
		})
	}
}
