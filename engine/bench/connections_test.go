package bench

import (
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkConnections asks trivial private queries, each a new charge, from one connection and from eight by turns, and reports how
// many times as many a second eight get. The clients are a process of their own, so that the server's processor time is known apart:
// with both on the same cores, the ratio cannot exceed cores · (time of a query by itself) / (processor time of a query).
func BenchmarkConnections(b *testing.B) {
	addr, _ := startAt(b, 10_000, 1000, 4, *benchType)
	compareConnections(b, startClients(b, addr, "private"))
}

// BenchmarkConnectionsBare is BenchmarkConnections for the least that a server can be asked: what the wire, the parser and the
// session take without a private query.
func BenchmarkConnectionsBare(b *testing.B) {
	addr, _ := startAt(b, 10_000, 1000, 4, *benchType)
	compareConnections(b, startClients(b, addr, "bare"))
}

// compareConnections measures one connection and eight by turns.
func compareConnections(b *testing.B, ask func(clients, queries int) load) {
	const many, each = 8, 400
	ask(many, many*each)
	var ratios []time.Duration // in thousandths, for median
	var one, eight load
	for b.Loop() {
		one, eight = ask(1, each/2), ask(many, many*each/8)
		ratios = append(ratios, time.Duration(eight.rate()/one.rate()*1000))
	}
	b.ReportMetric(float64(median(ratios))/1000, "eight/one")
	one.report(b, "one")
	eight.report(b, "eight")
}

// load is what a number of queries took.
type load struct {
	Queries         int
	Took            time.Duration
	Server, Clients time.Duration // processor time
}

func (l load) rate() float64 { return float64(l.Queries) / l.Took.Seconds() }

func (l load) report(b *testing.B, who string) {
	n := float64(l.Queries)
	b.ReportMetric(l.rate(), who+"/s")
	b.ReportMetric(l.Server.Seconds()*1e3/n, who+"-server-ms")
	b.ReportMetric(l.Clients.Seconds()*1e3/n, who+"-client-ms")
}

// asked are the queries of the clients, by name. Each private one asks for another ε, so that none is a replay.
var asked = map[string]func(i int64) string{
	"private": func(i int64) string {
		return fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=%.12f) */ COUNT(*) FROM t", 0.01+float64(i)*1e-7)
	},
	"bare": func(int64) string { return "SELECT 1" },
}

// clients are connections that ask queries side by side.
type clients struct {
	conns []*sql.Conn
	query func(int64) string
	asked atomic.Int64
}

// ask asks so many queries from so many connections.
func (c *clients) ask(tb testing.TB, n, queries int) time.Duration {
	var wait sync.WaitGroup
	return timed(func() {
		for _, conn := range c.conns[:n] {
			wait.Go(func() {
				for range queries / n {
					drain(tb, conn, c.query(c.asked.Add(1)))
				}
			})
		}
		wait.Wait()
	})
}
