package collections

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"scrim/engine/collect"
)

// BenchmarkAccept accepts reports one a call from 8 and from 64 connections, into a collection of 100,000 tokens on a store on disk. It
// reports accepted reports a second.
func BenchmarkAccept(b *testing.B) {
	for _, workers := range []int{1, 8, 64} {
		b.Run(map[int]string{1: "1", 8: "8", 64: "64"}[workers], func(b *testing.B) {
			w := testWorld(b)
			w.create("commute", collect.LDPBit, func(d *collect.Declaration) { d.Expected = 100_000 })
			tokens := w.issue("commute", max(b.N, 100_000))
			w.open("commute")
			list := make([]Submission, b.N)
			for i := range list {
				list[i] = w.report("commute", tokens[i], collect.Value{50})
			}
			must(b, w.Accept(context.Background(), "commute", nil))
			b.ResetTimer()
			var next atomic.Int64
			var all sync.WaitGroup
			for range workers {
				all.Go(func() {
					for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
						if err := w.Accept(context.Background(), "commute", list[i:i+1]); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reports/s")
		})
	}
}
