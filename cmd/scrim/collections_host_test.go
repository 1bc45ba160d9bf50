package main

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scrim/engine/collections/contribute"
)

// host is a server of collections that is killed and started again at the same address.
type host struct {
	t    *testing.T
	dir  string
	addr string
	mu   sync.Mutex
	p    *process
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, dir: filepath.Join(t.TempDir(), "server"), addr: fixedAddress(t)}
	h.p = serveFor(t, h.dir, "--listen", h.addr)
	return h
}

// again kills the server and starts it again.
func (h *host) again() {
	h.mu.Lock()
	defer h.mu.Unlock()
	start := time.Now()
	h.p.kill()
	p, err := launch(withPassword(), "", h.dir, "--listen", h.addr)
	if err != nil {
		h.t.Errorf("the killed server does not start again: %v", err)
		return
	}
	h.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	h.p = p
	h.t.Logf("the server was killed and is there again after %v", time.Since(start).Round(time.Millisecond))
}

// root opens a session of the DBA with the server that runs now.
func (h *host) root() *session {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.p.root(h.t)
}

// wantReports checks that a round holds one report for each of n spent tokens.
func (h *host) wantReports(t *testing.T, round, n int) {
	t.Helper()
	root := h.root()
	for what, query := range map[string]string{
		"stored reports":   "SELECT COUNT(*) FROM survey.commute WHERE round = %d",
		"received reports": "SELECT n_received FROM dp.collection_rounds WHERE collection = 'commute' AND round = %d",
		"spent tokens":     "SELECT CAST(SUM(n_spent) AS SIGNED) FROM dp.collection_tokens WHERE collection = 'commute' AND round = %d",
	} {
		if got := root.must(t, fmt.Sprintf(query, round))[0][0]; got != fmt.Sprint(n) {
			t.Errorf("round %d has %s %s, want the %d that were acknowledged", round, got, what, n)
		}
	}
}

// params fetches a round's parameters as contributors do.
func (h *host) params(t *testing.T, db *sql.DB, collection string, round int) *contribute.Params {
	t.Helper()
	p, err := contribute.FetchParams(context.Background(), db, collection, contribute.Token{Round: round})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// refuses checks that tokens of other rounds, and tokens that nobody issued, are refused.
func (h *host) refuses(t *testing.T, db *sql.DB, params *contribute.Params, absent []contribute.Token, round int) {
	t.Helper()
	foreign := map[string]contribute.Token{"45D21": {Secret: [16]byte{1, 2, 3}, Round: round}}
	for _, token := range absent {
		if token.Round != round {
			foreign["45D23"] = contribute.Token{Secret: token.Secret, Round: round}
		}
	}
	for want, token := range foreign {
		w := contribute.InMemory(contribute.DefaultCaps())
		if _, err := w.Report(params, token, contribute.Number(1)); err != nil {
			t.Fatal(err)
		}
		if err := w.Send(context.Background(), db, params.UUID); state(err) != want {
			t.Errorf("round %d: %v, want %s", round, err, want)
		}
	}
}

// deviation asks for an estimate with its standard error, and returns how many of these it is from
// the truth.
func (h *host) deviation(t *testing.T, query string, truth float64) float64 {
	t.Helper()
	row := h.root().must(t, query)[0]
	mean, stderr := number(t, row[0]), number(t, row[1])
	t.Logf("estimate %.4f with a standard error of %.4f; the truth is %.4f", mean, stderr, truth)
	if !(stderr > 0) {
		t.Fatalf("the standard error is %v", stderr)
	}
	if s := h.root().must(t, "SELECT state FROM dp.collections")[0][0]; s != "FINAL" {
		t.Errorf("the collection is %s, want FINAL", s)
	}
	return math.Abs(mean-truth) / stderr
}

// programsAtOnce is how many `scrim randomize` run at the same time.
const programsAtOnce = 4

// randomize has people report by `scrim randomize`, each with a wallet file. Who fails, because a
// server is away, calls the same command again. Wait for the end of all.
func (h *host) randomize(t *testing.T, collection string, people []*person, more ...string) *sync.WaitGroup {
	t.Helper()
	dir, work := t.TempDir(), make(chan int, len(people))
	for i := range people {
		work <- i
	}
	close(work)
	var all sync.WaitGroup
	for range programsAtOnce {
		all.Go(func() {
			for i := range work {
				args := append([]string{"randomize", "--dsn", "contributor:no secret@tcp(" + h.addr + ")/", "--collection", collection,
					"--token-file", filepath.Join(dir, fmt.Sprint(i, ".token")), "--wallet", filepath.Join(dir, fmt.Sprint(i, ".wallet")),
					fmt.Sprintf("--value=%v", people[i].value)}, more...)
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".token")), []byte(people[i].token.String()+"\n"), 0o600); err != nil {
					t.Error(err)
					return
				}
				if err := untilDone(args); err != nil {
					t.Errorf("person %d: %v", i, err)
					return
				}
			}
		})
	}
	return &all
}

// untilDone runs the program until it succeeds.
func untilDone(args []string) error {
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		out, err := exec.Command("scrim", args...).CombinedOutput()
		if err == nil {
			break
		}
		if time.Since(start) > patience || strings.Contains(string(out), "45D") {
			return fmt.Errorf("scrim %q: %w: %s", args, err, out)
		}
	}
	return nil
}
