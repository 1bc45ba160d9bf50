package cover

import (
	"fmt"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"scrim/test/stattest"
)

// worst are persons half of whom are far on one side and half on the other: no candidate loses at
// once, so that all take as long as any can.
func worst(p plan, n int) points {
	x := make(points, p.dim)
	for j := range x {
		x[j] = make([]int64, n)
		for i := range x[j] {
			x[j][i] = int64(1-2*(i%2)) << 50
		}
	}
	return x
}

// facts2 are those of spread-out persons in a range of ±half units.
func facts2(dim int, persons, half float64) facts {
	return facts{dim: dim, persons: persons, epsilon: 1, moment: 4, root: 1000, variance: 300_000, lo: -int64(half), hi: int64(half)}
}

// processorTime is the time that this process has computed for.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkParts measures what plan.go counts, on persons for whom nothing is skipped. ns/part, in
// processor time, is to be compared with the constants; run it with -cpu 1.
func BenchmarkParts(b *testing.B) {
	part := func(name string, count float64, work func()) {
		b.Run(name, func(b *testing.B) {
			from := processorTime()
			for b.Loop() {
				work()
			}
			b.ReportMetric(float64((processorTime()-from).Nanoseconds())/float64(b.N)/count, "ns/part")
		})
	}
	const n = 1 << 16
	f := facts2(2, n, 40_000)
	p, ok := f.plan(1000, 16, false)
	if !ok {
		b.Fatal("no plan")
	}
	centre, r := []int64{0, 0}, rand.New(rand.NewPCG(1, 2))
	x := worst(p, n)
	y := make([]int64, n)
	for i := range y {
		y[i] = r.Int64N(2*p.cells*ticks) - p.cells*ticks
		x[0][i] = y[i]
	}
	part("person", n*17, func() { newLine(p.project(x, centre, p.directions[1])) })
	l := newLine(y)
	part("position", float64(2*p.cells+1)*2*17, func() { p.positions(l) })
	c := p.newCover(worst(p, n), centre)
	part("candidate", p.candidates()*9, func() { c.counts() })
	for _, eps := range []float64{0.01, 1} {
		w, counts := newWeights(eps), make([]int64, int(500/eps))
		for i := range counts {
			counts[i] = 5
		}
		words := (weightBits+float64(len(counts))*eps/2/math.Ln2)/64 + 1
		part("weight", 2*float64(len(counts))*words, func() { w.draw(stattest.Noiser(b, "weights"), counts) })
	}
}

// BenchmarkRelease draws from covers for samples and for the worst persons there are. bound/time,
// the plan's seconds over the processor time taken, is to be 1 or more.
func BenchmarkRelease(b *testing.B) {
	for _, c := range []struct {
		dim           int
		persons, half float64
		alpha         float64
	}{{1, 3000, 1e9, 0}, {1, 1e6, 1e9, 0}, {2, 3000, 40_000, 0}, {2, 100_000, 1e9, 0}, {2, 3000, 1e6, 200}} {
		f := facts2(c.dim, c.persons, c.half)
		p, ok := f.smallest(usualSeconds)
		if c.alpha > 0 {
			p, ok = f.choose(c.alpha, maxSeconds)
		}
		if !ok {
			b.Fatal("no plan")
		}
		r, spread := rand.New(rand.NewPCG(1, 2)), make(points, c.dim)
		for j := range spread {
			for range int(c.persons) {
				spread[j] = append(spread[j], int64(500*r.NormFloat64()))
			}
		}
		for name, x := range map[string]points{"sample": spread, "worst": worst(p, int(c.persons))} {
			b.Run(fmt.Sprintf("%s/d=%d/n=%.0f/candidates=%.2g", name, c.dim, c.persons, p.candidates()), func(b *testing.B) {
				w, n, centre := newWeights(p.loss), stattest.Noiser(b, "release"), make([]int64, c.dim)
				from := processorTime()
				for b.Loop() {
					cover := p.newCover(x, centre)
					cover.find(w.draw(n, cover.counts()))
				}
				b.ReportMetric(p.seconds()*float64(b.N)/(processorTime()-from).Seconds(), "bound/time")
			})
		}
	}
}
