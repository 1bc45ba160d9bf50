package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestKillRestore kills scrim restore at its calls that change files, into a directory that is not
// there, into an empty one, and into that which the backup was made of. What is left is never taken
// for a new directory: a server refuses it by name, or has all rows of before or of the backup. The
// restore, run again, ends well.
func TestKillRestore(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	root := t.TempDir()
	dir, saved := filepath.Join(root, "d"), filepath.Join(root, "backup")
	p := serveFor(t, dir)
	p.root(t).must(t, "CREATE DATABASE s", "CREATE TABLE s.t (id INT PRIMARY KEY, name VARCHAR(200))", "CALL dp_public('s.t')",
		"INSERT INTO s.t VALUES (1, REPEAT('x', 100)), (2, 'y')")
	if err := p.stop(); err != nil {
		t.Fatal(err, p.err)
	}
	if out, err := exec.Command("scrim", "backup", "--data", dir, "--to", saved).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p = serveFor(t, dir)
	p.root(t).must(t, "INSERT INTO s.t VALUES (3, 'z')")
	if err := p.stop(); err != nil {
		t.Fatal(err, p.err)
	}
	day := time.Now().UTC().Format(time.DateOnly)
	restore := func(to string) []string {
		return []string{"scrim", "restore", "--from", saved, "--data", to, "--accept-ledger-of", day}
	}
	// whole looks at what a server makes of a directory; ids are those that may be there.
	whole := func(what, to string, ids ...string) {
		t.Helper()
		p, err := launch(withPassword(), "", to)
		if err != nil {
			if !strings.Contains(err.Error(), "a restore of") || !strings.Contains(err.Error(), "was not finished; run scrim restore again") {
				t.Errorf("%s: refused without the reason: %v", what, err)
			}
			return
		}
		defer p.kill()
		s, err := connect(p.addr, "root", rootPassword)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if got, err := s.ask("SELECT GROUP_CONCAT(id ORDER BY id) FROM s.t"); err != nil || !slices.Contains(ids, fmt.Sprint(got)) {
			t.Errorf("%s: the server has %v, %v, want one of %v", what, got, err, ids)
		}
	}
	const before, after = "[[1,2,3]]", "[[1,2]]"
	for name, prepare := range map[string]func(to string) error{
		"new":    func(string) error { return nil },
		"empty":  func(to string) error { return os.Mkdir(to, 0o700) },
		"in use": func(to string) error { return exec.Command("cp", "-a", dir, to).Run() },
	} {
		kills := 0
		for _, calls := range []string{"mkdir,mkdirat", "rename,renameat,renameat2", "unlink,unlinkat", "fsync,fdatasync", "write,pwrite64", "link,linkat,ftruncate", "flock"} {
			for n, step := 1, 1; ; n, step = n+step, step+n/6 {
				if *killRounds < 60 {
					step = n
				}
				to := filepath.Join(root, "to")
				for _, left := range []string{to, to + ".restoring"} {
					if err := os.RemoveAll(left); err != nil {
						t.Fatal(err)
					}
				}
				if err := prepare(to); err != nil {
					t.Fatal(err)
				}
				args := append([]string{"-f", "-qq", "-o", os.DevNull, "-e", "trace=" + calls, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", calls, n)}, restore(to)...)
				out, err := exec.Command(strace, args...).CombinedOutput()
				if err == nil {
					break // it does not call that so often
				}
				what := fmt.Sprintf("%s, killed at call %d of %s", name, n, calls)
				if !strings.Contains(err.Error(), "killed") {
					t.Fatalf("%s: %v\n%s", what, err, out)
				}
				kills++
				_, there := os.Stat(to)
				_, partial := os.Stat(to + ".restoring")
				if there != nil && partial != nil {
					continue // nothing was made
				}
				if name == "empty" && reflect.DeepEqual(names(t, to), []string{}) {
					continue
				}
				whole(what, to, after, before)
				if out, err := exec.Command(restore(to)[0], restore(to)[1:]...).CombinedOutput(); err != nil {
					t.Errorf("%s, and run again: %v\n%s", what, err, out)
				} else if n == 1 {
					whole(what, to, after)
				}
			}
		}
		if kills < 10 {
			t.Errorf("%s: only %d kills", name, kills)
		}
	}
}

// names lists what is in a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}
