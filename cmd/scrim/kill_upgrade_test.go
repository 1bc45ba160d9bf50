package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestKillUpgrade kills the start that converts a directory of an earlier version at its calls that
// change files. Then a server without a yes refuses and has changed nothing of what the earlier
// version wrote, or all of that is in a copy; with a yes it has every row.
func TestKillUpgrade(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	kills, asks := 0, 0
	for _, calls := range []string{"mkdir,mkdirat", "rename,renameat,renameat2", "fsync,fdatasync", "write,pwrite64"} {
		for n := 1; n <= min(10, *killRounds/2); n++ {
			root := unpacked(t, "testdata/files/directory-2026-11-28.tar.gz")
			dir := filepath.Join(root, "data")
			before := digests(t, dir)
			cmd := exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace="+calls, "-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", calls, n),
				"scrim", "serve", "--yes", "--data", dir, "--listen", "127.0.0.1:0")
			var out output
			cmd.Stdout, cmd.Stderr = &out, &out
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			killed := false
			for running := true; running; {
				select {
				case <-ended:
					running, killed = false, true
				case <-time.After(20 * time.Millisecond):
					if strings.Contains(out.String(), "scrim: ready on") { // it does not call that so often
						_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the server, too
						<-ended
						running = false
					}
				}
			}
			if !killed {
				break
			}
			kills++
			what := fmt.Sprintf("killed at call %d of %s", n, calls)
			copies, err := filepath.Glob(filepath.Join(dir, "before-v*Z"))
			if err != nil {
				t.Fatal(err)
			}
			p, err := launch(withPassword(), "", dir)
			if err != nil {
				asks++
				if !strings.Contains(err.Error(), "scrim serve --yes") {
					t.Errorf("%s: %v", what, err)
				}
				now := digests(t, dir)
				for _, name := range []string{"data.duckdb", "data.duckdb.wal", "catalog", "ledger.db", "users"} {
					if now[name] != before[name] {
						t.Errorf("%s: %s is not what the earlier version wrote", what, name)
					}
				}
				if p, err = launch(withPassword(), "", dir, "--yes"); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			} else if len(copies) == 0 {
				t.Errorf("%s: converted, and there is no copy", what)
			}
			for _, c := range copies {
				for _, name := range []string{"data.duckdb", "data.duckdb.wal", "catalog"} {
					if got := digest(t, filepath.Join(c, name)); got != before[name] {
						t.Errorf("%s: the copy of %s is not what was there", what, name)
					}
				}
			}
			s, err := connect(p.addr, "root", "old password")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.ask("SELECT (SELECT COUNT(*) FROM shop.kinds), (SELECT COUNT(*) FROM shop.late)"); err != nil || !reflect.DeepEqual(got, [][]string{{"52", "2"}}) {
				t.Errorf("%s: got %v, %v", what, got, err)
			}
			s.close()
			p.kill()
		}
	}
	if kills < 10 || asks == 0 {
		t.Errorf("%d kills, after %d of which a question was asked", kills, asks)
	}
}
