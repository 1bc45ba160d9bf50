package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"scrim/test/testenv"
)

// TestKilledAtWrites kills a serving process as it is about to write to one of the files that know
// how far the ledger had come, or to the ledger, while statements run and while it stops. What it
// leaves is never refused: no file is ahead of the ledger.
func TestKilledAtWrites(t *testing.T) {
	strace := testenv.Program(t, "strace")
	dir, witness := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "witness")
	p := serveFor(t, dir, "--witness", witness)
	root := p.root(t)
	root.must(t,
		"CREATE DATABASE shop", "CREATE TABLE shop.orders (id INT PRIMARY KEY, who INT NOT NULL, x DOUBLE)",
		"CALL dp_protect('shop.orders', 'who', 'customer')", "CALL dp_set_budget('shop.orders', '*', 20, 1e-6, 'never')")
	root.close()
	killed := map[string]int{}
	row := int64(0)
	for _, name := range []string{"ledger.db", "ledger.db.mark", "data.duckdb", "data.duckdb.wal", "catalog", "audit", "witness"} {
		for _, nth := range []int{1, 2, 5} {
			path := filepath.Join(dir, name)
			switch name {
			case "audit":
				path = newestIn(t, filepath.Join(dir, name))
			case "witness":
				path = witness
			}
			killAtWrite(t, strace, p, path, nth)
			for range 3 {
				row++
				workUntilDead(p.addr, row)
			}
			switch p.stop() {
			case nil:
			default:
				killed[name]++
			}
			// refused where a position went ahead of the ledger
			p = serveFor(t, dir, "--witness", witness)
		}
	}
	for _, name := range []string{"ledger.db", "ledger.db.mark", "data.duckdb.wal", "catalog", "audit", "witness"} {
		if killed[name] == 0 {
			t.Errorf("no write to %s killed the server: %v", name, killed)
		}
	}
	if err := p.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// workUntilDead charges, writes rows, and changes policies.
func workUntilDead(addr string, n int64) {
	s, err := connect(addr, "root", rootPassword)
	if err != nil {
		return
	}
	defer s.close()
	table := "shop.t" + strconv.FormatInt(n, 10)
	for _, q := range []string{
		question(n), "INSERT INTO shop.orders VALUES (" + strconv.FormatInt(n, 10) + ", 1, 1)",
		"CREATE TABLE " + table + " (n INT)", "CALL dp_public('" + table + "')", question(n + 1_000_000),
	} {
		if _, err := s.ask(q); err != nil {
			return
		}
	}
}

// killAtWrite has the process killed as it begins the nth call that writes to a file, or renames
// another to it, in one of its threads.
func killAtWrite(t *testing.T, strace string, p *process, path string, nth int) {
	t.Helper()
	said := &output{}
	const calls = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2"
	cmd := exec.Command(strace, "-f", "-p", strconv.Itoa(p.cmd.Process.Pid), "-P", path, "-e", "trace="+calls,
		"-e", "inject="+calls+":signal=SIGKILL:when="+strconv.Itoa(nth))
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
	})
	said.waitFor(t, "attached")
}

// newestIn returns the last file of a directory by name.
func newestIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %v, %v", dir, files, err)
	}
	return filepath.Join(dir, files[len(files)-1].Name())
}
