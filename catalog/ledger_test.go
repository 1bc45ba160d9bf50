package catalog

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// TestNoteOfTheLedger: the note is in the file with every change, stays where nobody follows the
// ledger, and cannot be changed unnoticed.
func TestNoteOfTheLedger(t *testing.T) {
	c, path := open(t)
	again := func(want string) *Catalog {
		t.Helper()
		d, err := Open(path, Options{DirectoryID: dir})
		ok(t, err)
		if got := d.Ledger(); got != want {
			t.Errorf("the file says %q of the ledger, want %q", got, want)
		}
		return d
	}
	again("")
	now := "record one"
	c.Follow(func() string { return now })
	again("")
	ok(t, c.Public(shop, "shop.regions"))
	again("record one")
	now = "record two"
	ok(t, c.NoteLedger(now))
	c = again("record two")
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	again("record two")
	reopened(t, c)
	text, err := os.ReadFile(path)
	ok(t, err)
	ok(t, os.WriteFile(path, []byte(strings.Replace(string(text), "record two", "record one", 1)), 0o600))
	if _, err := Open(path, Options{DirectoryID: dir}); !errors.Is(err, ErrDamaged) {
		t.Errorf("a note that was changed by hand: %v", err)
	}
	if err := c.NoteLedger("x"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a file that somebody else replaced was written: %v", err)
	}
}
