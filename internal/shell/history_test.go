package shell

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

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
