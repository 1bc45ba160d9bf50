package bench

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// role is the variable that makes a process of this test binary something else than the benchmark.
const role = "SCRIM_BENCH_ROLE"

// question is what clients ask again and again: a text, or a prepared statement with arguments.
type question struct {
	text func(i int64) string
	args func(i int64) []any // nil: the text is not prepared
}

// asked are the questions by name. Each private one asks for another ε, so that none is a replay.
var asked = map[string]question{
	"private": {text: func(i int64) string {
		return fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=%.9f) */ COUNT(*) FROM t", 0.01+float64(i)*1e-7)
	}},
	"one":  {text: func(int64) string { return "SELECT 1" }},
	"rows": {text: func(int64) string { return "SELECT * FROM items" }},
	"group": {
		text: func(int64) string {
			return "SELECT dept, COUNT(*), AVG(price) FROM items WHERE k >= ? GROUP BY dept ORDER BY dept"
		},
		args: func(i int64) []any { return []any{i % 100} },
	},
	// Another argument each time, so that no result is one that was asked before.
	"group-new": {
		text: func(int64) string {
			return "SELECT dept, COUNT(*), AVG(price) FROM items WHERE k >= ? GROUP BY dept ORDER BY dept"
		},
		args: func(i int64) []any { return []any{-i} },
	},
}

// order tells the clients what to ask, of whom, and how many they are.
type order struct {
	Addr, Password, Question string
	Clients, Queries         int
}

// load is what a number of queries took.
type load struct {
	Queries         int
	Took            time.Duration
	Median          time.Duration // of one query
	Server, Clients time.Duration // processor time
}

func (l load) rate() float64 { return float64(l.Queries) / l.Took.Seconds() }

// serverEach is the server's processor time of a query, in milliseconds.
func (l load) serverEach() float64 { return l.Server.Seconds() * 1e3 / float64(l.Queries) }

// clientEach is the clients' processor time of a query, in milliseconds.
func (l load) clientEach() float64 { return l.Clients.Seconds() * 1e3 / float64(l.Queries) }

// child is a process of this binary that answers each line of JSON with one.
type child struct {
	to   *json.Encoder
	from *json.Decoder
}

// startChild starts a process that runs one test in a role; it ends with the benchmark.
func startChild(b *testing.B, test string) *child {
	b.Helper()
	c := exec.Command(os.Args[0], "-test.run", "^"+test+"$")
	c.Env = append(os.Environ(), role+"="+test)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(io.Discard, out)
		if err := c.Wait(); err != nil {
			b.Error(err)
		}
	})
	return &child{json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))}
}

func (c *child) call(b *testing.B, question, answer any) {
	b.Helper()
	if err := c.to.Encode(question); err != nil {
		b.Fatal(err)
	}
	if err := c.from.Decode(answer); err != nil {
		b.Fatal(err)
	}
}

// serveChild answers a child's questions until its parent ends them. By itself the test does
// nothing.
func serveChild[Q, A any](t *testing.T, answer func(Q) A) {
	if os.Getenv(role) != t.Name() {
		return
	}
	from, to := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var q Q
		if err := from.Decode(&q); err != nil {
			return
		}
		if err := to.Encode(answer(q)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClients is the process of the clients.
func TestClients(t *testing.T) {
	conns := map[string][]*client{}
	serveChild(t, func(o order) load {
		key := o.Addr + " " + o.Question
		for len(conns[key]) < o.Clients {
			conns[key] = append(conns[key], newClient(t, o))
		}
		return measure(t, conns[key][:o.Clients], o)
	})
}

// client is a connection that asks one question.
type client struct {
	question
	conn *sql.Conn
	stmt *sql.Stmt
}

func newClient(t *testing.T, o order) *client {
	c := &client{question: asked[o.Question], conn: connectWith(t, o.Addr, "root", o.Password, "bench")}
	if c.args != nil {
		var err error
		if c.stmt, err = c.conn.PrepareContext(context.Background(), c.text(0)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// ask asks once and reads all rows.
func (c *client) ask(t *testing.T, i int64) {
	if c.stmt == nil {
		drain(t, c.conn, c.text(i))
		return
	}
	rows, err := c.stmt.QueryContext(context.Background(), c.args(i)...)
	if err != nil {
		t.Fatal(err)
	}
	exhaust(t, rows)
}

var askedSoFar atomic.Int64

// measure has the clients ask side by side.
func measure(t *testing.T, clients []*client, o order) load {
	took := make([][]time.Duration, len(clients))
	var wait sync.WaitGroup
	before := worked()
	l := load{Queries: o.Queries, Took: timed(func() {
		for i, c := range clients {
			wait.Go(func() {
				for range o.Queries / len(clients) {
					took[i] = append(took[i], timed(func() { c.ask(t, askedSoFar.Add(1)) }))
				}
			})
		}
		wait.Wait()
	})}
	l.Clients = worked() - before
	var all []time.Duration
	for _, d := range took {
		all = append(all, d...)
	}
	l.Median = median(all)
	return l
}
