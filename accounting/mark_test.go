package accounting

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/internal/chain"
	"scrim/accounting/record"
)

// TestOlderCopyIsRefused puts older copies of the ledger back, and takes one only when its date is
// named.
func TestOlderCopyIsRefused(t *testing.T) {
	k := newClock("2026-03-01 10:00:00")
	l, path := create1(t, k)
	mustSet(t, l, "t", false, budget.All, 10, 1e-6, budget.Never)
	mustReserve(t, l, "a@%", rho("t", 0.01))
	l.Close()
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	k.set("2026-03-05 10:00:00")
	l = open(t, path, Options{Now: k.now})
	mustReserve(t, l, "a@%", rho("t", 0.02))
	l.Close()
	newest, _ := os.ReadFile(path)
	put := func(name string, b []byte) {
		t.Helper()
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	try := func(o Options) error {
		o.DirectoryID, o.Now = testDirectory, k.now
		l, err := Open(path, o)
		if err == nil {
			l.Close()
		}
		return err
	}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrOlder) || !strings.Contains(err.Error(), "scrim restore --accept-ledger-of 2026-03-0") {
			t.Errorf("%s: %v", what, err)
		}
	}
	put(path, old)
	err = try(Options{})
	refused("older copy", err)
	for _, says := range []string{"2 records, but there were 3 on 2026-03-05", "--accept-ledger-of 2026-03-01"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the refusal does not say %q: %v", says, err)
		}
	}
	refused("older copy, for reading", try(Options{ReadOnly: true}))
	wrong := &Acceptance{Of: newClock("2026-03-05 00:00:00").t, By: "operator"}
	refused("accepted by another date", try(Options{Accept: wrong}))
	put(path, newest)
	if err := try(Options{}); err != nil {
		t.Errorf("the newest put back: %v", err)
	}
	mark, _ := os.ReadFile(path + MarkSuffix)
	mark[20] ^= 1
	put(path+MarkSuffix, mark)
	refused("damaged mark", try(Options{}))
	os.Remove(path + MarkSuffix)
	refused("no mark", try(Options{}))
	if err := try(Options{ReadOnly: true}); err != nil {
		t.Errorf("no mark, for reading: %v", err)
	}
	put(path, old)
	l = open(t, path, Options{Now: k.now, Accept: &Acceptance{Of: newClock("2026-03-01 23:00:00").t, By: "operator", Reason: "disk lost"}})
	es, err := l.Entries(t.Context(), Filter{Kinds: []EntryKind{NoteEntry}})
	if err != nil || len(es) != 1 || es[0].NoteKind != RestoreNote || es[0].Principal != "operator" ||
		!strings.Contains(es[0].Text, "2026-03-01") || !strings.HasSuffix(es[0].Text, "disk lost") {
		t.Errorf("the acceptance was recorded as %+v, %v", es, err)
	}
	mustReserve(t, l, "b@%", rho("t", 0.03))
	l.Close()
	if err := try(Options{}); err != nil {
		t.Errorf("after the acceptance: %v", err)
	}
	// The lost ledger is now another history, longer or not.
	put(path, newest)
	refused("the other history", try(Options{}))
}

// TestMarkMayLag: a mark that is behind, as after a crash of the machine, refuses nothing.
func TestMarkMayLag(t *testing.T) {
	l, path := create1(t, nil)
	mustSet(t, l, "t", false, budget.All, 10, 1e-6, budget.Never)
	l.Close()
	behind, _ := os.ReadFile(path + MarkSuffix)
	l = open(t, path, Options{})
	mustReserve(t, l, "a@%", rho("t", 0.01))
	l.Close()
	if err := os.WriteFile(path+MarkSuffix, behind, 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, path, Options{}).Close()
}

func TestKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l, err := Open(path, Options{DirectoryID: testDirectory, Create: true})
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	name := path + KeySuffix
	good, err := os.ReadFile(name)
	if info, e := os.Stat(name); err != nil || e != nil || info.Mode().Perm() != 0o600 || len(good) != 65 {
		t.Fatalf("key of %d bytes, mode %v, %v", len(good), info.Mode(), err)
	}
	try := func(what, says string) {
		t.Helper()
		_, err := Open(path, Options{DirectoryID: testDirectory})
		if !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, content := range map[string]string{
		"another key": strings.Repeat("ab", 32) + "\n", "empty": "", "text": "hello\n", "too long": strings.Repeat("ab", 33), "cut": string(good[:40]),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		try(what, "Put back the key file")
	}
	if err := os.WriteFile(name, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	try("readable by others", "chmod 600")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	try("missing", "is missing")
	// Where there was a ledger, none is made anew, whatever is gone beside the mark.
	if err := os.WriteFile(name, good, 0o600); err != nil {
		t.Fatal(err)
	}
	l = open(t, path, Options{})
	if err := l.Note("a@%", "k", ""); err != nil {
		t.Fatal(err)
	}
	l.Close()
	os.Remove(path)
	if _, err := Open(path, Options{DirectoryID: testDirectory, Create: true}); !errors.Is(err, ErrMissing) {
		t.Errorf("a ledger of which there is a mark was made anew: %v", err)
	}
}

// TestForgedChain: whoever has the file but not the key cannot change a record, though they compute
// every hash anew.
func TestForgedChain(t *testing.T) {
	payload := (&record.Record{Kind: record.Note, At: time.Unix(1, 0), Principal: "a"}).Encode(nil)
	mine, theirs := chain.New(testKey), chain.New(chain.Key{9})
	first := mine.Genesis(testDirectory)
	if mine.Next(&first, 1, payload) == theirs.Next(&first, 1, payload) {
		t.Error("the hash does not depend on the key")
	}
	h := mine.Next(&first, 1, payload)
	other := append([]byte{}, payload...)
	other[len(other)-1]++
	if mine.Next(&first, 1, other) == h || mine.Next(&first, 2, payload) == h || mine.Next(&h, 1, payload) == h {
		t.Error("the hash does not depend on payload, number and the hash before")
	}
}
