package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"scrim/accounting"
	"scrim/engine"
	"scrim/engine/ops/datadir"
)

// directoryWith makes a data directory whose ledger has replays of many days, and returns it.
func directoryWith(t *testing.T, replays int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	c := engine.DefaultConfig(dir)
	c.Listen, c.RootPassword, c.Threads, c.MemoryLimit, c.Logger = "127.0.0.1:0", rootPassword, 1, "256MiB", zerolog.Nop()
	s, err := engine.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	path, o, unlock, err := datadir.LedgerOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	l, err := accounting.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	for range replays {
		l.Replayed("ann@%", "SELECT ?", "d", 0, []string{"x"})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// says runs the program and checks what it says, on the standard output where it ends well, else on
// the standard error.
func says(t *testing.T, code int, want []string, args ...string) string {
	t.Helper()
	var out, err bytes.Buffer
	if got := run(t.Context(), args, strings.NewReader(""), &out, &err); got != code {
		t.Fatalf("scrim %v: code %d, %s%s", args, got, out.String(), err.String())
	}
	text := out.String()
	if code != 0 {
		text = err.String()
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("scrim %v says %q, want %q", args, text, w)
		}
	}
	return text
}

// TestLedgerArchiveCommand archives, verifies and exports by commands.
func TestLedgerArchiveCommand(t *testing.T) {
	dir := directoryWith(t, 700)
	says(t, 1, []string{"--before", "want a day"}, "ledger", "archive", "--data", dir)
	says(t, 1, []string{"want --data"}, "ledger", "archive", "--before", "2100-01-01")
	says(t, 1, []string{"there is nothing to archive"}, "ledger", "archive", "--data", dir, "--before", "2000-01-01")
	before := says(t, 0, []string{"is sound", "records         700"}, "ledger", "verify", "--data", dir)
	if strings.Contains(before, "archived") {
		t.Error("an archive is told of, and there is none")
	}
	all := says(t, 0, nil, "ledger", "export", "--data", dir)

	says(t, 0, []string{"000000000001-000000000511.db: records 1 to 511, of 20", "; the ledger had "}, "ledger", "archive", "--data", dir, "--before", "2100-01-01")
	file := filepath.Join(dir, "ledger.db.archive", "000000000001-000000000511.db")
	says(t, 0, []string{
		"ledger.db is sound", "records         190, each", "archived        records 1 to 511: what they come to is sealed", "notes           1",
		"000000000001-000000000511.db is sound: records 1 to 511, of 20",
	}, "ledger", "verify", "--data", dir)
	archived := says(t, 0, nil, "ledger", "export", "--data", dir, "--archive", file)
	live := says(t, 0, []string{`"note":"archive"`}, "ledger", "export", "--data", dir)
	if together := archived + live; !strings.HasPrefix(together, all) || strings.Count(archived, "\n") != 511 {
		t.Error("the archive and the ledger together are not what the ledger was")
	}

	elsewhere := filepath.Join(t.TempDir(), "archives")
	if err := os.Rename(filepath.Dir(file), elsewhere); err != nil {
		t.Fatal(err)
	}
	says(t, 0, []string{"is sound", "were not read: name their directory with --archive"}, "ledger", "verify", "--data", dir)
	says(t, 0, []string{"records 1 to 511, of 20"}, "ledger", "verify", "--data", dir, "--archive", elsewhere)
	says(t, 1, []string{"the archive that ends with record 511 is not in", "Put it back there"}, "ledger", "verify", "--data", dir, "--archive", t.TempDir())
	moved := filepath.Join(elsewhere, filepath.Base(file))
	b, err := os.ReadFile(moved)
	if err != nil {
		t.Fatal(err)
	}
	b[bytes.Index(b, []byte("SELECT ?"))] ^= 1
	if err := os.Remove(moved); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(moved, b, 0o400); err != nil {
		t.Fatal(err)
	}
	says(t, 1, []string{"archive of the ledger", "damaged"}, "ledger", "verify", "--data", dir, "--archive", elsewhere)
	says(t, 1, []string{"damaged"}, "ledger", "export", "--data", dir, "--archive", moved)
}
