package audit

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"scrim/test/testenv"
)

func TestLastLedger(t *testing.T) {
	dir, c := t.TempDir(), at("2026-01-31 12:00:00")
	last := func(want string) {
		t.Helper()
		if got, err := LastLedger(dir); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if got, err := LastLedger(filepath.Join(dir, "none")); got != "" || err != nil {
		t.Errorf("without a log: %q, %v", got, err)
	}
	l := open(t, Options{Dir: dir, now: c.now})
	l.Write(Record{Kind: Start})
	testenv.Until(t, time.Minute, "the first record", func() bool { return len(must(lines(t, dir))) == 1 })
	last("")
	var now atomic.Value
	now.Store("one")
	l.Follow(func() string { return now.Load().(string) })
	for range 2 {
		l.Write(Record{Kind: Statement, Note: `"ledger":"forged"`})
	}
	testenv.Until(t, time.Minute, "the statements", func() bool { return len(must(lines(t, dir))) == 3 })
	last("one")
	got := must(lines(t, dir))
	if got[1].Ledger != "one" || got[2].Ledger != "" {
		t.Errorf("got %q and %q, want the position once", got[1].Ledger, got[2].Ledger)
	}
	now.Store("two")
	c.set("2026-02-01 12:00:00")
	l.Write(Record{Kind: Stop})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	last("two")
	// A torn line, and a file of a time without positions.
	names := names(t, dir)
	newest := filepath.Join(dir, names[len(names)-1])
	f, _ := os.OpenFile(newest, os.O_APPEND|os.O_WRONLY, 0)
	_, _ = f.WriteString(`{"kind":"stop","ledger":"three`)
	f.Close()
	last("two")
	if err := os.WriteFile(filepath.Join(dir, "audit-000009-2026-02-02.jsonl"), []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	last("two")
}

// TestLastLedgerOfADevice: what is no file has no last record, and no end either.
func TestLastLedgerOfADevice(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "audit-000001-2026-01-31.jsonl")); err != nil {
		t.Fatal(err)
	}
	if last, err := LastLedger(dir); err != nil || last != "" {
		t.Errorf("got %q, %v", last, err)
	}
}
