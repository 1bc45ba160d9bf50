package collections

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/issue"
	"scrim/engine/store/duckdb"
	"scrim/internal/refuse"
)

// The tests here run this test binary again as a child that brings a collection from round to
// round, and kill it. Every child sends what the ones before have sent, whether it was acknowledged
// or not, as contributors do that retry.

const childVariable = "SCRIM_COLLECTIONS_CHILD"

var (
	full = flag.Bool("full", false, "kill more often than the tests do otherwise")
	seed = flag.Uint64("seed", 1, "of the moments at which children are killed")
)

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

// killTokens is how many people take part: enough for both rounds of declared[LDP_KV2].
const killTokens = 4000

// fixedToken and fixedReport are the same in every process: what is sent again has the same bytes.
func fixedToken(i int) Token {
	h := sha256.Sum256(fmt.Append(nil, "token ", i))
	return Token{Secret: [issue.TokenSize]byte(h[:issue.TokenSize])}
}

// fixedSecret is its bytes.
func fixedSecret(i int) []byte {
	secret := fixedToken(i).Secret
	return secret[:]
}

func fixedReport(p *collect.Params, i int, cell uint32) ([]byte, error) {
	return device.Report(exact.New(rand.NewPCG(uint64(i), 7)), p, cell, collect.Value{float64(40 + i%9)})
}

// child runs "path|point|n": it opens the collections and goes on with survey.commute until it is
// FINAL, and kills itself at the n-th passing of a point.
func child(spec []string) error {
	st, err := duckdb.Open(spec[0], duckdb.Options{Threads: 2})
	if err != nil {
		return err
	}
	c, err := New(context.Background(), st)
	if err != nil {
		return err
	}
	if spec[1] != "" {
		n, _ := strconv.Atoi(spec[2])
		c.hook = func(point string) {
			if point == spec[1] {
				if n--; n == 0 {
					_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
					time.Sleep(time.Minute)
				}
			}
		}
	}
	fmt.Println("open")
	if err := finish(c); err != nil {
		return err
	}
	if err := c.Shutdown(); err != nil {
		return err
	}
	return st.Close()
}

// finish brings survey.commute to FINAL.
func finish(c *Collections) error {
	ctx := context.Background()
	for {
		s, _ := c.Lookup("commute")
		if s.State == Final {
			fmt.Println("final")
			return nil
		}
		if s.State == Open {
			if err := sendAll(c, s.Round); err != nil {
				return err
			}
			if rand.IntN(3) == 0 { // the way by Close and Open, too
				if err := c.Close(ctx, "commute"); err != nil {
					return err
				}
				if err := c.Open(ctx, "commute"); err != nil {
					return err
				}
			}
		}
		if err := c.Next(ctx, "commute"); err != nil {
			return err
		}
	}
}

// sendAll sends the reports of all tokens of a round from several connections, and says which were
// acknowledged.
func sendAll(c *Collections, round int) error {
	places := map[int]uint32{}
	for i := range killTokens {
		h := sha256.Sum256(fixedSecret(i))
		c.writing.Lock()
		x, err := c.index(context.Background(), c.names["commute"])
		if err == nil {
			if t := x.find(keyOf(h[:])); int(t.place.round) == round {
				places[i] = t.place.cell
			}
		}
		c.writing.Unlock()
		if err != nil {
			return err
		}
	}
	p, err := c.Params("commute", round, "")
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	var failed error
	queue := make(chan int, len(places))
	for i := range places {
		queue <- i // in random order, as maps are
	}
	close(queue)
	for range 6 {
		all.Go(func() {
			for i := range queue {
				b, err := fixedReport(p, i, places[i])
				if err == nil {
					err = c.Accept(context.Background(), "commute", []Submission{{Token: fixedSecret(i), Report: b}})
				}
				mu.Lock()
				if err != nil {
					failed = err
				} else {
					fmt.Println("got", i)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return failed
}

// killWorld makes a store with survey.commute and fixed tokens, open, and closes it.
func killWorld(t *testing.T) string {
	w := testWorld(t)
	g := w.create("commute", collect.LDPKV2)
	col := w.names["commute"]
	var list []Token
	for round := 1; round <= 2; round++ {
		for _, cell := range g.Cells(round) {
			for range cell.Quota {
				tk := fixedToken(len(list))
				tk.Round, tk.Cell = round, cell.Cell
				list = append(list, tk)
			}
		}
	}
	must(t, w.write(context.Background(), func(tx tx) error { return tx.keepTokens(col, list) }, nil))
	w.open("commute")
	must(t, w.Shutdown())
	must(t, w.st.Close())
	return w.path
}

// runChild runs a child until it ends, hangs or is killed, and adds what it was told to got. With
// part it is killed after as many acknowledgements as reports, and that part of the time that they
// took.
func runChild(t *testing.T, spec string, reports int, part float64, got map[int]bool) (final bool) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"="+spec)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	kill := func() { _ = cmd.Process.Kill() }
	defer time.AfterFunc(3*time.Minute, kill).Stop()
	heard, start := 0, time.Now()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		word, value, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "open":
			start = time.Now()
		case "got":
			i, err := strconv.Atoi(value)
			must(t, err)
			got[i] = true
			if heard++; heard == reports && part > 0 {
				took := time.Since(start)
				defer time.AfterFunc(time.Duration(part*float64(took)), kill).Stop()
			}
		case "final":
			final = true
		default:
			t.Errorf("child says %q", lines.Text())
		}
	}
	_ = cmd.Wait() // killed, or ended
	return final
}

// inspect opens what a killed child has left and checks it to the last row: the tokens that are
// spent and the reports that are there belong together, and all that were acknowledged are among
// them.
func inspect(t *testing.T, path string, got map[int]bool) Summary {
	t.Helper()
	w := testReopen(t, path)
	defer func() { must(t, w.Shutdown()); must(t, w.st.Close()) }()
	s, _ := w.Lookup("commute")
	x, err := w.index(context.Background(), w.names["commute"])
	must(t, err)
	var want [][]byte
	for i := range killTokens {
		h := sha256.Sum256(fixedSecret(i))
		tk := x.find(keyOf(h[:]))
		if tk.free() {
			if got[i] {
				t.Fatalf("the report of token %d was acknowledged and is not there", i)
			}
			continue
		}
		p, err := w.Params("commute", int(tk.place.round), "")
		must(t, err)
		b, err := fixedReport(p, i, tk.place.cell)
		must(t, err)
		want = append(want, b)
	}
	var have [][]byte
	for _, r := range w.rows("SELECT report FROM survey.commute") {
		have = append(have, r[0].([]byte))
	}
	slices.SortFunc(want, bytes.Compare)
	slices.SortFunc(have, bytes.Compare)
	if !slices.EqualFunc(have, want, bytes.Equal) {
		t.Fatalf("%d reports for %d spent tokens, or other ones", len(have), len(want))
	}
	received := uint64(0)
	for _, c := range w.Cells() {
		received += c.Received
	}
	equal(t, "reports counted", int(received), len(have))
	w.denied(want)
	return s
}

// denied tries a spent token with other bytes.
func (w world) denied(reports [][]byte) {
	w.t.Helper()
	for _, b := range reports[:min(1, len(reports))] {
		for i := range killTokens {
			h := sha256.Sum256(fixedSecret(i))
			if tk := w.names["commute"].tokens.find(keyOf(h[:])); !tk.free() {
				other := append(bytes.Clone(b), 1)
				wantCode(w.t, "other bytes after a kill", w.Accept(context.Background(), "commute", []Submission{{Token: fixedSecret(i), Report: other}}), refuse.SpentToken)
				return
			}
		}
	}
}

func TestKillAtNamedPoints(t *testing.T) {
	path, got := killWorld(t), map[int]bool{}
	points := []string{"before-commit", "after-commit", "between"}
	r := rand.New(rand.NewPCG(*seed, 1))
	times := 6
	if *full {
		times = 60
	}
	for i := range times {
		n := 1 + r.IntN(40)
		if points[i%3] == "between" {
			n = 1
		}
		if runChild(t, fmt.Sprintf("%s|%s|%d", path, points[i%3], n), 0, 0, got) {
			path, got = killWorld(t), map[int]bool{} // it was faster than the point: begin anew
			continue
		}
		inspect(t, path, got)
	}
}

func TestKillAtRandomTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 2))
	times := 5
	if *full {
		times = 80
	}
	path, got, lines := killWorld(t), map[int]bool{}, 0
	for range times {
		final := runChild(t, path+"||", 40+r.IntN(killTokens/3), 0.001+r.Float64()/2, got)
		s := inspect(t, path, got)
		lines += len(got)
		if final || s.State == Final {
			path, got = killWorld(t), map[int]bool{}
		}
	}
	if lines < 100 {
		t.Errorf("only %d acknowledgements: the children did next to nothing", lines)
	}
	// What is left goes on to its end.
	if !runChild(t, path+"||", 0, 0, got) {
		t.Error("the collection could not be finished")
	}
	equal(t, "state at the end", inspect(t, path, got).State, Final)
	equal(t, "acknowledged at the end", len(got), killTokens)
}
