package main

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"scrim/test/testenv"
)

// TestUpgrade opens a data directory as the program of 2026-11-22 left it (e0d5e98f, more than 700
// commits ago), which had no checkpoints, no archives and no index: what was spent is spent, an
// answer that would be computed in the same way comes back, one that is computed otherwise today
// is charged, policies hold, and the ledger verifies before and after. How the directory was made
// is in testdata/files/SOURCE.md.
func TestUpgrade(t *testing.T) {
	dir := unpacked(t, "testdata/files/directory-2026-11-22.tar.gz")
	verifyLedger(t, dir)
	p := serveFor(t, dir, "--yes")
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

var wholeTimes = regexp.MustCompile(`(?m)(,\d\d:\d\d:\d\d)$`)

// TestUpgradeEngine opens a data directory that the last program with DuckDB 1.4.1 left when it was
// killed, with acknowledged changes in the store's log, and the backup that it made before. How
// both were made is in testdata/files/SOURCE.md. Nothing changes before the operator says yes; then
// a copy of what was there is made, and everything answers as it did.
func TestUpgradeEngine(t *testing.T) {
	root := unpacked(t, "testdata/files/directory-2026-11-28.tar.gz")
	dir := filepath.Join(root, "data")
	before := digests(t, dir)
	rows := filepath.Join(root, "rows.csv")
	if err := os.WriteFile(rows, []byte("id,word\n3,three\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"serve", "--listen", "127.0.0.1:0"},
		{"serve", "--listen", "127.0.0.1:0", "--yes=false"},
		{"import", "--table", "shop.late", "--append", rows},
		{"import", "--table", "shop.later", rows},
		{"backup", "--to", filepath.Join(root, "copy")},
		{"restore", "--accept-ledger-of", "2026-11-28"},
		{"ledger", "archive", "--before", "2026-11-28"},
		{"sql", "--execute", "SELECT 1"},
	} {
		out, err := exec.Command("scrim", append(args, "--data", dir)...).CombinedOutput()
		if err == nil {
			t.Errorf("%v: done without a question:\n%s", args, out)
		}
		for _, want := range []string{"earlier version", "DuckDB v1.4.1", "scrim serve --yes", "data.duckdb, data.duckdb.wal, catalog", "MiB", filepath.Join(dir, "before-v")} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%v: %q is not told:\n%s", args, want, out)
			}
		}
		if now := digests(t, dir); !reflect.DeepEqual(now, before) {
			t.Fatalf("%v: got the files %v, before %v", args, now, before)
		}
	}
	verifyLedger(t, dir)

	p := serveFor(t, dir, "--yes")
	copies, err := filepath.Glob(filepath.Join(dir, "before-v*"))
	if err != nil || len(copies) != 1 {
		t.Fatalf("got the copies %v, %v, want one", copies, err)
	}
	for _, name := range []string{"data.duckdb", "data.duckdb.wal", "catalog"} {
		if got := digest(t, filepath.Join(copies[0], name)); got != before[name] {
			t.Errorf("the copy of %s is not what was there", name)
		}
	}
	compare := func(p *process) {
		t.Helper()
		for _, c := range []struct{ user, password, name string }{{"root", "old password", "want"}, {"ann", "ann password", "ann"}} {
			host, port, _ := strings.Cut(p.addr, ":")
			cmd := exec.Command("scrim", "sql", "--host", host, "--port", port, "--user", c.user, "--format", "csv", "--file", filepath.Join(root, c.name+".sql"))
			cmd.Env = append(os.Environ(), "SCRIM_PASSWORD="+c.password)
			var told bytes.Buffer
			cmd.Stderr = &told
			got, err := cmd.Output()
			want, e := os.ReadFile(filepath.Join(root, c.name+".csv"))
			want = wholeTimes.ReplaceAll(want, []byte("$1.000000")) // of TIME(6), which that version showed without them
			if err != nil || e != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %v, %v: got\n%s\nwant\n%s\n%s", c.name, err, e, got, want, &told)
			}
		}
	}
	compare(p)
	p.kill()
	p = serveFor(t, dir) // it is of this version now
	if err := p.stop(); err != nil {
		t.Fatal(err, p.err)
	}
	verifyLedger(t, dir)

	// The earlier program's backup, as one of its directories and over the converted one.
	fresh := filepath.Join(root, "fresh")
	for _, to := range []string{fresh, dir} {
		if out, err := exec.Command("scrim", "restore", "--from", filepath.Join(root, "backup"), "--data", to, "--accept-ledger-of", "2026-11-28").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if _, err := launch(withPassword(), "", to); err == nil || !strings.Contains(err.Error(), "scrim serve --yes") {
			t.Errorf("%s with the rows of an earlier backup: %v", to, err)
		}
		p := serveFor(t, to, "--yes")
		s, err := connect(p.addr, "root", "old password")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.close)
		if got := s.must(t, "SELECT COUNT(*), MAX(id), SUM(price) FROM shop.kinds"); !reflect.DeepEqual(got, [][]string{{"60", "60", "2058.750"}}) {
			t.Errorf("%s: got %v", to, got)
		}
		if _, err := s.ask("SELECT * FROM shop.late"); err == nil {
			t.Errorf("%s has what came after the backup", to)
		}
		if err := p.stop(); err != nil {
			t.Fatal(err, p.err)
		}
	}
}

// digests are the digests of the files in a directory, by name.
func digests(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			name, _ := filepath.Rel(dir, path)
			out[name] = digest(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func digest(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
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
