package accounting

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/test/testenv"
)

// TestSlowSyncs: on a file whose every sync takes 5 ms longer, 64 goroutines make at least 20 times
// as many charges as one. A charge alone takes two syncs.
func TestSlowSyncs(t *testing.T) {
	under := []string{
		testenv.Program(t, "strace"), "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null",
		"-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:delay_exit=5000",
	}
	var alone, together float64
	for range 3 { // other work on the machine can only make the many slower
		alone, together = slowRate(t, under, 1), slowRate(t, under, 64)
		if together >= 20*alone {
			break
		}
	}
	t.Logf("syncs of 5 ms: %.0f charges a second from one goroutine, %.0f from 64, %.1f times as many", alone, together, together/alone)
	if alone > 110 {
		t.Errorf("%.0f charges a second with 10 ms of syncs for each: the syncs are not slowed", alone)
	}
	if together < 20*alone {
		t.Errorf("64 goroutines make %.1f times as many charges as one, want 20", together/alone)
	}
}

// slowRate returns how many charges a second a child makes, run by the command under.
func slowRate(t *testing.T, under []string, workers int) float64 {
	t.Helper()
	path := filepath.Join(memoryDir(t), "ledger")
	l := open(t, path, Options{Create: true})
	mustSet(t, l, "t", false, budget.All, 20, 1e-6, budget.Never)
	l.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(under[0], append(under[1:], exe)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=rate|%s||%d", childVariable, path, workers))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err, string(out))
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// rate charges the ledger from some goroutines for two seconds and prints how often a second.
func rate(path string, workers int) {
	l, err := Open(path, Options{DirectoryID: testDirectory})
	if err != nil {
		panic(err)
	}
	var n atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for w := range workers {
		wg.Go(func() {
			for time.Since(start) < 2*time.Second {
				if err := chargeOnce(l, w); err != nil {
					panic(err)
				}
				n.Add(1)
			}
		})
	}
	wg.Wait()
	took := time.Since(start).Seconds()
	if err := l.Close(); err != nil {
		panic(err)
	}
	fmt.Println(float64(n.Load()) / took)
}
