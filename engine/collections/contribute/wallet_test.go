package contribute

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/seal"
)

// TestReportOnce: every local protocol reports once; what is asked again is answered by the same
// bytes, also after the wallet was closed, whatever the value is then.
func TestReportOnce(t *testing.T) {
	for _, s := range samples {
		g := planned(t, s.name, someUUID)
		if info, _ := g.Protocol.Info(); info.Model != collect.Local {
			continue
		}
		for round := 1; round <= g.Rounds(); round++ {
			p, _ := roundOf(t, g, round)
			path := filepath.Join(t.TempDir(), "wallet")
			w := walletAt(t, path)
			if err := w.SetCaps(generous(t)); err != nil {
				t.Fatal(err)
			}
			token := tokenOf(p, 0, 1)
			report, err := w.Report(p, token, someValue(p))
			if err != nil {
				t.Fatalf("%s %d: %v", s.name, round, err)
			}
			if cell, _, err := p.DecodeReport(report); err != nil || cell != 0 {
				t.Errorf("%s %d: the server refuses the report: %v", s.name, round, err)
			}
			for range 20 {
				again, err := w.Report(p, token, Null())
				if err != nil || !bytes.Equal(again, report) {
					t.Fatalf("%s %d: got %x, %v; want %x", s.name, round, again, err, report)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				w = walletAt(t, path)
			}
			if n := len(w.Records()); n != 1 {
				t.Errorf("%s %d: %d records", s.name, round, n)
			}
		}
	}
}

// TestBundleOnce: the same of bundles, which the server can open, and which are forgotten when they
// have arrived.
func TestBundleOnce(t *testing.T) {
	for _, name := range []string{"sum", "vec", "nodes"} {
		p, key := roundOf(t, planned(t, name, someUUID), 1)
		w := newWallet(t)
		token := tokenOf(p, 0, 1)
		bundle, err := w.Bundle(pinOf(p), p, token, someValue(p), TrustedOperator)
		if err != nil {
			t.Fatal(err)
		}
		again, err := w.Bundle(pinOf(p), p, token, Null(), TrustedOperator)
		if err != nil || !bytes.Equal(again, bundle) {
			t.Fatalf("%s: another bundle, %v", name, err)
		}
		sealed, err := seal.ShapeOf(p).Check(bundle)
		if err != nil {
			t.Fatalf("%s: the shuffler refuses the bundle: %v", name, err)
		}
		if _, failed, err := seal.NewOpener(key, p.Fingerprint()).OpenAll(t.Context(), sealed, nil); err != nil || failed > 0 {
			t.Errorf("%s: %d messages do not open, %v", name, failed, err)
		}
		if err := w.acknowledge(p.UUID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Bundle(pinOf(p), p, token, Null(), TrustedOperator); !errors.Is(err, ErrForgotten) {
			t.Errorf("%s: got %v, want that it is forgotten", name, err)
		}
		if r := w.Records()[0]; r.Report != nil || r.Token != nil || r.State != Acknowledged {
			t.Errorf("%s: the record still holds %d bytes, token %x, %s", name, len(r.Report), r.Token, r.State)
		}
	}
}

// TestModels: neither kind of report is made as the other.
func TestModels(t *testing.T) {
	w := InMemory(generous(t))
	p := first(t, "bit")
	_, err := w.Bundle(pinOf(p), p, tokenOf(p, 0, 1), Number(1), TrustedOperator)
	refusedWith(t, err, "COLLECTION_STATE")
	p = first(t, "sum")
	_, err = w.Report(p, tokenOf(p, 0, 1), Number(1))
	refusedWith(t, err, "COLLECTION_STATE")
	if _, err := w.Report(nil, Token{}, nil); err == nil {
		t.Error("no parameters, and a report")
	}
}

// TestSecondReport: no second report to a collection, by whatever differs.
func TestSecondReport(t *testing.T) {
	g := planned(t, "kv2", someUUID)
	p, _ := roundOf(t, g, 1)
	later, _ := roundOf(t, g, 2)
	renamed := p.Clone()
	renamed.Collection = "survey.other"
	w := InMemory(generous(t))
	token := tokenOf(p, 0, 1)
	if _, err := w.Report(p, token, Number(1)); err != nil {
		t.Fatal(err)
	}
	want := w.Records()
	_, err := w.Report(p, tokenOf(p, 0, 2), Number(1))
	refusedWith(t, err, "SPENT_TOKEN")
	_, err = w.Report(later, tokenOf(later, 0, 3), Number(1))
	refusedWith(t, err, "SPENT_TOKEN")
	_, err = w.Report(renamed, token, Number(1))
	refusedWith(t, err, "SPENT_TOKEN")
	// made anew under another uuid
	_, err = w.Report(withUUID(t, "kv2", otherUUID), token, Number(1))
	refusedWith(t, err, "SPENT_TOKEN")
	if got := w.Records(); len(got) != 1 || !bytes.Equal(got[0].Report, want[0].Report) {
		t.Errorf("the wallet changed: %+v", got)
	}
}

// TestSecondKey: the same round with another sealing key is another fingerprint.
func TestSecondKey(t *testing.T) {
	g := planned(t, "sum", someUUID)
	p, _ := roundOf(t, g, 1)
	q, _ := roundOf(t, g, 1)
	w := InMemory(generous(t))
	if _, err := w.Bundle(pinOf(p), p, tokenOf(p, 0, 1), Number(1), TrustedOperator); err != nil {
		t.Fatal(err)
	}
	_, err := w.Bundle(pinOf(q), q, tokenOf(p, 0, 1), Number(1), TrustedOperator)
	refusedWith(t, err, "SPENT_TOKEN")
	if !strings.Contains(err.Error(), "another key") {
		t.Errorf("does not speak of the key: %v", err)
	}
	refusedWith(t, w.Allows(q), "SPENT_TOKEN")
}

// TestCaps: both caps are kept, exactly, and a refusal says what would do.
func TestCaps(t *testing.T) {
	p, q := first(t, "bit"), withUUID(t, "sum", otherUUID)
	w := InMemory(caps(t, "2", "0.999999999e-9"))
	if _, err := w.Report(p, tokenOf(p, 0, 1), Number(1)); err != nil {
		t.Fatal(err)
	}
	_, err := w.Bundle(pinOf(q), q, tokenOf(q, 0, 2), Number(1), TrustedOperator)
	refusedWith(t, err, "BUDGET_EXHAUSTED")
	if !strings.Contains(err.Error(), "set-cap --epsilon 2 --delta 1e-9") {
		t.Errorf("does not say which caps would do: %v", err)
	}
	for _, c := range []Caps{caps(t, "1.9999", "1e-9"), caps(t, "0", "0")} {
		if err := w.SetCaps(c); err != nil {
			t.Fatal(err)
		}
		_, err = w.Bundle(pinOf(q), q, tokenOf(q, 0, 2), Number(1), TrustedOperator)
		refusedWith(t, err, "BUDGET_EXHAUSTED")
	}
	if err := w.SetCaps(caps(t, "2", "1e-9")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Bundle(pinOf(q), q, tokenOf(q, 0, 2), Number(1), TrustedOperator); err != nil {
		t.Errorf("the sum is the cap: %v", err)
	}
	if got := w.Spent().String(); got != "epsilon 2, delta 1e-9" {
		t.Errorf("spent %s", got)
	}
	if err := w.Allows(p); err != nil { // made already
		t.Error(err)
	}
}

// TestOneOfMany: goroutines that ask at the same time get the same report.
func TestOneOfMany(t *testing.T) {
	p := first(t, "haar") // reports of 2^20 kinds
	w := newWallet(t)
	var mu sync.Mutex
	var all sync.WaitGroup
	seen := map[string]bool{}
	for range 16 {
		all.Go(func() {
			report, err := w.Report(p, tokenOf(p, 0, 1), Number(0.5))
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[string(report)] = true
		})
	}
	all.Wait()
	if len(seen) != 1 || len(w.Records()) != 1 {
		t.Errorf("%d reports, %d records", len(seen), len(w.Records()))
	}
}

func TestFilePermissions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "down")
	path := filepath.Join(dir, "wallet")
	w := walletAt(t, path)
	if err := w.SetCaps(caps(t, "1", "0")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{path: 0o600, path + ".lock": 0o600, dir: 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %#o", name, info.Mode(), err, want)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("others may read it: %v", err)
	}
}

func TestOneProcessAtATime(t *testing.T) {
	w := newWallet(t)
	if _, err := Open(w.Path()); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want that it is in use", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	walletAt(t, w.Path())
	if err := w.SetCaps(Caps{}); err == nil {
		t.Error("a closed wallet is written")
	}
	p := first(t, "bit")
	if _, err := w.Report(p, tokenOf(p, 0, 1), nil); err == nil {
		t.Error("a closed wallet reports")
	}
}

// TestNotMadeByLooking: opening leaves no wallet behind, and a lock that says so.
func TestNotMadeByLooking(t *testing.T) {
	w := newWallet(t)
	if w.Caps() != DefaultCaps() && w.Caps().String() != DefaultCaps().String() {
		t.Errorf("caps %v", w.Caps())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(w.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
	walletAt(t, w.Path())
}

// TestDamage changes every byte of a wallet in turn, cuts it at every length, and adds to it: none
// of these opens.
func TestDamage(t *testing.T) {
	w := newWallet(t)
	p := first(t, "bit")
	if _, err := w.Report(p, tokenOf(p, 0, 1), Number(1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	damaged := func(what string, b []byte) {
		t.Helper()
		if err := os.WriteFile(w.Path(), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if bad, err := Open(w.Path()); !errors.Is(err, ErrDamaged) {
			t.Fatalf("%s: got %v, %v", what, bad, err)
		}
		if left, _ := os.ReadFile(w.Path()); !bytes.Equal(left, b) {
			t.Fatalf("%s: the file was changed", what)
		}
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x20
		damaged("byte", bad)
		damaged("cut", good[:i])
	}
	damaged("more", append(bytes.Clone(good), ' '))
	if err := os.WriteFile(w.Path(), good, 0o600); err != nil {
		t.Fatal(err)
	}
	again := walletAt(t, w.Path())
	if err := again.Verify(); err != nil || len(again.Records()) != 1 {
		t.Errorf("the good file does not open: %v", err)
	}
}

// TestLost: a wallet that was there and is gone, or is an older copy, does not open.
func TestLost(t *testing.T) {
	w := newWallet(t)
	if err := w.SetCaps(caps(t, "3", "0")); err != nil {
		t.Fatal(err)
	}
	older, err := os.ReadFile(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	p := first(t, "bit")
	if _, err := w.Report(p, tokenOf(p, 0, 1), Number(1)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.Path()); err != nil {
		t.Fatal(err)
	}
	if err := w.Verify(); !errors.Is(err, ErrLost) {
		t.Errorf("verify: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(w.Path()); !errors.Is(err, ErrLost) {
		t.Errorf("gone: %v", err)
	}
	if err := os.WriteFile(w.Path(), older, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(w.Path()); !errors.Is(err, ErrLost) {
		t.Errorf("older: %v", err)
	}
	if err := os.WriteFile(w.Path()+".lock", []byte("12"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(w.Path()); !errors.Is(err, ErrDamaged) {
		t.Errorf("lock: %v", err)
	}
	// as the refusal says for who knows what they do
	if err := os.Remove(w.Path() + ".lock"); err != nil {
		t.Fatal(err)
	}
	if got := walletAt(t, w.Path()).Caps().Epsilon.String(); got != "3" {
		t.Errorf("caps %v", got)
	}
}

// TestWriteFails: a report that could not be kept is not given out, and the wallet stops until it
// is opened again.
func TestWriteFails(t *testing.T) {
	w := newWallet(t)
	if err := os.MkdirAll(filepath.Join(w.Path()+".new", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	p := first(t, "bit")
	token := tokenOf(p, 0, 1)
	for range 2 {
		if report, err := w.Report(p, token, Number(1)); err == nil || report != nil {
			t.Fatalf("got %x, %v", report, err)
		}
	}
	if n := len(w.Records()); n != 0 {
		t.Errorf("%d records", n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(w.Path() + ".new"); err != nil {
		t.Fatal(err)
	}
	if _, err := walletAt(t, w.Path()).Report(p, token, Number(1)); err != nil {
		t.Error(err)
	}
}

// TestLinks: a wallet behind a symbolic link stays there.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	w := walletAt(t, filepath.Join(dir, "wallet"))
	if err := w.SetCaps(caps(t, "1", "0")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("wallet", link); err != nil {
		t.Skip(err)
	}
	v := walletAt(t, link)
	if err := v.SetCaps(caps(t, "2", "0")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info.Mode(), err)
	}
	if _, err := Open(w.Path()); !errors.Is(err, ErrInUse) {
		t.Errorf("the link has a lock of its own: %v", err)
	}
}

// TestNothingSecretIsKept: neither the value nor, once it is of no use, the token is in the file.
func TestNothingSecretIsKept(t *testing.T) {
	w := newWallet(t)
	p := first(t, "bit")
	token := tokenOf(p, 0, 1)
	if _, err := w.Report(p, token, Number(123.456)); err != nil {
		t.Fatal(err)
	}
	has := func(s string) bool {
		b, err := os.ReadFile(w.Path())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(b), s)
	}
	if secret := token.String()[:32]; !has(secret) {
		t.Error("the token is not there while it is needed")
	} else if err := w.acknowledge(p.UUID); err != nil || has(secret) {
		t.Errorf("the token is there when it is not needed: %v", err)
	}
	if has("123.456") {
		t.Error("the value is there")
	}
}

// TestAbandon: what is given up is neither sent nor kept, and still counts.
func TestAbandon(t *testing.T) {
	p, _ := roundOf(t, planned(t, "sum", someUUID), 1)
	db := servingParams(t, p)
	w := newWallet(t)
	token := tokenOf(p, 0, 1)
	if _, err := w.Bundle(pinOf(p), p, token, Number(1), TrustedOperator); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Abandon(p.UUID); err != nil {
			t.Fatal(err)
		}
	}
	if r := w.Records()[0]; r.State != Abandoned || r.Report != nil || r.Token != nil || w.Spent().Epsilon != 10_000 {
		t.Errorf("%+v, spent %v", r, w.Spent())
	}
	refusedWith(t, w.Contribute(t.Context(), db, db, "commute", token, Number(1)), "COLLECTION_STATE")
	if n := db.fake.sent(); n != 0 {
		t.Errorf("%d statements", n)
	}
	if _, err := w.Bundle(pinOf(p), p, tokenOf(p, 0, 2), Number(1), TrustedOperator); err == nil {
		t.Error("a second bundle")
	}
	if err := w.Verify(); err != nil {
		t.Error(err)
	}
	if err := w.Abandon(otherUUID); err == nil {
		t.Error("gave up what is not there")
	}
}

// TestLockIsTakenAway: who removes the lock of an open wallet lets a second process in, and then
// one of the two reports.
func TestLockIsTakenAway(t *testing.T) {
	p, _ := roundOf(t, planned(t, "bit", someUUID), 1)
	w := newWallet(t)
	if err := w.SetCaps(DefaultCaps()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.Path() + ".lock"); err != nil {
		t.Fatal(err)
	}
	other, err := Open(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := other.Report(p, tokenOf(p, 0, 1), Number(1)); err != nil {
		t.Fatal(err)
	}
	if b, err := w.Report(p, tokenOf(p, 0, 1), Number(1)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a second randomisation: %d bytes, %v", len(b), err)
	}
	if err := other.Verify(); err != nil {
		t.Error(err)
	}
}
