package duckdb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	duckdb "github.com/marcboeker/go-duckdb/v2"

	"scrim/engine/store"
)

// TestDamagedAt: only what DuckDB says of its own file is taken for damage, and never a value.
func TestDamagedAt(t *testing.T) {
	const block = "Corrupt database file: computed checksum 1 does not match stored checksum 2 in block at location 536576"
	for msg, want := range map[string]int64{
		block:                536576,
		"IO Error: " + block: 536576,
		"duckdb: open: database/sql/driver: could not connect to database: IO Error: " + block:                                      536576,
		`IO Error: Could not read enough bytes from file "/x/data.duckdb": attempted to read 262144 bytes from location 7352320`:    7352320,
		`IO Error: Could not read enough bytes from file "/x/orders.parquet": attempted to read 262144 bytes from location 7352320`: -1,
		`IO Error: No files found that match the pattern "Corrupt database file: x in block at location 5"`:                         -1,
		`Conversion Error: Could not convert string 'IO Error: Corrupt database file: x in block at location 5' to INT32`:           -1,
		`IO Error: No space left on device`: -1,
	} {
		if at, ok := DamagedAt(errors.New(msg)); ok != (want >= 0) || ok && at != want {
			t.Errorf("%s: got %d, %t, want %d", msg, at, ok, want)
		}
		typed := classify(context.Background(), &duckdb.Error{Type: duckdb.ErrorTypeConversion, Msg: msg})
		if store.KindOf(typed) == store.Corrupt {
			t.Errorf("of another type of error: %s", msg)
		}
	}
	e := classify(context.Background(), &duckdb.Error{Type: duckdb.ErrorTypeIO, Msg: "IO Error: " + block})
	if at, ok := DamagedAt(e); !ok || at != 536576 || e.Error() != "store: the data file is damaged, and has to be restored from a backup" {
		t.Errorf("got %v at %d, %t", e, at, ok)
	}
}

// TestMadeBy reads the version from a file's first bytes.
func TestMadeBy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.duckdb")
	s, err := Open(path, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := MadeBy(path); got != LibraryVersion() || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, LibraryVersion())
	}
	for _, text := range []string{"", "DUCK", "a longer text that is no database, and has more than as many bytes as the header of one"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := MadeBy(path); got != "" || err != nil {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	if _, err := MadeBy(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
