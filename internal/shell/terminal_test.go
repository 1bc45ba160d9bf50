package shell

import (
	"os"
	"path/filepath"
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

func TestHistoryKeepsStatementsAndNoSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "scrim", "history")
	h, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"SELECT 1,\n  'ü';", `\price`, "SELECT 1,\n  'ü';"}
	for _, item := range []string{
		want[0], want[0], " ", "CREATE USER a identified BY 'x';", "SET PASSWORD = 'x';", "ALTER USER a\nIDENTIFIED\nBY 'x';",
		"INSERT INTO dp_in.commute VALUES ('token');", want[1], want[2],
	} {
		if err := h.add(item); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(h.items, want) {
		t.Errorf("got %q, want %q", h.items, want)
	}
	if h, err = openHistory(path); err != nil || !slices.Equal(h.items, want) {
		t.Errorf("read again: got %q, %v", h.items, err)
	}
	fi, err := os.Stat(path)
	if err != nil || fi.Mode() != 0o600 {
		t.Errorf("got %v, %v, want mode 0600", fi.Mode(), err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := h.add("SELECT 2;"); err != nil {
		t.Fatal(err)
	}
	if fi, err = os.Stat(path); err != nil || fi.Mode() != 0o600 {
		t.Errorf("after another wrote it: got %v, %v, want mode 0600", fi.Mode(), err)
	}
}
