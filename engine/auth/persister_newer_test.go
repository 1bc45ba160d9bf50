package auth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPersisterRefuses: a file of a newer program is told as that, and only what is not what was
// written as damaged.
func TestPersisterRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	p := NewPersister(path, "one")
	if err := p.Persist(nil, []byte("grants")); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := p.Load(); !ok || err != nil {
		t.Fatalf("got %v, %v", ok, err)
	}
	for what, c := range map[string]struct{ text, want string }{
		"another format":   {strings.Replace(string(sound), "scrim-users 1", "scrim-users 2", 1), "made by a newer version of scrim (scrim-users 2"},
		"a much newer one": {"scrim-users 12 with more\nand other grants", "made by a newer version of scrim (scrim-users 12"},
		"no format":        {strings.Replace(string(sound), "scrim-users 1", "scrim-users 0", 1), "damaged"},
		"other grants":     {strings.Replace(string(sound), "grants", "Grants", 1), "damaged"},
		"nothing":          {"", "damaged"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.Load(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", what, err, c.want)
		}
	}
}
