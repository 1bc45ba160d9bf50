package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"scrim/engine/collections/contribute"
)

// person is one contributor: a device with a wallet of its own.
type person struct {
	token  contribute.Token
	value  float64
	wallet *contribute.Wallet
}

// crowd are people who contribute to one round at the same time, over pooled connections that
// break.
type crowd struct {
	collection string
	server     [2]*sql.DB // half of the people use each
	shuffler   [2]*sql.DB // nil in the local model
	people     []*person
	acked      atomic.Int64 // people whose report was acknowledged
	tries      atomic.Int64 // calls of Contribute beyond one a person
}

// atOnce is how many people of a crowd are busy at the same time.
const atOnce = 32

// contribute has everybody report. Each tries until the report is acknowledged: whatever happens to
// servers and connections, nobody may be refused. At every share of the crowd in then, what stands
// there is done meanwhile.
func (c *crowd) contribute(t *testing.T, then map[float64]func()) {
	t.Helper()
	work := make(chan int)
	var all sync.WaitGroup
	for range atOnce {
		all.Go(func() {
			for i := range work {
				c.report(t, i)
			}
		})
	}
	var events sync.WaitGroup
	for share, event := range then {
		events.Go(func() {
			for float64(c.acked.Load()) < share*float64(len(c.people)) && !t.Failed() {
				time.Sleep(time.Millisecond)
			}
			event()
		})
	}
	for i := range c.people {
		work <- i
	}
	close(work)
	all.Wait()
	events.Wait()
}

func (c *crowd) report(t *testing.T, i int) {
	p := c.people[i]
	p.wallet = contribute.InMemory(contribute.DefaultCaps())
	var shuffler contribute.DB
	if c.shuffler[i%2] != nil {
		shuffler = c.shuffler[i%2]
	}
	for start := time.Now(); ; c.tries.Add(1) {
		err := p.wallet.Contribute(context.Background(), c.server[i%2], shuffler, c.collection, p.token, contribute.Number(p.value))
		if err == nil {
			c.acked.Add(1)
			return
		}
		var refused *contribute.Refused
		if errors.As(err, &refused) && !refused.Temporary() || contribute.Code(err) != "" || time.Since(start) > patience {
			t.Errorf("person %d, whom nothing may keep from reporting once: %v", i, err)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// others returns a few of the crowd, drawn from a seed.
func (c *crowd) others(r *rand.Rand, n int) []*person {
	var out []*person
	for _, i := range r.Perm(len(c.people))[:min(n, len(c.people))] {
		out = append(out, c.people[i])
	}
	return out
}

// again has a person's device, which has been told that its report arrived, send the same bytes
// once more, as after a crash before it kept that. It has to be told the same again.
func (p *person) again(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	r := p.wallet.Records()
	if len(r) != 1 || len(r[0].Report) == 0 {
		t.Fatalf("the wallet holds %d records", len(r))
	}
	if _, err := db.Exec(statement, p.token.Secret[:], r[0].Report); err != nil {
		t.Errorf("the same bytes again: %v", err)
	}
}

// cheat has a person try to report a second time, with a wallet that knows nothing of the first
// one, and other bytes.
func (p *person) cheat(t *testing.T, db *sql.DB, params *contribute.Params) {
	t.Helper()
	first := p.wallet.Records()[0].Report
	for range 1000 {
		w := contribute.InMemory(contribute.DefaultCaps())
		second, err := w.Report(params, p.token, contribute.Number(p.value))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(first, second) {
			continue // short reports are often the same, and then are the harmless retry
		}
		if err := w.Send(context.Background(), db, params.UUID); state(err) != "45D22" {
			t.Errorf("a second report with the token %x: %v, want 45D22", p.token.Secret, err)
		}
		return
	}
	t.Error("a thousand reports of one value are the same")
}

// state is the SQLSTATE with which a server refused, or "".
func state(err error) string {
	var r *contribute.Refused
	if errors.As(err, &r) {
		return r.SQLState
	}
	return ""
}

// tokensOf reads rows of dp_issue_tokens, or of `scrim shuffle tokens`.
func tokensOf(t *testing.T, rows [][]string) (out []contribute.Token) {
	t.Helper()
	seen := map[[16]byte]bool{}
	for _, r := range rows {
		text := r[0]
		for _, cell := range r[1:] {
			text += "\t" + cell
		}
		token, err := contribute.ParseToken(text)
		if err != nil || token.Round == 0 || hex.EncodeToString(token.Secret[:]) != r[0] || seen[token.Secret] {
			t.Fatalf("token %v: %v", r, err)
		}
		seen[token.Secret] = true
		out = append(out, token)
	}
	return out
}
