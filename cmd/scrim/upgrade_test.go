package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestUpgrade opens a data directory as the program of 2026-11-22 left it (e0d5e98f, more than 700
// commits ago), which had no checkpoints, no archives and no index: what was spent is spent,
// answers come back, policies hold, and the ledger verifies before and after. How it was made is
// in testdata/files/SOURCE.md.
func TestUpgrade(t *testing.T) {
	dir := unpacked(t, "testdata/files/directory-2026-11-22.tar.gz")
	verifyLedger(t, dir)
	p := serveFor(t, dir)
	ann, err := connect(p.addr, "ann", "ann password")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ann.close)
	const spent = "SELECT principal, epsilon, spent_rho FROM dp.budgets WHERE account = 'shop.orders' AND budget_window = 'never' ORDER BY principal"
	before := ann.must(t, spent)
	// The numbers that the older program printed.
	if want := [][]string{{"*", "20", "0.051615954115732166"}, {"ann@%", "6", "0.051615954115732166"}}; !reflect.DeepEqual(before, want) {
		t.Errorf("budgets: got %v, want %v", before, want)
	}
	for _, c := range []struct {
		query string
		want  [][]string
	}{
		{"SELECT region, COUNT(*) AS n FROM orders GROUP BY region ORDER BY region", [][]string{{"north", "302"}, {"south", "600"}}},
		{"SELECT COUNT(DISTINCT customer_id) AS persons FROM orders", [][]string{{"601"}}},
		{"SELECT AVG(amount) AS mean FROM orders", [][]string{{"29.264009728961366"}}},
		{"SELECT id, name FROM products ORDER BY id", [][]string{{"1", "gauze"}, {"2", "curtain"}, {"3", "lamp"}}},
	} {
		ann.must(t, "USE shop")
		if got := ann.must(t, c.query); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want the stored answer %v", c.query, got, c.want)
		}
	}
	if got := ann.must(t, spent); !reflect.DeepEqual(got, before) {
		t.Errorf("stored answers were charged: %v, before %v", got, before)
	}
	if _, err := ann.ask("SELECT * FROM orders"); err == nil || !strings.Contains(err.Error(), "protected table") {
		t.Errorf("rows of a protected table: got %v", err)
	}
	ann.must(t, "SELECT COUNT(*) FROM orders WHERE amount > 30")
	if got := ann.must(t, spent); got[1][2] <= before[1][2] {
		t.Errorf("a new question was not charged: %v, before %v", got, before)
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
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for r := tar.NewReader(z); ; {
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
