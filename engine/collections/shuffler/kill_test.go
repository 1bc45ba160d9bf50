package shuffler

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/issue"
	"scrim/internal/durable"
	"scrim/internal/refuse"
)

// The tests here run this test binary again as a child that takes bundles and releases batches, and
// kill it. Every child sends all bundles again, as contributors do that retry; the server of all of
// them is a directory.

const childVariable = "SCRIM_SHUFFLER_CHILD"

func TestMain(m *testing.M) {
	if spec := os.Getenv(childVariable); spec != "" {
		if err := child(strings.Split(spec, "|")); err != nil {
			fmt.Println("error", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killTokens is how many people report: two batches, and some.
const killTokens = 200

// fixedToken is the same in every process.
func fixedToken(i int) []byte {
	h := sha256.Sum256(fmt.Append(nil, "token ", i))
	return h[:issue.TokenSize]
}

// directory is a server that outlives its clients: a file for every part.
type directory struct{ path string }

func (d directory) Params(context.Context, [32]byte) ([]byte, error) {
	return os.ReadFile(filepath.Join(d.path, "params"))
}

func (d directory) Load(_ context.Context, p Part) (bool, error) {
	name := filepath.Join(d.path, fmt.Sprintf("%d-%d", p.Batch, p.Part))
	head := fmt.Appendf(nil, "%s %d %d %d\n", p.Collection, p.Cell, p.Reports, p.Parts)
	switch before, err := os.ReadFile(name); {
	case err == nil && !bytes.Equal(before, append(head, p.Sealed...)):
		_ = os.WriteFile(filepath.Join(d.path, "conflict"), nil, 0o600)
		return false, &Rejected{"45D41", "another part was there"}
	case errors.Is(err, os.ErrNotExist):
		if err := durable.Replace(name, 0o600, durable.Bytes(append(head, p.Sealed...))); err != nil {
			return false, err
		}
	}
	for i := 1; i <= p.Parts; i++ {
		if !exists(filepath.Join(d.path, fmt.Sprintf("%d-%d", p.Batch, i))) {
			return false, nil
		}
	}
	return true, nil
}

// child runs "directory|point|n": it sends all bundles and waits until two batches are released. It
// kills itself at the n-th passing of a point.
func child(spec []string) error {
	ctx, up := context.Background(), directory{filepath.Join(spec[0], "server")}
	n, _ := strconv.Atoi(spec[2])
	var mu sync.Mutex
	s, err := start(filepath.Join(spec[0], "data"), Options{Upstream: up, When: AtMin, Logger: zerolog.Nop()}, func(s *Shuffler) {
		s.part = 100
		s.hook = func(point string) {
			mu.Lock()
			defer mu.Unlock()
			if point == spec[1] {
				if n--; n == 0 {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					time.Sleep(time.Minute)
				}
			}
		}
	})
	if err != nil {
		return err
	}
	text, err := up.Params(ctx, [32]byte{})
	if err != nil {
		return err
	}
	p, err := collect.Parse(text)
	if err != nil {
		return err
	}
	if _, err := s.Pin(ctx, "commute", p.Fingerprint()); err != nil {
		return err
	}
	hashes := make([]Hash, killTokens)
	for i := range hashes {
		hashes[i] = Hash{SHA256: sha256.Sum256(fixedToken(i)), Round: 1}
	}
	if _, err := s.AddHashes("commute", hashes); err != nil {
		return err
	}
	if err := sendKilled(s, p); err != nil {
		return err
	}
	for {
		list, err := s.Status()
		if err != nil {
			return err
		}
		over := 0
		for _, b := range list {
			if b.State == Acknowledged {
				over++
			}
			if b.State == Refused {
				return errors.New("refused: " + b.Note)
			}
		}
		if over == 2 {
			fmt.Println("done")
			return s.Close()
		}
		time.Sleep(time.Millisecond)
	}
}

// sendKilled sends all bundles from several connections and says which were acknowledged.
func sendKilled(s *Shuffler, p *collect.Params) error {
	queue := make(chan int, killTokens)
	for _, i := range rand.Perm(killTokens) {
		queue <- i
	}
	close(queue)
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range 8 {
		all.Go(func() {
			for i := range queue {
				err := s.Accept(context.Background(), fixedToken(i), bundleOf(p, uint64(i)))
				r, ok := refuse.As(err)
				mu.Lock()
				switch {
				case err == nil:
					fmt.Println("ok", i)
				case !ok || r.Code != refuse.SpentToken: // spent: its batch has been released
					failed = err
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return failed
}

// runChild starts a child, kills it after a while unless that is zero, and notes what it says.
func runChild(t *testing.T, dir, point string, n int, after time.Duration, acknowledged map[int]bool) (done bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d", childVariable, dir, point, n))
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	if after > 0 {
		kill := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch word, rest, _ := strings.Cut(lines.Text(), " "); word {
		case "ok":
			if i, err := strconv.Atoi(rest); err == nil && fmt.Sprint(i) == rest {
				acknowledged[i] = true
			}
		case "done":
			done = true
		case "error":
			t.Errorf("child: %s", rest)
		}
	}
	_ = cmd.Wait()
	return done
}

// TestKilledShuffler kills children at every step and at random moments. In the end every bundle
// that was acknowledged has been released once or waits in the open batch; no part was ever sent
// with other bytes.
func TestKilledShuffler(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	points := []string{"accepted", "bag", "closed", "releasing", "part", "acknowledged"}
	for _, p := range points {
		t.Run(p, func(t *testing.T) {
			t.Parallel()
			killed(t, p, []int{1, 1, 2, 3}, nil)
		})
	}
	var moments []time.Duration
	for range 8 {
		moments = append(moments, time.Duration(20+r.IntN(180))*time.Millisecond)
	}
	t.Run("at random", func(t *testing.T) { killed(t, "", nil, moments) })
}

func killed(t *testing.T, point string, passings []int, moments []time.Duration) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "server"), 0o700))
	p, _ := paramsOf(t, "survey.commute", testUUID, collect.ShufSum, declaredSum, "")
	must(t, os.WriteFile(filepath.Join(dir, "server", "params"), p.Canonical(), 0o600))
	acknowledged := map[int]bool{}
	for _, n := range passings {
		runChild(t, dir, point, n, 0, acknowledged)
	}
	for _, after := range moments {
		runChild(t, dir, "", 0, after, acknowledged)
	}
	if !runChild(t, dir, "", 0, 0, acknowledged) {
		t.Fatal("the last child has not ended well")
	}
	compare(t, dir, p, acknowledged)
}

// compare checks what the server has, and what the shuffler has kept, against what was
// acknowledged.
func compare(t *testing.T, dir string, p *collect.Params, acknowledged map[int]bool) {
	t.Helper()
	if exists(filepath.Join(dir, "server", "conflict")) {
		t.Error("a part was sent again with other bytes")
	}
	released := map[uint64]bool{}
	for batch := 1; batch <= 2; batch++ {
		var bag []byte
		for part := 1; ; part++ {
			b, err := os.ReadFile(filepath.Join(dir, "server", fmt.Sprintf("%d-%d", batch, part)))
			if err != nil {
				break
			}
			head, messages, _ := bytes.Cut(b, []byte("\n"))
			if want := fmt.Sprintf("survey.commute 0 %d ", p.Batch.Min); !strings.HasPrefix(string(head), want) {
				t.Errorf("batch %d is announced as %q, want %q", batch, head, want)
			}
			bag = append(bag, messages...)
		}
		by := senders(t, bag)
		equal(t, "senders of a batch", len(by), int(p.Batch.Min))
		for sender, n := range by {
			if released[sender] || n != int(p.Messages()) {
				t.Errorf("sender %d has %d messages in batch %d, or was released before", sender, n, batch)
			}
			released[sender] = true
		}
	}
	if exists(filepath.Join(dir, "server", "3-1")) {
		t.Error("a third batch was released")
	}
	s, err := Start(filepath.Join(dir, "data"), Options{Upstream: directory{filepath.Join(dir, "server")}, Logger: zerolog.Nop()})
	must(t, err)
	defer s.Close()
	for i := range acknowledged {
		err := s.Accept(context.Background(), fixedToken(i), bundleOf(p, uint64(i)+1_000_000))
		if r, ok := refuse.As(err); !ok || r.Code != refuse.SpentToken {
			t.Errorf("token %d, whose bundle was acknowledged, brings another one: %v", i, err)
		}
		if !released[uint64(i)] && s.Accept(context.Background(), fixedToken(i), bundleOf(p, uint64(i))) != nil {
			t.Errorf("bundle %d was acknowledged and is lost", i)
		}
	}
	if len(acknowledged) < 50 {
		t.Errorf("%d acknowledged bundles say little", len(acknowledged))
	}
}
