package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"scrim/internal/release"
)

// declared is what a catalogue expects of the store, and what it does not.
func declared(c *Catalog) string {
	there, absent := c.Snapshot().Declared()
	return fmt.Sprint(there, absent)
}

// TestAbsent: a table with a policy is expected in the store until it is dropped or renamed, and
// again when it is declared or seen.
func TestAbsent(t *testing.T) {
	c, path := open(t)
	want := func(text string) {
		t.Helper()
		if got := declared(c); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
		d, err := Open(path, Options{DirectoryID: dir})
		ok(t, err)
		if got := declared(d); got != text {
			t.Errorf("reopened: got %s, want %s", got, text)
		}
	}
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	ok(t, c.Public(shop, "shop.regions"))
	want("[shop.orders shop.regions] []")
	if err := c.Leaving("shop.regions", func() error { return errors.New("refused") }); err == nil {
		t.Error("the error of a drop is lost")
	}
	want("[shop.orders shop.regions] []")
	ok(t, c.Leaving("shop.regions", func() error {
		want("[shop.orders] [shop.regions]") // and if the process ends here
		return nil
	}))
	want("[shop.orders] [shop.regions]")
	ok(t, c.Public(shop, "shop.regions"))
	want("[shop.orders shop.regions] []")
	ok(t, c.Dropped("shop.regions"))
	ok(t, c.Dropped("shop.orders"))
	ok(t, c.Dropped("shop.never_there"))
	want("[] [shop.orders]")
	ok(t, c.Created("shop.orders")) // which may be rolled back
	want("[] [shop.orders]")
	ok(t, c.Seen("shop.orders"))
	want("[shop.orders] []")
	ok(t, c.Rename("shop.orders", "shop.sales")) // either may be there
	want("[] [shop.orders shop.sales]")
	ok(t, c.Public(shop, "shop.regions"))
	ok(t, c.Raise())
	want("[] [shop.orders shop.regions shop.sales]")
}

// TestOlder: a file of the version before is read, and is Older until it is raised; one of a
// newer program is refused by the program's name, whatever else it has.
func TestOlder(t *testing.T) {
	c, path := open(t)
	ok(t, c.Protect(shop, "shop.orders", "customer_id", "customer"))
	good, err := os.ReadFile(path)
	ok(t, err)
	head, payload, _ := strings.Cut(strings.Replace(string(good), `"program": "`+release.Version, `"program": "9.8.7`, 1), "\n")
	put := func(edit func(*header), extra, payload string) {
		t.Helper()
		var h header
		ok(t, json.Unmarshal([]byte(head), &h))
		edit(&h)
		h.SHA256 = h.sum([]byte(payload))
		line, err := json.Marshal(h)
		ok(t, err)
		ok(t, os.WriteFile(path, []byte(strings.TrimSuffix(string(line), "}")+extra+"}\n"+payload), 0o600))
	}
	old := func(want bool) {
		t.Helper()
		if is, err := Older(path); is != want || err != nil {
			t.Errorf("older: got %t, %v, want %t", is, err, want)
		}
	}
	old(false)
	put(func(h *header) { h.Version = oldVersion }, "", payload)
	old(true)
	d, err := Open(path, Options{DirectoryID: dir})
	ok(t, err)
	if there, _ := d.Snapshot().Declared(); !slices.Equal(there, []string{"shop.orders"}) {
		t.Errorf("got the policies %v", there)
	}
	old(true)
	ok(t, d.Raise())
	old(false)
	for name, write := range map[string]func(){
		"a version": func() { put(func(h *header) { h.Version = fileVersion + 1 }, `,"later":1`, payload) },
		"a field of tables": func() {
			put(func(*header) {}, "", strings.Replace(payload, `"state"`, `"later": 1, "state"`, 1))
		},
		"a state": func() {
			put(func(*header) {}, "", strings.Replace(payload, `"protected"`, `"later"`, 1))
		},
	} {
		write()
		if _, err := Open(path, Options{DirectoryID: dir}); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "made by a newer version of scrim (9.8.7)") {
			t.Errorf("%s that is not known: %v", name, err)
		}
	}
	if _, err := Older(path + "x"); !errors.Is(err, ErrMissing) {
		t.Errorf("no file: %v", err)
	}
}
