package collections

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/issue"
	"scrim/engine/collections/collect/seal"
	"scrim/engine/store"
)

// BenchmarkAccept accepts reports one a call from 8 and from 64 connections, into a collection of
// 100,000 tokens on a store on disk. It reports accepted reports a second.
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
			must(b, w.Accept(context.Background(), "commute", list[:1]))
			b.ResetTimer()
			defer cpu(b)()
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

// reported makes a table of n reports of one round, of which some thousand are different, spread
// over the cells as tokens would be.
func reported(b *testing.B, w world, p *collect.Params, n int) store.TableRef {
	b.Helper()
	ref, r, d := store.TableRef{Schema: "survey", Name: "reports"}, exact.Secure(), device.New(p)
	seats := make([]issue.Seat[place], len(p.Cells))
	for i, c := range p.Cells {
		seats[i] = issue.Seat[place]{Place: place{cell: c.Cell}, Quota: c.Quota}
	}
	value := make(collect.Value, max(1, p.Declaration.Dimension))
	var rows [][]any
	for cell, k := range issue.Apportion(seats, uint64(n)) {
		for i := range k {
			if i >= 4096 { // again
				rows = append(rows, rows[len(rows)-4096])
				continue
			}
			value[0] = float64(i % 100)
			report, err := d.Report(r, uint32(cell), value)
			must(b, err)
			rows = append(rows, []any{int8(p.Round), uint32(cell), p.Stratum, w.day(), report})
		}
	}
	exact.Secure().Permute(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	must(b, w.write(context.Background(), func(tx tx) error {
		if err := tx.do("CREATE TABLE "+quoted(ref)+" ("+localColumns+")", ref); err != nil {
			return err
		}
		return tx.fill(ref, rows)
	}, nil))
	return ref
}

// cpu reports the processor time that an operation takes on all cores: others may be using the
// machine.
func cpu(b *testing.B) (done func()) {
	used := func() time.Duration {
		var r syscall.Rusage
		must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N)/1e6, "cpu-ms/op") }
}

// BenchmarkAggregate adds up a million reports and decodes them, beside the exact mean of a million
// doubles, for one stratum of a table.
func BenchmarkAggregate(b *testing.B) {
	const n = 1_000_000
	signs := make([]byte, 32)
	signs[0] = 1
	for _, tt := range []struct {
		name     string
		protocol collect.Protocol
		d        collect.Declaration
		round    int
	}{
		{"BRR", collect.LDPBit, collect.Declaration{Epsilon: 10000, Lo: 0, Hi: 100}, 1},
		{"KRR", collect.LDPUV1, collect.Declaration{Epsilon: 10000, Lo: 0, Hi: 100, SigmaMin: 5, SigmaMax: 20}, 1},
		{"OUE,h=5", collect.LDPHier, collect.Declaration{Epsilon: 10000, Lo: 0, Hi: 100, Levels: 5}, 1},
		{"HRR,D=4096", collect.LDPHaar, collect.Declaration{Epsilon: 10000, Lo: 0, Hi: 100, Levels: 12}, 1},
		{"SPHERE,d=8", collect.LDPSCM3, collect.Declaration{Epsilon: 10000, Dimension: 8, Centre: 20, SigmaMin: 1, SigmaMax: 2}, 3},
	} {
		b.Run(tt.name, func(b *testing.B) {
			w := testWorld(b)
			tt.d.Expected = n
			g, err := collect.Plan("survey.reports", newUUID(), tt.protocol, tt.d)
			must(b, err)
			var pub collect.Published
			var seed []byte
			if tt.protocol == collect.LDPSCM3 {
				pub, seed = collect.Published{Centre: make([]float64, 8), Clip: 10}, signs
			}
			p, err := g.Params(tt.round, "", pub, nil, seed)
			must(b, err)
			ref := reported(b, w, p, n)
			b.ResetTimer()
			defer cpu(b)()
			for b.Loop() {
				t, err := w.tallyLocal(context.Background(), ref, p)
				must(b, err)
				if _, err := evaluate(p, t); err != nil && !refused(err) {
					b.Fatal(err)
				}
				if t.Total() != n {
					b.Fatal(t.Total(), "reports")
				}
			}
		})
	}
	b.Run("exact-AVG", func(b *testing.B) {
		w := testWorld(b)
		must(b, w.write(context.Background(), func(tx tx) error {
			return tx.do("CREATE TABLE survey.x AS SELECT random() AS x, 1 AS round, '' AS stratum FROM range(1000000)", store.TableRef{Schema: "survey", Name: "x"})
		}, nil))
		b.ResetTimer()
		defer cpu(b)()
		for b.Loop() {
			must(b, w.Collections.own.ScanBytes(context.Background(), "SELECT CAST(1e6 * avg(x) AS BIGINT) FROM survey.x WHERE round = 1 AND stratum = ''", nil, func(store.BytesChunk) error { return nil }))
		}
	})
}

// BenchmarkLoadBatch opens, checks, stores and sums a batch of 100,000 reports of SHUF_SUM in parts
// of 65,536 messages. The goal is a minute on two cores.
func BenchmarkLoadBatch(b *testing.B) {
	const n, part = 100_000, 65_536 * seal.SealedSize
	w := testWorld(b)
	ctx := context.Background()
	w.create("commute", collect.ShufSum, func(d *collect.Declaration) { d.Expected, d.Delta = n, 1e-9 })
	w.open("commute")
	// Sealing takes longer than opening, and is the contributors'. Bundles that are in the bag
	// several times are as much work to open.
	some := w.bundles("commute", 1, "", 0, n/25, 50)
	bag := bytes.Repeat(some, 25)
	parts := (len(bag) + part - 1) / part
	b.ResetTimer()
	defer cpu(b)()
	for i := range b.N {
		start := time.Now()
		for j := range parts {
			_, err := w.LoadBatch(ctx, "commute", Part{Round: 1, Batch: i + 1, Reports: n, Part: j + 1, Parts: parts, Sealed: bag[j*part : min((j+1)*part, len(bag))]})
			must(b, err)
		}
		loaded := time.Since(start)
		e, err := w.Estimate(ctx, "commute", "")
		must(b, err)
		mean, stderr, err := e.Mean()
		must(b, err)
		b.Logf("%d messages in %v, summed in %v: %v ± %v", len(bag)/seal.SealedSize, loaded, time.Since(start)-loaded, mean, stderr)
	}
}
