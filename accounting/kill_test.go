package accounting

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"scrim/accounting/budget"
	"scrim/accounting/privacy"
	"scrim/accounting/record"
)

// The tests here run this test binary again as a child that charges a ledger, and let it die. The
// child announces every charge before it asks for it ("try n") and after it got it ("got n"), n in
// steps of ρ, so that what must be on the disk is known to within the charges in flight.

const childVariable = "SCRIM_ACCOUNTING_CHILD"

var (
	full = flag.Bool("full", false, "put every fault to the ledger, where the tests otherwise take some")
	seed = flag.Uint64("seed", 1, "of the moments at which children are killed")
)

// often is how often a fault is put to the ledger: the first number, or the second with -full.
func often(some, all int) int {
	if *full {
		return all
	}
	return some
}

func TestMain(m *testing.M) {
	if spec := os.Getenv(childVariable); spec != "" {
		child(strings.Split(spec, "|"))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child runs "mode|path|argument|goroutines".
func child(spec []string) {
	mode, path, argument := spec[0], spec[1], spec[2]
	workers, _ := strconv.Atoi(spec[3])
	switch mode {
	case "disk":
		smallDisk(path, workers)
		return
	case "clock":
		shifted(path, argument)
		return
	case "rate":
		charges, _ := strconv.Atoi(argument)
		rate(path, workers, charges)
		return
	}
	o := Options{DirectoryID: testDirectory}
	if mode == "keep" {
		o.Checkpoints, o.part = true, smallParts
	}
	l, err := Open(path, o)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(3)
	}
	switch mode {
	case "point", "keep": // die at the n-th passing of a named point
		name, count, _ := strings.Cut(argument, ":")
		n, _ := strconv.Atoi(count)
		l.hook = func(point string) error {
			if point == name {
				if n--; n == 0 {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					time.Sleep(time.Minute)
				}
			}
			return nil
		}
	case "sync": // all syncs on one thread: strace counts them by thread
		var once sync.Once
		l.hook = func(point string) error {
			if point == "before-transaction" {
				once.Do(runtime.LockOSThread)
			}
			return nil
		}
	case "full": // the file cannot grow beyond what it is now plus a little
		info, err := os.Stat(path)
		if err != nil {
			panic(err)
		}
		limit := uint64(info.Size()) + 64<<10
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			panic(err)
		}
	case "hold":
		fmt.Println("open")
		time.Sleep(5 * time.Minute)
		return
	}
	fmt.Println("open")
	charge(l, workers)
}

// charge charges l from many goroutines until it is unavailable, which it then has to stay. It
// returns what was acknowledged.
func charge(l *Ledger, workers int) privacy.Rho {
	var wg sync.WaitGroup
	var got atomic.Uint64
	for w := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 9))
			for i := 0; ; i++ {
				n := 1 + r.IntN(1000)
				fmt.Printf("try %d\n", n)
				receipt, err := l.Reserve(context.Background(), Request{
					Principal: fmt.Sprintf("p%d@%%", w), Statement: strings.Repeat("SELECT ", r.IntN(60)),
					Charges: []Charge{
						{Account: "t", Loss: privacy.Loss{Rho: privacy.Rho(n), Pure: privacy.Pure(n)}, Rounded: []privacy.Event{}},
						{Account: "e", Entity: true, Blocks: randomBlocks(r), Loss: privacy.Loss{Rho: privacy.Rho(n)}, Rounded: []privacy.Event{{Kind: privacy.Gaussian, Rho: privacy.Rho(n), Count: 1}}},
					},
				})
				if errors.Is(err, ErrUnavailable) {
					stays(l, err)
					return
				}
				if err != nil {
					fmt.Println("error", err)
					os.Exit(3)
				}
				got.Add(uint64(n))
				fmt.Printf("got %d\n", n)
				l.Finish(receipt, record.Answered)
				if i%3 == 0 {
					_ = l.PutAnswer([]byte(strconv.Itoa(r.IntN(50))), make([]byte, r.IntN(5000)))
				}
			}
		})
	}
	wg.Wait()
	return privacy.Rho(got.Load())
}

// stays tries again what failed.
func stays(l *Ledger, cause error) {
	for range 3 {
		time.Sleep(20 * time.Millisecond)
		_, err := l.Reserve(context.Background(), Request{Principal: "p@%", Charges: []Charge{{Account: "t", Loss: privacy.Loss{Rho: 1}}}})
		if !errors.Is(err, ErrUnavailable) || !errors.Is(l.Err(), ErrUnavailable) {
			fmt.Println("error after", cause, "came", err)
			os.Exit(3)
		}
	}
	fmt.Println("unavailable", cause)
}

// run is what a child said until it died.
type run struct {
	tried, got  privacy.Rho
	lines       int
	unavailable int
	why         string // it was unavailable
}

// startChild runs this binary again, under a command where one is given.
func startChild(t *testing.T, spec string, under ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	under = append(under, exe)
	cmd := exec.Command(under[0], under[1:]...)
	cmd.Env = append(os.Environ(), childVariable+"="+spec)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(out)
	if !s.Scan() || s.Text() != "open" {
		t.Fatalf("child says %q", s.Text())
	}
	return cmd, s
}

// runChild runs a child to its end; after is when to kill it if it hangs.
func runChild(t *testing.T, spec string, after time.Duration, under ...string) run {
	t.Helper()
	cmd, s := startChild(t, spec, under...)
	defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
	r := listen(t, s, func(int) {})
	_ = cmd.Wait()
	return r
}

// runKilled kills a child after it has said so many lines, and a random part of the time that they
// took, half of it at most: the moments are in all phases of a charge, however busy the machine is.
func runKilled(t *testing.T, spec string, lines int, r *rand.Rand) run {
	t.Helper()
	cmd, s := startChild(t, spec)
	part, start := r.Float64()/2, time.Now()
	var timer *time.Timer
	said := listen(t, s, func(heard int) {
		if heard == lines {
			timer = time.AfterFunc(time.Duration(part*float64(time.Since(start))), func() { _ = cmd.Process.Kill() })
		}
	})
	if timer == nil {
		t.Fatalf("the child ended after %d lines, not %d", said.lines, lines)
	}
	timer.Stop()
	_ = cmd.Wait()
	return said
}

// manyLines draws after how many lines a child is killed: at the first of a test, so many that some
// of its charges are acknowledged.
func manyLines(r *rand.Rand, first bool) int {
	n := r.IntN(120)
	if first {
		n += 40
	}
	return n
}

// listen hears a child out, and calls each with the number of lines so far, from 0.
func listen(t *testing.T, s *bufio.Scanner, each func(heard int)) run {
	t.Helper()
	var r run
	for each(0); s.Scan(); each(r.lines) {
		word, value, _ := strings.Cut(s.Text(), " ")
		n, _ := strconv.Atoi(value)
		switch word {
		case "try":
			r.tried += privacy.Rho(n)
		case "got":
			r.got += privacy.Rho(n)
		case "unavailable":
			r.unavailable++
			r.why = value
		default:
			t.Errorf("child says %q", s.Text())
		}
		r.lines++
	}
	return r
}

// within checks what a run has left in the file: all that was acknowledged, and nothing that was
// not asked for.
func (r run) within(t *testing.T, what string, spent privacy.Rho) {
	t.Helper()
	if spent < r.got || spent > r.tried {
		t.Fatalf("%s: spent %d, acknowledged %d, tried %d", what, spent, r.got, r.tried)
	}
}

// prepared makes a ledger with ample budgets and closes it.
func prepared(t *testing.T) string {
	t.Helper()
	return preparedIn(t, t.TempDir())
}

func preparedIn(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "ledger")
	l := open(t, path, Options{Create: true})
	mustSet(t, l, "t", false, budget.All, privacy.MaxEpsilon, 1e-6, budget.Never)
	mustSet(t, l, "t", false, budget.Default, privacy.MaxEpsilon, 1e-6, budget.Month)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// spentInFile opens the ledger, which verifies everything, and returns what is spent on "t".
func spentInFile(t *testing.T, path string) privacy.Rho {
	t.Helper()
	l := open(t, path, Options{})
	defer l.Close()
	total := spentOn(l, "t", false, budget.All).Rho
	if e := spentOn(l, "t", false, budget.All).Pure; e != privacy.Pure(total) {
		t.Fatalf("the table spent rho %d and pure epsilon %d, charged alike", total, e)
	}
	if e := spentOn(l, "e", true, budget.All).Rho; e != total {
		t.Errorf("half a charge: %d on the table, %d on the entity", total, e)
	}
	return total
}

func TestKillAtNamedPoints(t *testing.T) {
	path := prepared(t)
	before := privacy.Rho(0)
	for _, c := range []struct {
		point   string
		written bool // whether the charge in flight is on the disk
	}{{"booked", false}, {"before-transaction", false}, {"in-transaction", false}, {"after-transaction", true}} {
		for _, n := range []int{1, 7} {
			r := runChild(t, fmt.Sprintf("point|%s|%s:%d|1", path, c.point, n), 2*time.Minute)
			got := spentInFile(t, path)
			want := before + r.got
			if c.written {
				// The batch that was being written may hold an outcome only; then nothing was in
				// flight.
				if got != before+r.tried && got != want {
					t.Errorf("%s %d: spent %d, want %d", c.point, n, got-before, r.tried)
				}
			} else if got != want {
				t.Errorf("%s %d: spent %d, want %d", c.point, n, got-before, r.got)
			}
			if c.written && n == 1 && (got != before+r.tried || r.tried == 0) {
				t.Errorf("%s: the first charge was written, but %d is spent of %d", c.point, got-before, r.tried)
			}
			before = got
		}
	}
}

// shards is how many ledgers children are killed on at the same time.
const shards = 4

func TestKillAtRandomTimes(t *testing.T) {
	for shard := range shards {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			path := prepared(t)
			r := rand.New(rand.NewPCG(*seed, uint64(shard)))
			before, lines := privacy.Rho(0), 0
			for i := range often(20, 500) / shards {
				c := runKilled(t, fmt.Sprintf("run|%s||%d", path, 1+r.IntN(12)), manyLines(r, i == 0), r)
				got := spentInFile(t, path)
				c.within(t, fmt.Sprintf("seed %d, run %d", *seed, i), got-before)
				before = got
				lines += c.lines
			}
			if before == 0 || lines < 20 {
				t.Errorf("only %d lines: the children did next to nothing", lines)
			}
		})
	}
}

func TestTwoProcesses(t *testing.T) {
	path := prepared(t)
	cmd, _ := startChild(t, "hold|"+path+"||0")
	start := time.Now()
	_, err := Open(path, Options{DirectoryID: testDirectory, LockTimeout: 100 * time.Millisecond})
	if !errors.Is(err, ErrLocked) {
		t.Errorf("open in another process: %v", err)
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("refused after %v", d)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	l := open(t, path, Options{})
	if _, err := Open(path, Options{DirectoryID: testDirectory, LockTimeout: 10 * time.Millisecond}); !errors.Is(err, ErrLocked) {
		t.Errorf("open twice in one process: %v", err)
	}
	mustReserve(t, l, "a@%", rho("t", 1e-6))
}
