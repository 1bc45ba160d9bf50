package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"scrim/internal/testenv"
)

// TestUpgrade opens a data directory as the program of 2026-11-22 left it (e0d5e98f, more than 700
// commits ago), which had no checkpoints, no archives and no index: what was spent is spent, an
// answer that would be computed in the same way comes back, one that is computed otherwise today
// is charged, policies hold, and the ledger verifies before and after. How the directory was made
// is in testdata/files/SOURCE.md.
func TestUpgrade(t *testing.T) {
	dir := unpacked(t, "testdata/files/directory-2026-11-22.tar.gz")
	verifyLedger(t, dir)
	p := serveFor(t, dir)
	login := func(user, password string) *session {
		s, err := connect(p.addr, user, password)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.close)
		return s
	}
	root, ann := login("root", "old password"), login("ann", "ann password")
	spent := func() [][]string {
		return root.must(t, "SELECT principal, epsilon, spent_rho FROM dp.budgets WHERE account = 'shop.orders' ORDER BY principal")
	}
	before := spent()
	// The numbers that the older program printed.
	if want := [][]string{{"*", "20", "0.051615954115732166"}, {"ann@%", "6", "0.051615954115732166"}}; !reflect.DeepEqual(before, want) {
		t.Errorf("budgets: got %v, want %v", before, want)
	}
	ann.must(t, "USE shop")
	if got := ann.must(t, "SELECT name FROM products ORDER BY id"); !reflect.DeepEqual(got, [][]string{{"gauze"}, {"curtain"}, {"lamp"}}) {
		t.Errorf("a public table: got %v", got)
	}
	if got := spent(); !reflect.DeepEqual(got, before) {
		t.Errorf("a public table was charged: %v, before %v", got, before)
	}
	if _, err := ann.ask("SELECT * FROM orders"); err == nil || !strings.Contains(err.Error(), "protected table") {
		t.Errorf("rows of a protected table: got %v", err)
	}
	first := ann.must(t, "SELECT region, COUNT(*) AS n FROM orders WHERE amount > 20 GROUP BY region ORDER BY region")
	after := spent()
	if len(first) != 2 || reflect.DeepEqual(after, before) {
		t.Errorf("a new question: got %v; spent %v, before %v", first, after, before)
	}
	if again := ann.must(t, "SELECT region, COUNT(*) AS n FROM orders WHERE amount > 20 GROUP BY region ORDER BY region"); !reflect.DeepEqual(again, first) {
		t.Errorf("asked again: got %v, want %v", again, first)
	}
	if got := spent(); !reflect.DeepEqual(got, after) {
		t.Errorf("asked again: spent %v, before %v", got, after)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err, p.err)
	}
	verifyLedger(t, dir)
}

// verifyLedger runs scrim ledger verify.
func verifyLedger(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("scrim", "ledger", "verify", "--data", dir).CombinedOutput(); err != nil {
		t.Fatalf("ledger verify: %v\n%s", err, out)
	}
}

// unpacked unpacks an archive of files and directories into a directory of the test's.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for r := tar.NewReader(bytes.NewReader(testenv.Unzipped(t, path))); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return root.Name()
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Clean(h.Name)
		if h.FileInfo().IsDir() {
			if err := root.MkdirAll(name, 0o700); err != nil {
				t.Fatal(err)
			}
			continue
		}
		b, err := io.ReadAll(r)
		if err == nil {
			err = root.WriteFile(name, b, h.FileInfo().Mode().Perm())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
