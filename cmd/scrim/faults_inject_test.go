package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// leave takes the disk of a directory but for so many bytes; what is less than 0 gives all back.
func leave(t *testing.T, dir string, free int64) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, "ballast"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var st syscall.Statfs_t
	if err := errors.Join(f.Truncate(0), syscall.Statfs(dir, &st)); err != nil {
		t.Fatal(err)
	}
	if size := int64(st.Bavail)*int64(st.Bsize) - free; free >= 0 && size > 0 {
		if err := syscall.Fallocate(int(f.Fd()), 0, 0, size); err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err) // the server may have taken some meanwhile
		}
	}
}

// calls are the system calls in which faults are injected, by what they do.
var faultCalls = []string{"write,pwrite64", "fsync,fdatasync", "ftruncate", "rename,renameat,renameat2", "unlink,unlinkat", "write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2"}

// faultFiles are the files whose calls may fail; "" are all files.
var faultFiles = []string{"data.duckdb.commits", "data.duckdb", "data.duckdb", "data.duckdb.wal", "data.duckdb.wal", "data.duckdb.wal", "ledger.db", "ledger.db.mark", "catalog", "users", ""}

// inject has calls of a process fail, or kill it, until the function that it returns is called,
// which tells in how many calls that was.
func inject(t *testing.T, strace string, p *process, dir, name, calls, what string) (end func() int) {
	t.Helper()
	args := []string{"-f", "-p", strconv.Itoa(p.cmd.Process.Pid), "-e", "trace=" + calls, "-e", "inject=" + calls + ":" + what}
	if name != "" {
		args = append(args, "-P", filepath.Join(dir, name))
	}
	said := &output{}
	cmd := exec.Command(strace, args...)
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said.waitFor(t, "attached")
	ended := false
	end = func() int {
		if !ended {
			ended = true
			_ = cmd.Process.Signal(syscall.SIGINT)
			_ = cmd.Wait()
		}
		return strings.Count(said.String(), "INJECTED") + strings.Count(said.String(), "killed by SIGKILL")
	}
	t.Cleanup(func() { end() })
	return end
}

// injection chooses what fails, of which calls of which file.
func injection(r *rand.Rand, kind string) (name, calls, what string) {
	name, calls = faultFiles[r.IntN(len(faultFiles))], faultCalls[r.IntN(len(faultCalls))]
	when := fmt.Sprintf(":when=%d", 1+r.IntN(6))
	if name == "" && strings.Contains(calls, "write") { // sockets are written to as files are
		calls = "pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2"
	}
	switch kind {
	case "kill":
		return name, calls, "signal=SIGKILL" + when
	case "short":
		if name == "" {
			name = "data.duckdb"
		}
		return name, "write,pwrite64", "retval=0" + when
	}
	if r.IntN(2) == 0 {
		when += "+" // from then on
	}
	return name, calls, "error=" + []string{"ENOSPC", "EIO"}[r.IntN(2)] + when
}

// died tells whether a process has ended, and waits a moment for one that is about to.
func (p *process) died(patience time.Duration) bool {
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-p.done:
			p.done <- err
			return true
		default:
			if !time.Now().Before(deadline) {
				return false
			}
		}
	}
}
