package datadir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d")
	d, err := Open(path)
	if err != nil || !d.Fresh {
		t.Fatalf("got %+v, %v, want a fresh directory", d, err)
	}
	if _, err := Open(path); err != ErrInUse {
		t.Errorf("got %v while it is open, want ErrInUse", err)
	}
	id := d.ID
	d.Close()

	// The first start did not finish: it goes on where it was.
	if d, err = Open(path); err != nil || !d.Fresh || d.ID != id {
		t.Fatalf("got %+v, %v, want the same directory, still fresh", d, err)
	}
	for _, f := range []string{DataFile, LedgerFile, CatalogFile, UsersFile} {
		if err := os.WriteFile(filepath.Join(path, f), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Commit(); err != nil {
		t.Fatal(err)
	}
	d.Close()
	if d, err = Open(path); err != nil || d.Fresh || d.ID != id {
		t.Fatalf("got %+v, %v, want the same directory, no longer fresh", d, err)
	}
	d.Close()

	for _, f := range []string{LedgerFile, CatalogFile, UsersFile, DataFile} {
		away := filepath.Join(path, f+".away")
		if err := os.Rename(filepath.Join(path, f), away); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), f+" is missing") {
			t.Errorf("got %v without %s, want a refusal that names it", err, f)
		}
		if err := os.Rename(away, filepath.Join(path, f)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(path, IDFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "but no "+IDFile) {
		t.Errorf("got %v without the id file, want a refusal", err)
	}
	if err := os.WriteFile(filepath.Join(path, IDFile), []byte("not an id\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("got %v with a damaged id file, want a refusal", err)
	}
}
