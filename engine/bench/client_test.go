package bench

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

// variables of the process that is the clients: where the server is, and what they ask.
const (
	clientAddr  = "SCRIM_BENCH_ADDR"
	clientQuery = "SCRIM_BENCH_QUERY"
)

// order tells the clients what to ask; their answer is a load without the server's part.
type order struct{ Clients, Queries int }

// startClients starts a process of eight clients, and returns how so many of them are told to ask so many queries.
func startClients(b *testing.B, addr, query string) func(clients, queries int) load {
	b.Helper()
	c := exec.Command(os.Args[0], "-test.run", "^TestClients$", "-test.v=false")
	c.Env = append(os.Environ(), clientAddr+"="+addr, clientQuery+"="+query)
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
	to, from := json.NewEncoder(in), json.NewDecoder(bufio.NewReader(out))
	return func(clients, queries int) load {
		b.Helper()
		var l load
		before := worked()
		if err := to.Encode(order{clients, queries}); err != nil {
			b.Fatal(err)
		}
		if err := from.Decode(&l); err != nil {
			b.Fatal(err)
		}
		l.Server = worked() - before
		return l
	}
}

// TestClients is the process of the clients. By itself it does nothing.
func TestClients(t *testing.T) {
	addr := os.Getenv(clientAddr)
	if addr == "" {
		return
	}
	c := &clients{query: asked[os.Getenv(clientQuery)]}
	for range 8 {
		c.conns = append(c.conns, connect(t, addr, "bench"))
	}
	from, to := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := from.Decode(&o); err != nil {
			return
		}
		before := worked()
		took := c.ask(t, o.Clients, o.Queries)
		if err := to.Encode(load{Queries: o.Queries, Took: took, Clients: worked() - before}); err != nil {
			t.Fatal(err)
		}
	}
}
