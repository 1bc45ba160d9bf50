package accounting

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"scrim/accounting/budget"
	"scrim/test/testenv"
)

// TestSlowSyncs: on a file whose every sync takes 5 ms longer, 64 goroutines make at least 20 times
// as many charges with a sync as one. A charge alone takes two syncs.
func TestSlowSyncs(t *testing.T) {
	alone := slowSyncs(t, 1, 100)
	together := 0.0
	for range 3 { // other work on the machine can only make fewer charges share a sync
		if together = max(together, slowSyncs(t, 64, 50)); together >= 20*alone {
			break
		}
	}
	t.Logf("syncs of 5 ms: %.2f charges with each from one goroutine, %.1f from 64, %.1f times as many", alone, together, together/alone)
	if alone > 0.6 {
		t.Errorf("%.2f charges of one goroutine with each slow sync, want one with two", alone)
	}
	if together < 20*alone {
		t.Errorf("64 goroutines make %.1f times as many charges with a sync as one, want 20", together/alone)
	}
}

// slowSyncs returns how many charges a child makes with each sync, where so many goroutines make so
// many charges each.
func slowSyncs(t *testing.T, workers, charges int) float64 {
	t.Helper()
	log := filepath.Join(t.TempDir(), "strace")
	under := []string{
		testenv.Program(t, "strace"), "-f", "-qq", "--seccomp-bpf", "-o", log,
		"-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:delay_exit=5000",
	}
	path := filepath.Join(memoryDir(t), "ledger")
	l := open(t, path, Options{Create: true})
	mustSet(t, l, "t", false, budget.All, 20, 1e-6, budget.Never)
	l.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(under[0], append(under[1:], exe)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=rate|%s|%d|%d", childVariable, path, charges, workers))
	cmd.Stderr = os.Stderr
	if out, err := cmd.Output(); err != nil {
		t.Fatal(err, string(out))
	}
	traced, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return float64(workers*charges) / float64(strings.Count(string(traced), "(DELAYED)"))
}

// rate charges the ledger from some goroutines, so often from each.
func rate(path string, workers, charges int) {
	l, err := Open(path, Options{DirectoryID: testDirectory})
	if err != nil {
		panic(err)
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for range charges {
				if err := chargeOnce(l, w); err != nil {
					panic(err)
				}
			}
		})
	}
	wg.Wait()
	if err := l.Close(); err != nil {
		panic(err)
	}
}
