//go:build unix

package device

import (
	"context"
	"syscall"
	"testing"
	"time"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/seal"
)

// BenchmarkBatch opens, checks and sums the bundles of 400 of the 10^5 contributors of SHUF_SUM on
// all cores, and states how long all of them take, and how much time of processors: 60 s are
// allowed on two cores.
func BenchmarkBatch(b *testing.B) {
	const n, bundles = 100_000, 400
	key, err := seal.Generate()
	if err != nil {
		b.Fatal(err)
	}
	p := planned(b, collect.ShufSum, n, "", 1)
	bag := bagOf(b, p, key, bundles)
	opener := seal.NewOpener(key, p.Fingerprint())
	b.ResetTimer()
	before := processor()
	for range b.N {
		messages, failed, err := opener.OpenAll(context.Background(), bag, nil)
		if err != nil || failed != 0 {
			b.Fatal(failed, err)
		}
		sum := uint64(0)
		for ; len(messages) > 0; messages = messages[seal.PlainSize:] {
			m := collect.Message(messages[:seal.PlainSize])
			if err := p.CheckMessageOf(0, m); err != nil {
				b.Fatal(err)
			}
			sum += m.Value()
		}
		if y := int64(sum<<(64-p.Batch.Bits)) >> (64 - p.Batch.Bits); y > bundles*int64(p.Batch.Grid)+int64(p.Batch.Tail) {
			b.Fatal("sum out of its window")
		}
	}
	b.ReportMetric((processor()-before).Seconds()/float64(b.N)*n/bundles, "cpu-s/batch")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*n/bundles, "s/batch")
	b.ReportMetric(float64(b.N)*float64(len(bag)/seal.SealedSize)/b.Elapsed().Seconds(), "opens/s")
}

// bagOf seals the messages of contributors, without the shuffle.
func bagOf(b *testing.B, p *collect.Params, key *seal.PrivateKey, bundles int) (bag []byte) {
	b.Helper()
	sealer, err := seal.NewSealer(key.Public(), p.Fingerprint())
	if err != nil {
		b.Fatal(err)
	}
	r, on := exact.Secure(), New(p)
	for range bundles {
		m, err := on.Messages(r, 0, collect.Value{3})
		if err != nil {
			b.Fatal(err)
		}
		bundle, err := seal.ShapeOf(p).Bundle(sealer, m)
		if err != nil {
			b.Fatal(err)
		}
		sealed, err := seal.ShapeOf(p).Check(bundle)
		if err != nil {
			b.Fatal(err)
		}
		bag = append(bag, sealed...)
	}
	return bag
}

// processor returns the time that this process has had on processors.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
