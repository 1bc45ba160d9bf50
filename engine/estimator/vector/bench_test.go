package vector

import (
	"flag"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

var (
	benchPersons = flag.Int("vector.persons", 10_000, "persons of the dense benchmarks")
	benchDim     = flag.Int("vector.dim", 128, "dimension of the dense benchmarks")
	benchRuns    = flag.Int("vector.runs", 5, "runs of an estimator, each beside one of the exact sum")
)

// benchVectors is a block of normal vectors about 10^6 with spreads 2^12 to 2^18, made once.
var benchVectors = sync.OnceValue(func() *estimator.Block {
	const chunk = 1 << 14
	b := &estimator.Block{Dim: *benchDim, Chunks: make([]estimator.Chunk, (*benchPersons+chunk-1)/chunk)}
	var all sync.WaitGroup
	for k := range b.Chunks {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(k)))
			n := min(chunk, *benchPersons-k*chunk)
			x := make([]int64, n*b.Dim)
			for i := range x {
				x[i] = int64(1e6 + r.NormFloat64()*float64(int(1)<<(12+i%b.Dim%7)))
			}
			b.Chunks[k] = estimator.Chunk{Persons: n, Dense: x}
		})
	}
	all.Wait()
	return b
})

// exactSum adds up a dense block on all cores, four vectors at a time: the base that estimators are
// compared with.
func exactSum(b *estimator.Block) []int64 {
	sum := make([]int64, b.Dim)
	var mu sync.Mutex
	eachPiece(b, func(piece estimator.Chunk, _ int) {
		own, x, d := make([]int64, b.Dim), piece.Dense, b.Dim
		for ; len(x) >= 4*d; x = x[4*d:] {
			addFour(own, x[:d], x[d:2*d], x[2*d:3*d], x[3*d:4*d])
		}
		for ; len(x) > 0; x = x[d:] {
			for j, v := range x[:d] {
				own[j] += v
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for j, v := range own {
			sum[j] += v
		}
	})
	return sum
}

func addFour(sum, x, y, z, w []int64) {
	sum, y, z, w = sum[:len(x)], y[:len(x)], z[:len(x)], w[:len(x)]
	for j, v := range x {
		sum[j] += v + y[j] + z[j] + w[j]
	}
}

// alike counts consecutive draws of one variance: those of a histogram, of a search, of a sum.
type alike struct {
	noise.Noiser
	last noise.Variance
	runs []int
}

func (a *alike) GaussianInt(v int64, sigma2 noise.Variance) int64 {
	if len(a.runs) == 0 || sigma2 != a.last {
		a.runs, a.last = append(a.runs, 0), sigma2
	}
	a.runs[len(a.runs)-1]++
	return a.Noiser.GaussianInt(v, sigma2)
}

// timed returns the seconds that a run takes and the processor's seconds.
func timed(f func()) (wall, cpu float64) {
	start, busy := time.Now(), processor()
	f()
	return time.Since(start).Seconds(), processor() - busy
}

func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// BenchmarkDense sizes whole means, with all that they release: the number of persons, the first
// look, centre, scales, radius, sum. Nothing is declared but the grid. Each run has one of the
// exact sum beside it; the numbers are medians, cpu-ratio that of the processor's times. rounds are
// those of the searches of centre and scales.
func BenchmarkDense(b *testing.B) {
	for _, c := range []struct {
		name   string
		method Method
		rotate bool
	}{{"clipped", Clipped, false}, {"shifted", Shifted, false}, {"rotated", Shifted, true}, {"plan", Plan, false}} {
		b.Run(c.name, func(b *testing.B) {
			p := planParams(*benchDim, 1)
			p.Method, p.Rotate = c.method, c.rotate
			benchDense(b, p)
		})
	}
}

func benchDense(b *testing.B, p Params) {
	x, m := benchVectors(), newMean(b, p)
	var ours, base, cpu, baseCPU []float64
	n := &alike{Noiser: noise.Secure()}
	for b.Loop() {
		for range *benchRuns {
			w, c := timed(func() { exactSum(x) })
			base, baseCPU = append(base, w), append(baseCPU, c)
			n.runs = nil
			w, c = timed(func() {
				if e := m.Release(n, estimator.Input{Persons: x.Persons(), Vectors: x}); e.Status != estimator.OK {
					b.Fatalf("needs %d persons", m.MinPersons())
				}
			})
			ours, cpu = append(ours, w), append(cpu, c)
		}
	}
	b.ReportMetric(middle(ours)*1e3, "ms")
	b.ReportMetric(middle(cpu)*1e3, "cpu-ms")
	b.ReportMetric(middle(base)*1e3, "base-ms")
	b.ReportMetric(middle(ours)/middle(base), "ratio")
	b.ReportMetric(middle(cpu)/middle(baseCPU), "cpu-ratio")
	b.ReportMetric(float64(n.rounds(p)), "rounds")
	b.ReportMetric(0, "ns/op")
}

// rounds returns the rounds of all searches, from the draws: the number of persons, spread and
// reach come before them, the radius after.
func (a *alike) rounds(p Params) int {
	if p.Method == Clipped {
		return 0
	}
	draws, dim := 0, p.Dim
	for _, n := range a.runs[3 : len(a.runs)-1] {
		draws += n
	}
	if p.Rotate {
		dim = 1 << bits.Len(uint(p.Dim-1))
	}
	return (draws + dim/2) / dim
}

func middle(x []float64) float64 { return slices.Sorted(slices.Values(x))[len(x)/2] }
