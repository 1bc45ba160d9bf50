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
// many times as many a second eight get.
func BenchmarkConnections(b *testing.B) {
	const many, each = 8, 400
	addr, _ := startAt(b, 10_000, 1000, 4, *benchType)
	conns := make([]*sql.Conn, many)
	for i := range conns {
		conns[i] = connect(b, addr, "bench")
	}
	var n atomic.Int64
	rate := func(clients, queries int) float64 {
		var wait sync.WaitGroup
		took := timed(func() {
			for _, c := range conns[:clients] {
				wait.Go(func() {
					for range queries / clients {
						drain(b, c, fmt.Sprintf("SELECT /*+ SET_VAR(dp_epsilon=%.12f) */ COUNT(*) FROM t", 0.01+float64(n.Add(1))*1e-9))
					}
				})
			}
			wait.Wait()
		})
		return float64(queries) / took.Seconds()
	}
	rate(many, each)
	var ratios []time.Duration // in thousandths, for median
	one, eight := 0.0, 0.0
	for b.Loop() {
		one, eight = rate(1, each/2), rate(many, each)
		ratios = append(ratios, time.Duration(eight/one*1000))
	}
	b.ReportMetric(float64(median(ratios))/1000, "eight/one")
	b.ReportMetric(one, "one/s")
	b.ReportMetric(eight, "eight/s")
}
