package shell

import (
	"slices"
	"testing"
)

func TestCompletionsAreWhatMayStandThere(t *testing.T) {
	s := &Shell{names: names{
		columns: map[string][]string{"visits": {"city", "spent"}, "shop.visits": {"city", "spent"}},
		words:   []string{"city", "COUNT", "DP_COUNT", "DP_MEAN", "FROM", "shop.visits", "spent", "visits"},
	}}
	for _, c := range []struct {
		text, prefix string
		want         []string
	}{
		{"SELECT sp", "sp", []string{"spent"}},
		{"SELECT DP_MEAN(sp", "sp", []string{"spent"}},
		{"SELECT dp_", "dp_", []string{"DP_COUNT", "DP_MEAN"}},
		{"select x fr", "fr", []string{"from"}},
		{"SELECT x FR", "FR", []string{"FROM"}},
		{"SELECT visits.", "visits.", []string{"visits.city", "visits.spent"}},
		{"SELECT shop.visits.s", "shop.visits.s", []string{"shop.visits.spent"}},
		{"SELECT 1 FROM shop.", "shop.", []string{"shop.visits"}},
		{`\pr`, `\pr`, []string{`\price`}},
		{`\price SELECT ci`, "ci", []string{"city"}},
		{"SELECT zz", "zz", nil},
	} {
		prefix, got := s.completions(t.Context(), c.text)
		if prefix != c.prefix || !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, %q, want %q, %q", c.text, prefix, got, c.prefix, c.want)
		}
	}
	if slices.Contains(s.names.words, "from") {
		t.Error("what was offered in small letters changed the names")
	}
	for name, want := range map[string]bool{"visits": true, "größe": true, "a b": false, "a\u009b31m": false, "x\u202ey": false, "": false} {
		if plain(name) != want {
			t.Errorf("%q: got plain %v", name, !want)
		}
	}
}
