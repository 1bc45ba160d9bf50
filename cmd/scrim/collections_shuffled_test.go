package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"scrim/engine/collections/contribute"
	"scrim/test/testenv"
)

// wages is the survey of the shuffle model.
func wages() survey {
	s := survey{protocol: "SHUF_SUM", declaration: `"epsilon": 1, "trust": "separate"`, lo: 0, hi: 120, mean: 45, sd: 20, rounds: 1}
	s.people, s.absent, s.programs, s.often = 150, 10, 4, 40
	if *collectionsFull {
		s.people, s.absent, s.programs, s.often = 10_000, 100, 40, 200
	}
	return s
}

// careful is how many people of a shuffled collection send their bundle twice, and try to send a
// second one.
const careful = 20

// TestShuffledCollection runs a collection whose bundles go through a shuffler of its own process,
// which is killed while it takes them and while it releases them. Every bundle that was
// acknowledged is in the one batch that the server gets, once.
func TestShuffledCollection(t *testing.T) { estimated(t, farForLaplace, shuffledCollection) }

func shuffledCollection(t *testing.T, seed uint64) float64 {
	s, r := wages(), rand.New(rand.NewPCG(seed, 2))
	host := newHost(t)
	host.root().must(t, "CREATE DATABASE survey", "CREATE USER contributor IDENTIFIED BY 'no secret'",
		"CREATE USER mixer IDENTIFIED BY 'a secret'", "GRANT shuffler TO mixer", s.create("commute"), "CALL dp_open_collection('commute')")
	direct := (*breaks)(nil).pool(t, host.addr, "contributor", "no secret", false)
	params := host.params(t, direct, "commute", 1)
	m := newMixer(t, host.addr, params)
	tokens := m.tokens(t, s.people+s.absent)
	values, truth := s.values(r)
	c := &crowd{collection: "commute"}
	for i, v := range values {
		c.people = append(c.people, &person{token: tokens[i], value: v})
	}
	late := tokens[s.people:]
	sendTwice(t, m, params, c.people[:careful])
	users := c.people[careful:][:s.programs]
	c.people = c.people[careful+s.programs:]

	start := time.Now()
	b := &breaks{rand: rand.New(rand.NewPCG(r.Uint64(), 1)), often: s.often}
	for i, text := range []bool{false, true} {
		c.server[i] = b.pool(t, host.addr, "contributor", "no secret", text)
		c.shuffler[i] = b.pool(t, m.addr, "contributor", "", text)
	}
	programs := host.randomize(t, "commute", users, "--shuffler", m.addr)
	c.contribute(t, map[float64]func(){0.1 + 0.8*r.Float64(): m.again})
	programs.Wait()
	t.Logf("%d people, %d of them by scrim randomize; %d connections broke, %d calls more than one a person; %v",
		s.people, s.programs, b.count.Load(), c.tries.Load(), time.Since(start).Round(time.Millisecond))
	if t.Failed() {
		return 0
	}
	m.release(t, host, s.people)
	host.wantBatch(t, params, s.people)
	m.again() // what was released is not released again
	m.wantStatus(t, "ACKNOWLEDGED", s.people)
	refusedLate(t, m, params, late[0])
	host.wantBatch(t, params, s.people)
	host.root().must(t, "CALL dp_next_round('commute')")
	return host.deviation(t, "SELECT SHUFFLE_MEAN(msg), SHUFFLE_STDERR(msg) FROM survey.commute", truth)
}

const intoInbox = "INSERT INTO inbox (token, bundle) VALUES (?, ?)"

// sendTwice has people send the same bundle twice, and another one, which must be refused.
func sendTwice(t *testing.T, m *mixer, params *contribute.Params, people []*person) {
	t.Helper()
	db := m.pool(t)
	for _, p := range people {
		for n := range 3 {
			if n != 1 { // the second time it is the wallet of the first
				p.wallet = contribute.InMemory(contribute.DefaultCaps())
			}
			pin, err := contribute.AskPin(context.Background(), db, params)
			if err != nil {
				t.Fatal(err)
			}
			bundle, err := p.wallet.Bundle(pin, params, p.token, contribute.Number(p.value))
			if err != nil {
				t.Fatal(err)
			}
			_, err = db.Exec(intoInbox, p.token.Secret[:], bundle)
			if n < 2 && err != nil {
				t.Errorf("the bundle, time %d: %v", n+1, err)
			}
			if n == 2 && (err == nil || !strings.Contains(err.Error(), "45D22")) {
				t.Errorf("a second bundle with the same token: %v, want 45D22", err)
			}
		}
	}
}

// refusedLate checks that a token that was not used in time is of no use any more.
func refusedLate(t *testing.T, m *mixer, params *contribute.Params, token contribute.Token) {
	t.Helper()
	w := contribute.InMemory(contribute.DefaultCaps())
	pin, err := contribute.AskPin(context.Background(), m.pool(t), params)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Bundle(pin, params, token, contribute.Number(1)); err != nil {
		t.Fatal(err)
	}
	if err := w.SendBundle(context.Background(), m.pool(t), params.UUID); state(err) != "45D23" {
		t.Errorf("a bundle after the batch was closed: %v, want 45D23", err)
	}
}

// wantBatch checks that the server has one batch, with every message of n people.
func (h *host) wantBatch(t *testing.T, params *contribute.Params, n int) {
	t.Helper()
	messages := n * int(params.Messages())
	got := h.root().must(t, "SELECT collection, n_reports, n_messages, n_broken, refused FROM dp.collection_batches")
	if want := fmt.Sprintf("[[commute %d %d 0 NULL]]", n, messages); fmt.Sprint(got) != want {
		t.Errorf("the server's batches are %v, want %s", got, want)
	}
	if stored := h.root().must(t, "SELECT COUNT(*) FROM survey.commute")[0][0]; stored != fmt.Sprint(messages) {
		t.Errorf("%s messages are stored, want %d", stored, messages)
	}
}

// mixer is a shuffler that is killed and started again at the same address.
type mixer struct {
	t    *testing.T
	dir  string
	addr string
	args []string
	p    *process
}

func newMixer(t *testing.T, upstream string, params *contribute.Params) *mixer {
	t.Helper()
	m := &mixer{t: t, dir: filepath.Join(t.TempDir(), "shuffler"), addr: fixedAddress(t)}
	m.args = []string{"shuffle", "--data", m.dir, "--listen", m.addr, "--upstream", "mixer:a secret@tcp(" + upstream + ")/",
		"--pin", fmt.Sprintf("commute:%x", params.Fingerprint())}
	m.begin()
	return m
}

func (m *mixer) begin() {
	p, err := begin(os.Environ(), "", m.args...)
	if err != nil {
		m.t.Errorf("the shuffler does not start: %v", err)
		return
	}
	m.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	m.p = p
}

// again kills the shuffler and starts it again.
func (m *mixer) again() {
	start := time.Now()
	m.p.kill()
	m.begin()
	m.t.Logf("the shuffler was killed and is there again after %v", time.Since(start).Round(time.Millisecond))
}

func (m *mixer) pool(t *testing.T) *sql.DB {
	return (*breaks)(nil).pool(t, m.addr, "contributor", "", false)
}

// command runs one of the operator's commands.
func (m *mixer) command(t *testing.T, name string, args ...string) string {
	t.Helper()
	var errs strings.Builder
	cmd := exec.Command("scrim", append([]string{"shuffle", name, "--data", m.dir}, args...)...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("scrim shuffle %s: %v: %s", name, err, errs.String())
	}
	return string(out)
}

func (m *mixer) tokens(t *testing.T, n int) []contribute.Token {
	t.Helper()
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSpace(m.command(t, "tokens", "--collection", "commute", "--count", fmt.Sprint(n))), "\n")[1:] {
		rows = append(rows, strings.Split(line, "\t"))
	}
	if len(rows) != n {
		t.Fatalf("%d tokens, want %d", len(rows), n)
	}
	return tokensOf(t, rows)
}

// batch is what the operator sees of one.
type batch struct {
	State   string `json:"state"`
	Reports int    `json:"reports"`
	Sent    int    `json:"parts_sent"`
	Parts   int    `json:"parts"`
	Note    string `json:"note"`
}

func (m *mixer) status(t *testing.T) (list []batch) {
	t.Helper()
	if err := json.Unmarshal([]byte(m.command(t, "status", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func (m *mixer) wantStatus(t *testing.T, state string, reports int) {
	t.Helper()
	if list := m.status(t); len(list) != 1 || list[0].State != state || list[0].Reports != reports {
		t.Errorf("the shuffler's batches are %+v, want one of %d reports that is %s", list, reports, state)
	}
}

// release closes the batch. Shuffler and server are killed at once, and where the batch has several
// parts the shuffler again when the server has the first.
func (m *mixer) release(t *testing.T, host *host, reports int) {
	t.Helper()
	start := time.Now()
	m.wantStatus(t, "OPEN", reports)
	m.command(t, "close", "--collection", "commute", "--no-wait")
	var both sync.WaitGroup
	both.Go(m.again)
	both.Go(host.again)
	both.Wait()
	killed := false
	testenv.Succeeds(t, 2*patience, "the release", func() error {
		b := m.status(t)[0]
		if b.State == "ACKNOWLEDGED" {
			return nil
		}
		if !killed && b.Sent > 0 {
			killed = true
			m.again()
			t.Logf("the batch was %+v and is %+v", b, m.status(t))
		}
		return fmt.Errorf("the batch is %+v", b)
	})
	t.Logf("the batch was released in %v", time.Since(start).Round(time.Millisecond))
	m.wantStatus(t, "ACKNOWLEDGED", reports)
}
