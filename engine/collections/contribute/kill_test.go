//go:build unix

package contribute

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"scrim/engine/collections/collect"
)

var (
	killRounds = flag.Int("kill.rounds", 12, "how many contributors are killed at random moments")
	killSeed   = flag.Uint64("kill.seed", 1, "seed of the moments")
)

// childVariable makes the test's binary a contributor: it says at which step of which write it ends
// itself, as "renamed 1"; a step that never comes lets it finish.
const childVariable = "SCRIM_TEST_CONTRIBUTOR"

func TestMain(m *testing.M) {
	if at := os.Getenv(childVariable); at != "" {
		if err := contributor(os.Args[1], at); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// contributor reports once, as an app does, in a directory that has the parameters and what the
// server has received.
func contributor(dir, at string) error {
	seen := map[string]int{}
	reached = func(step string) {
		if seen[step]++; fmt.Sprintf("%s %d", step, seen[step]) == at {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "params"))
	if err != nil {
		return err
	}
	p, err := collect.Parse(text)
	if err != nil {
		return err
	}
	w, err := Open(filepath.Join(dir, "wallet"))
	if err != nil {
		return err
	}
	if _, err := w.Report(p, tokenOf(p, 0, 1), Number(0.4)); err != nil {
		return err
	}
	reached("returned")
	db := sql.OpenDB(fakeConnector{&fakeServer{accept: func(_ string, args []driver.NamedValue) error {
		defer reached("sent")
		return receive(dir, args[1].Value.([]byte))
	}}})
	return w.Send(context.Background(), db, p.UUID)
}

// receive is the server: it keeps every report that arrives.
func receive(dir string, report []byte) error {
	f, err := os.OpenFile(filepath.Join(dir, "received"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%x\n", report)
	return errors.Join(err, f.Close())
}

// received returns the different reports that arrived, and how many arrived.
func received(t *testing.T, dir string) (different []string, n int) {
	b, err := os.ReadFile(filepath.Join(dir, "received"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	all := strings.Fields(string(b))
	return slices.Compact(slices.Sorted(slices.Values(all))), len(all)
}

// start starts a contributor.
func start(t *testing.T, dir, at string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], dir)
	c.Env = append(os.Environ(), childVariable+"="+at)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// placed makes a contributor's directory.
func placed(t *testing.T) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "params"), first(t, "haar").Canonical(), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// consistent checks what a wallet says after a kill: nothing arrived that it does not have and did
// not charge, and nothing that is not the one report.
func consistent(t *testing.T, dir, when string) {
	t.Helper()
	w, err := Open(filepath.Join(dir, "wallet"))
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	defer w.Close()
	different, _ := received(t, dir)
	records := w.Records()
	switch {
	case len(different) > 1:
		t.Fatalf("%s: %d different reports of one value arrived", when, len(different))
	case len(different) == 1 && (len(records) != 1 || hex.EncodeToString(records[0].Report) != different[0]):
		t.Fatalf("%s: %s arrived, and the wallet has %d records", when, different[0], len(records))
	case len(records) == 1 && w.Spent().Epsilon != 10_000:
		t.Fatalf("%s: spent %v", when, w.Spent())
	case len(different) == 0 && len(records) == 1 && records[0].State != Pending:
		t.Fatalf("%s: acknowledged, and nothing arrived", when)
	}
}

// TestKilledAtEveryStep ends a contributor by SIGKILL at each step of both writes and between them,
// and has it start again: one report arrives, always the same, charged once.
func TestKilledAtEveryStep(t *testing.T) {
	steps := []string{"made 1", "written 1", "renamed 1", "synced 1", "marked 1", "returned 1", "sent 1", "made 2", "written 2", "renamed 2", "synced 2", "marked 2"}
	for i, at := range steps {
		dir := placed(t)
		err := start(t, dir, at).Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%s: ended with %v", at, err)
		}
		consistent(t, dir, at)
		if _, n := received(t, dir); (n > 0) != (i >= slices.Index(steps, "sent 1")) {
			t.Errorf("%s: %d reports arrived before", at, n)
		}
		for range 2 {
			if err := start(t, dir, "never").Wait(); err != nil {
				t.Fatalf("%s, afterwards: %v", at, err)
			}
			consistent(t, dir, at+", afterwards")
		}
		if different, n := received(t, dir); len(different) != 1 || n > 2 {
			t.Errorf("%s: %d reports, %d different ones", at, n, len(different))
		}
	}
}

// TestKilledAtRandom ends contributors at random moments, again and again, until each has reported.
func TestKilledAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(*killSeed, 7))
	kills := 0
	for range *killRounds {
		dir := placed(t)
		// longer each time, for machines on which a process takes long to start
		for tries, done := 1, false; !done; tries++ {
			c := start(t, dir, "never")
			time.AfterFunc(time.Duration(r.IntN(10_000+10_000*tries))*time.Microsecond, func() { _ = c.Process.Kill() })
			done = c.Wait() == nil
			if !done {
				kills++
			}
			consistent(t, dir, "random")
		}
		if different, _ := received(t, dir); len(different) != 1 {
			t.Errorf("%d different reports", len(different))
		}
	}
	t.Logf("%d kills for %d contributors", kills, *killRounds)
}

// TestProcessesAtOnce: of many processes that report at the same time with one wallet, those that
// find it in use end with an error, and one report arrives.
func TestProcessesAtOnce(t *testing.T) {
	dir := placed(t)
	var all []*exec.Cmd
	for range 8 {
		c := exec.Command(os.Args[0], dir)
		c.Env = append(os.Environ(), childVariable+"=never")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	done := 0
	for _, c := range all {
		if c.Wait() == nil {
			done++
		}
	}
	if done == 0 {
		t.Error("nobody reported")
	}
	consistent(t, dir, "together")
	if different, n := received(t, dir); len(different) != 1 || n != 1 {
		t.Errorf("%d reports, %d different ones", n, len(different))
	}
}
