package accounting

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestPosition(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	l, err := Open(path, Options{DirectoryID: "one", Create: true})
	if err != nil {
		t.Fatal(err)
	}
	start := l.Position()
	if start.Record != 0 {
		t.Fatalf("got %+v, want the beginning", start)
	}
	note := func(l *Ledger, text string) {
		t.Helper()
		if err := l.Note("ann@%", "kind", text); err != nil {
			t.Fatal(err)
		}
	}
	note(l, "a")
	middle := l.Position()
	if middle.Record != 1 || middle.At.IsZero() {
		t.Fatalf("got %+v", middle)
	}
	var copied bytes.Buffer
	if err := l.Backup(context.Background(), &copied); err != nil {
		t.Fatal(err)
	}
	note(l, "b")
	end := l.Position()
	for _, p := range []Position{start, middle, end} {
		if ok, err := l.Continues(p); !ok || err != nil {
			t.Errorf("the ledger does not continue %+v: %v", p, err)
		}
	}
	if ok, _ := l.Continues(Position{Record: 2, Hash: middle.Hash}); ok {
		t.Error("the hash of another record")
	}
	if ok, _ := l.Continues(Position{Record: 3, Hash: end.Hash}); ok {
		t.Error("a record that is not there")
	}
	for _, p := range []Position{start, middle, end} {
		if got, err := ParsePosition(p.String()); got != p || err != nil {
			t.Errorf("%q is read as %+v, %v", p, got, err)
		}
	}
	for _, text := range []string{"", "1", "1 2 zz", "x 2 " + end.Hash, end.String() + " 1", end.String()[:20]} {
		if _, err := ParsePosition(text); err == nil {
			t.Errorf("%q is a position", text)
		}
	}
	if _, err := l.Continues(Position{Record: 1, Hash: "x"}); err == nil {
		t.Error("no hash")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l.Position() != end {
		t.Error("the position is lost by Close")
	}

	// A copy goes on by itself: neither continues the other.
	other := filepath.Join(t.TempDir(), "ledger.db")
	key, err := os.ReadFile(path + KeySuffix)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, copied.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other+KeySuffix, key, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(other, Options{DirectoryID: "one"}); err == nil {
		t.Fatal("a copy without its mark was opened")
	}
	c, err := Open(other, Options{DirectoryID: "one", Accept: &Acceptance{Of: middle.At, By: "operator"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if ok, _ := c.Continues(middle); !ok {
		t.Error("the copy does not continue what was copied")
	}
	if ok, _ := c.Continues(end); ok {
		t.Error("the copy continues what came later")
	}
}

// TestPositionIsDurable: what a transaction has not yet made durable is in no position.
func TestPositionIsDurable(t *testing.T) {
	l, _ := create1(t, nil)
	before, seen := l.Position(), Position{}
	l.hook = func(point string) error {
		if point == "in-transaction" {
			seen = l.Position()
		}
		return nil
	}
	if err := l.Note("ann@%", "kind", ""); err != nil {
		t.Fatal(err)
	}
	if after := l.Position(); seen != before || after.Record != before.Record+1 {
		t.Errorf("got %v inside the transaction and %v after it, want %v and one more", seen, after, before)
	}
}
