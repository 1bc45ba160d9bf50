package accounting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/test/testenv"
)

// The disk fails under a child: real limits and real system calls, no stand-in in the product.

// traced returns the command that runs a child with a fault in one of its syncs, and the file that
// lists them. Of the syncs of a transaction the first is of its pages and the second of its meta
// page.
func traced(t *testing.T, fault string, sync int) (under []string, log string) {
	t.Helper()
	log = filepath.Join(t.TempDir(), "strace")
	return []string{testenv.Program(t, "strace"), "-f", "-qq", "-o", log, "-e", "trace=fdatasync",
		"-e", fmt.Sprintf("inject=fdatasync:%s:when=%d", fault, sync)}, log
}

// TestKillAtSyncs kills a child at its n-th sync, before the sync is made.
func TestKillAtSyncs(t *testing.T) {
	syncs := []int{1, 2, 3, 4, 15, 32, 101, 200}
	if *full {
		syncs = nil
		for n := range 200 {
			syncs = append(syncs, n+1)
		}
	}
	for shard := range shards {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			path := preparedIn(t, memoryDir(t))
			before := privacy.Rho(0)
			for i := shard; i < len(syncs); i += shards {
				under, log := traced(t, "signal=SIGKILL", syncs[i])
				c := runChild(t, fmt.Sprintf("sync|%s||3", path), 3*time.Minute, under...)
				// one that a signal interrupts is listed twice
				if n := countSyncs(t, log); n < syncs[i] || n > syncs[i]+1 {
					t.Fatalf("died at sync %d, not %d", n, syncs[i])
				}
				got := spentInFile(t, path)
				c.within(t, fmt.Sprintf("sync %d", syncs[i]), got-before)
				if syncs[i] > 10 && c.got == 0 { // sooner, the word of the first may not be out
					t.Errorf("sync %d: no charge was acknowledged", syncs[i])
				}
				before = got
			}
		})
	}
}

// countSyncs returns how many syncs the thread made that makes them all. When a process is killed,
// strace may also list the last of them for threads that were in some other call.
func countSyncs(t *testing.T, log string) int {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	most, made := 0, map[string]int{}
	for line := range bytes.Lines(b) {
		if thread, call, _ := bytes.Cut(line, []byte(" ")); bytes.Contains(call, []byte("fdatasync(")) {
			made[string(thread)]++
			most = max(most, made[string(thread)])
		}
	}
	return most
}

// TestFailedSync: a sync that fails ends the ledger. It is not tried again, since the disk may then
// claim that what it has lost is written.
func TestFailedSync(t *testing.T) {
	for _, fault := range []string{"error=EIO", "error=ENOSPC", "error=EDQUOT"} {
		for _, n := range []int{1, 2, 7, 12} {
			path := prepared(t)
			under, log := traced(t, fault, n)
			c := runChild(t, fmt.Sprintf("sync|%s||4", path), 3*time.Minute, under...)
			if c.unavailable != 4 || !strings.Contains(c.why, "check the disk, then restart the server") {
				t.Errorf("%s of sync %d: %d of 4 goroutines were told that the ledger is unavailable: %s", fault, n, c.unavailable, c.why)
			}
			if made := countSyncs(t, log); made != n {
				t.Errorf("%s of sync %d: %d syncs were made", fault, n, made)
			}
			c.within(t, fmt.Sprintf("%s of sync %d", fault, n), spentInFile(t, path))
		}
	}
}

// TestLimitedFile: the file may not grow beyond what it is and a little more.
func TestLimitedFile(t *testing.T) {
	path := prepared(t)
	c := runChild(t, "full|"+path+"||4", 2*time.Minute)
	if c.unavailable != 4 {
		t.Errorf("%d of 4 goroutines were told that the ledger is unavailable", c.unavailable)
	}
	got := spentInFile(t, path)
	if c.within(t, "limited", got); c.got == 0 {
		t.Error("nothing was acknowledged")
	}
	// With room again, charging goes on.
	l := open(t, path, Options{})
	mustReserve(t, l, "a@%", rho("t", 1e-6))
}

// TestFullDisk fills a file system of one megabyte, which only the child sees.
func TestFullDisk(t *testing.T) {
	testenv.OwnMounts(t, childVariable+"=disk|"+t.TempDir()+"||4")
}

// smallDisk is the child of TestFullDisk: it charges until the disk is full, opens the ledger on
// the full disk, and charges again when there is room.
func smallDisk(dir string, workers int) {
	if err := syscall.Mount("scrim", dir, "tmpfs", 0, "size=1m"); err != nil {
		fmt.Println("no mount:", err)
		return
	}
	path, ballast := filepath.Join(dir, "ledger"), filepath.Join(dir, "ballast")
	must(os.WriteFile(ballast, make([]byte, 300<<10), 0o600))
	l, err := Open(path, Options{DirectoryID: testDirectory, Create: true})
	must(err)
	must(l.SetBudget(context.Background(), budget.Budget{Account: "t", Principal: budget.All, Epsilon: privacy.MaxEpsilon, Delta: 1e-6, Window: budget.Never, SetBy: "root@%"}))
	got := charge(l, workers)
	if err := l.Err(); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "no space left") {
		must(fmt.Errorf("the disk is full, but the ledger says %v", err))
	}
	booked := spentOn(l, "t", false, budget.All).Rho
	_ = l.Close()
	l, err = Open(path, Options{DirectoryID: testDirectory}) // without room
	must(err)
	if found := spentOn(l, "t", false, budget.All).Rho; found < got || found > booked || got == 0 {
		must(fmt.Errorf("acknowledged %d, booked %d, found %d", got, booked, found))
	}
	_ = l.Close()
	must(os.Remove(ballast))
	l, err = Open(path, Options{DirectoryID: testDirectory})
	must(err)
	_, err = reserve(l, "a@%", rho("t", 1e-6))
	must(err)
	must(l.Close())
	fmt.Println("well")
}

// must ends a child.
func must(err error) {
	if err != nil {
		fmt.Println("error", err)
		os.Exit(3)
	}
}
