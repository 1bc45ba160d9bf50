package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"scrim/test/testenv"
)

// TestFailedSyncStopsAnswers fails the ledger's syncs under a serving process. From the first on it
// answers no private question, nor when the disk is well again, until it is started anew; then the
// ledger holds the charge of every answer.
func TestFailedSyncStopsAnswers(t *testing.T) {
	strace := testenv.Program(t, "strace")
	dir := filepath.Join(t.TempDir(), "data")
	p := serveFor(t, dir)
	root := p.root(t)
	root.must(t,
		"CREATE DATABASE shop",
		"CREATE TABLE shop.orders (id INT PRIMARY KEY, who INT NOT NULL, x DOUBLE)",
		"INSERT INTO shop.orders VALUES (1, 10, 1.5), (2, 10, 2.5), (3, 11, 3.5)",
		"CALL dp_protect('shop.orders', 'who', 'customer')",
		"CALL dp_set_budget('shop.orders', '*', 20, 1e-6, 'never')",
		question(1),
	)
	spent := func(s *session) float64 {
		return number(t, s.must(t, "SELECT spent_rho FROM dp.budgets WHERE account = 'shop.orders'")[0][0])
	}
	before := spent(root)
	fail := failSyncs(t, strace, p.cmd.Process.Pid, filepath.Join(dir, "ledger.db"))
	refused := func(when string, q int64) {
		t.Helper()
		if rows, err := root.ask(question(q)); err == nil || !strings.Contains(err.Error(), "nothing was read") {
			t.Errorf("%s: %v, %v", when, rows, err)
		}
	}
	refused("while syncs fail", 2)
	refused("while syncs fail, again", 3)
	fail()
	refused("after syncs failed", 4)
	if n := strings.Count(p.err.String(), "check the disk, then restart the server"); n == 0 {
		t.Errorf("the log does not say what to do: %s", p.err)
	}
	if _, err := root.ask("SELECT 1"); err != nil {
		t.Errorf("what needs no charge: %v", err)
	}
	root.close()
	p.kill()
	p = serveFor(t, dir)
	root = p.root(t)
	defer root.close()
	if after := spent(root); after < before || after > 2*before*(1+1e-9) {
		t.Errorf("spent %v, and %v before one charge that was not acknowledged", after, before)
	}
	root.must(t, question(5))
	if err := p.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// failSyncs lets every sync of a file fail with EIO in a running process, until the function that
// it returns is called.
func failSyncs(t *testing.T, strace string, pid int, path string) (stop func()) {
	t.Helper()
	said := &output{}
	cmd := exec.Command(strace, "-f", "-p", strconv.Itoa(pid), "-P", path, "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO")
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	stop = func() {
		if !ended {
			ended = true
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait()
			if n := strings.Count(said.String(), "INJECTED"); n != 1 {
				t.Errorf("%d syncs failed: want one, which is not made again\n%s", n, said)
			}
		}
	}
	t.Cleanup(stop)
	said.waitFor(t, "attached")
	return stop
}
