package datadir

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scrim/catalog"
	"scrim/engine/store/duckdb"
)

// put writes files of a directory.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// policiesOf is a file of policies in a version, with whatever else a program may have put in it.
func policiesOf(version int, id, payload string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%s\n%d\n%s", version, id, 1, payload))
	return fmt.Sprintf(`{"format":"scrim-catalog","version":%d,"directory":"%s","revision":1,"sha256":"%x"}`+"\n%s", version, id, sum, payload)
}

// madeBy is the beginning of a file of that version of DuckDB.
func madeBy(version string) string {
	return strings.Repeat("\x00", 8) + "DUCK" + strings.Repeat("\x00", 40) + version + strings.Repeat("\x00", 32)
}

// TestUpgrade: a directory of an earlier version is refused with all that an upgrade would do,
// until the operator says yes; then there is a copy, byte for byte, and no question any more.
func TestUpgrade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d")
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	p := Place{Dir: path}
	if err := errors.Join(p.CheckEarlier(), d.Upgrade(false)); err != nil || d.Copied != "" {
		t.Fatalf("a new directory: %v, copied to %q", err, d.Copied)
	}
	files := map[string]string{DataFile: madeBy("v1.4.1"), DataFile + ".wal": "the log", CatalogFile: policiesOf(1, d.ID, "[]"), LedgerFile: "the ledger", UsersFile: "users"}
	put(t, path, files)
	for range 2 {
		err := d.Upgrade(false)
		if !errors.Is(err, ErrEarlier) || p.CheckEarlier() == nil {
			t.Fatalf("got %v", err)
		}
		if _, err := p.OpenStore(d.ID); !errors.Is(err, ErrEarlier) {
			t.Errorf("the store was opened: %v", err)
		}
		for _, want := range []string{path, "DuckDB v1.4.1", duckdb.LibraryVersion(), "Nothing was changed", "--yes", "data.duckdb, data.duckdb.wal, catalog, 0.0 MiB", "before-" + duckdb.LibraryVersion()} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not told: %v", want, err)
			}
		}
	}
	left := filepath.Join(path, "before-v1.5.0-20260101T000000Z.partial")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := d.Upgrade(true); err != nil || filepath.Dir(d.Copied) != path {
		t.Fatalf("%v, copied to %q", err, d.Copied)
	}
	for _, name := range []string{DataFile, DataFile + ".wal", CatalogFile} {
		if b, err := os.ReadFile(filepath.Join(d.Copied, name)); err != nil || string(b) != files[name] {
			t.Errorf("the copy of %s: %q, %v", name, b, err)
		}
		if b, err := os.ReadFile(filepath.Join(path, name)); err != nil || (string(b) == files[name]) != (name != CatalogFile) {
			t.Errorf("%s after the upgrade: %q, %v", name, b, err)
		}
	}
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what an upgrade had left that was cut short is there: %v", err)
	}
	d.Copied = ""
	if err := errors.Join(p.CheckEarlier(), d.Upgrade(true)); err != nil || d.Copied != "" {
		t.Errorf("again: %v, copied to %q", err, d.Copied)
	}
}

// TestUpgradeBeforePolicies: an import made the directory, and no server has had it.
func TestUpgradeBeforePolicies(t *testing.T) {
	d, err := Open(filepath.Join(t.TempDir(), "d"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	put(t, d.Path, map[string]string{DataFile: madeBy(duckdb.LibraryVersion())})
	if err := d.Upgrade(false); err != nil {
		t.Errorf("of this version: %v", err)
	}
	put(t, d.Path, map[string]string{DataFile: madeBy("v1.4.1")})
	if err := d.Upgrade(false); !errors.Is(err, ErrEarlier) {
		t.Errorf("of an earlier version: %v", err)
	}
	if err := d.Upgrade(true); err != nil || d.Copied == "" {
		t.Errorf("got %v, copied to %q", err, d.Copied)
	}
}

// TestNewerDirectory: what a newer program wrote is refused by name, by everything that opens a
// directory, and stays as it is.
func TestNewerDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d")
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	put(t, path, map[string]string{DataFile: madeBy("v9.0.0"), LedgerFile: "x", UsersFile: "x", CatalogFile: policiesOf(3, d.ID, `{"program": "9.8.7"}`)})
	if err := errors.Join(d.Commit(), d.Close()); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, words ...string) {
		t.Helper()
		_, err := Open(path)
		_, _, _, led := LedgerOf(path)
		for _, w := range append(words, "made by a newer version of scrim") {
			if err == nil || led == nil || !strings.Contains(err.Error(), w) || !strings.Contains(led.Error(), w) {
				t.Errorf("%s: got %v, and for the ledger %v, want %q", what, err, led, w)
			}
		}
	}
	_, err = Open(path)
	if !errors.Is(err, catalog.ErrVersion) {
		t.Errorf("got %v", err)
	}
	refused("policies", "9.8.7")
	put(t, path, map[string]string{CatalogFile: policiesOf(1, d.ID, "[]"), IDFile: d.ID + " in a new way\n"})
	refused("the directory", `"in a new way"`)
}

// TestLockNew: whatever a restore that was cut short leaves of its beginning, no server takes it
// for a new directory.
func TestLockNew(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	root := t.TempDir()
	refused := func(path string) {
		t.Helper()
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "a restore of "+path+" was not finished; run scrim restore again") {
			t.Errorf("got %v", err)
		}
	}
	for name, prepare := range map[string]func(path string) error{
		"new":                func(string) error { return nil },
		"in a new directory": func(string) error { return nil },
		"empty":              func(path string) error { return os.Mkdir(path, 0o700) },
		"with an empty mark": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, IDFile), nil, 0o600))
		},
		"with a beginning beside": func(path string) error { return os.Mkdir(path+partialSuffix, 0o700) },
	} {
		path := filepath.Join(root, name)
		if name == "in a new directory" {
			path = filepath.Join(path, "below")
		}
		if err := prepare(path); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "with") {
			refused(path)
		}
		d, err := LockNew(path, id)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, state, err := d.State(); got != id || state != Restoring || err != nil {
			t.Errorf("%s: got %q %q, %v", name, got, state, err)
		}
		d.Close()
		refused(path)
		if _, err := os.Stat(path + partialSuffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: a beginning is left beside: %v", name, err)
		}
	}
}
