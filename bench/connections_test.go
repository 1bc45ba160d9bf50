package bench

import (
	"testing"
	"time"
)

// BenchmarkConnections asks trivial private queries, each a new charge, from one connection and
// from eight by turns, and reports how many times as many a second eight get. The clients are a
// process of their own, so that the server's processor time is known apart. Where both run on the
// same cores, the ratio cannot exceed cores · (time of one query alone) / (processor time of one
// query).
func BenchmarkConnections(b *testing.B) {
	const many, each = 8, 400
	addr, _ := startAt(b, 10_000, 1000, 4, *benchType)
	clients := startChild(b, "TestClients")
	ask := func(n, queries int) (l load) {
		before := worked()
		clients.call(b, order{addr, password, "private", n, queries}, &l)
		l.Server = worked() - before
		return l
	}
	ask(many, many*each)
	var ratios, bounds []time.Duration // in thousandths, for median
	var one, eight load
	for b.Loop() {
		one, eight = ask(1, each/2), ask(many, each)
		ratios = append(ratios, time.Duration(eight.rate()/one.rate()*1000))
		// processors that were busy
		work := (eight.serverEach() + eight.clientEach()) * eight.rate() / 1000
		bounds = append(bounds, time.Duration(work*1000))
	}
	b.ReportMetric(float64(median(ratios))/1000, "eight/one")
	b.ReportMetric(float64(median(bounds))/1000, "busy-cores")
	report(b, "one", one)
	report(b, "eight", eight)
}

func report(b *testing.B, who string, l load) {
	b.ReportMetric(l.rate(), who+"/s")
	b.ReportMetric(l.Median.Seconds()*1e3, who+"-median-ms")
	b.ReportMetric(l.serverEach(), who+"-server-cpu-ms")
	b.ReportMetric(l.clientEach(), who+"-client-cpu-ms")
}
