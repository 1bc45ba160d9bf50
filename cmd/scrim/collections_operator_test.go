package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"scrim/engine/collections/contribute"
)

// TestCollectionOfOneOperator runs a collection whose declaration says that one operator runs
// shuffler and server, by the real commands: people who have not agreed to that send nothing and
// keep their token, those who agree are counted once, and their wallets keep what they agreed to.
func TestCollectionOfOneOperator(t *testing.T) { estimated(t, farForLaplace, collectionOfOneOperator) }

func collectionOfOneOperator(t *testing.T, seed uint64) float64 {
	s, r := wages(), rand.New(rand.NewPCG(seed, 3))
	s.declaration, s.people, s.programs = `"epsilon": 1, "trust": "same_operator"`, 120, 6
	host := newHost(t)
	host.root().must(t, "CREATE DATABASE survey", "CREATE USER contributor IDENTIFIED BY 'no secret'",
		"CREATE USER mixer IDENTIFIED BY 'a secret'", "GRANT shuffler TO mixer", s.create("commute"), "CALL dp_open_collection('commute')")
	direct := (*breaks)(nil).pool(t, host.addr, "contributor", "no secret", false)
	params := host.params(t, direct, "commute", 1)
	if !contribute.Trusting(params) {
		t.Fatal("the parameters do not say that one operator has both")
	}
	m := newMixer(t, host.addr, params)
	tokens := m.tokens(t, s.people)
	values, truth := s.values(r)
	c := &crowd{collection: "commute"}
	for i, v := range values {
		c.people = append(c.people, &person{token: tokens[i], value: v})
	}
	users, others := c.people[:s.programs], c.people[s.programs:]
	unwilling(t, host, m, users[0])
	m.wantNothing(t)

	host.randomize(t, "commute", users[1:], "--shuffler", m.addr, "--accept-trusted-operator").Wait()
	willing(t, host, m, users[0])
	for i, p := range others {
		p.wallet = contribute.InMemory(contribute.DefaultCaps())
		if i == 0 { // through the library, too, nothing is made before
			if err := p.wallet.Contribute(context.Background(), direct, m.pool(t), "commute", p.token, contribute.Number(p.value)); err == nil {
				t.Fatal("the library reports without consent")
			}
		}
		err := p.wallet.Contribute(context.Background(), direct, m.pool(t), "commute", p.token, contribute.Number(p.value), contribute.TrustedOperator)
		if err != nil {
			t.Fatal(err)
		}
	}
	if t.Failed() {
		return 0
	}
	m.release(t, host, s.people)
	host.wantBatch(t, params, s.people)
	host.root().must(t, "CALL dp_next_round('commute')")
	return host.deviation(t, "SELECT SHUFFLE_MEAN(msg), SHUFFLE_STDERR(msg) FROM survey.commute", truth)
}

// device is what scrim randomize is called with, for one person's wallet in a directory of its own.
func (p *person) device(t *testing.T, host *host, m *mixer, dir string, more ...string) (out string, err error) {
	t.Helper()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte(p.token.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"randomize", "--dsn", "contributor:no secret@tcp(" + host.addr + ")/", "--collection", "commute", "--shuffler", m.addr,
		"--token-file", token, "--wallet", filepath.Join(dir, "wallet"), fmt.Sprintf("--value=%v", p.value)}, more...)
	b, err := exec.Command("scrim", args...).CombinedOutput()
	return string(b), err
}

// unwilling is a person who has not agreed: the program says who could read the value, and makes
// nothing.
func unwilling(t *testing.T, host *host, m *mixer, p *person) {
	t.Helper()
	dir := t.TempDir()
	out, err := p.device(t, host, m, dir)
	if err == nil || !strings.Contains(out, "--accept-trusted-operator") || !strings.Contains(out, "one operator") && !strings.Contains(out, "ONE operator") {
		t.Errorf("without consent: %v: %s", err, out)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "wallet")); err == nil && strings.Contains(string(text), "survey.commute") {
		t.Errorf("without consent the wallet holds a report: %s", text)
	}
}

// willing is the same person, who agrees with another wallet: the token is good still, and the
// wallet keeps that there is no protection against the operator. Calling the program again sends
// nothing new.
func willing(t *testing.T, host *host, m *mixer, p *person) {
	t.Helper()
	dir := t.TempDir()
	for n := range 2 {
		if out, err := p.device(t, host, m, dir, "--accept-trusted-operator"); err != nil || !strings.Contains(out, oneOperator) {
			t.Fatalf("time %d: %v: %s", n+1, err, out)
		}
	}
	out, err := exec.Command("scrim", "wallet", "show", "--wallet", filepath.Join(dir, "wallet")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "NOT the operator") || !strings.Contains(string(out), "reports: 1,") {
		t.Errorf("scrim wallet show: %v: %s", err, out)
	}
}

// wantNothing checks that no bundle has come.
func (m *mixer) wantNothing(t *testing.T) {
	t.Helper()
	for start := time.Now(); time.Since(start) < 200*time.Millisecond; time.Sleep(50 * time.Millisecond) {
		for _, b := range m.status(t) {
			if b.Reports != 0 {
				t.Errorf("a bundle came: %+v", b)
			}
		}
	}
}
