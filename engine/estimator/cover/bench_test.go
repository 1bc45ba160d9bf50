package cover

import (
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"scrim/internal/stattest"
)

// worst are persons half of whom are far on one side and half on the other: no candidate loses at once, so that
// all take as long as any can.
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

// BenchmarkParts measures what cost.go counts, on persons for whom nothing is skipped. ns/part, in processor time, is to be compared with the constants;
// run it with -cpu 1.
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
