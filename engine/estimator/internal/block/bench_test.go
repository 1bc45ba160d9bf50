package block

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"scrim/engine/estimator"
)

var (
	benchPersons = flag.Int("bench.persons", 20_000, "persons of the block")
	benchDim     = flag.Int("bench.dim", 128, "dimension of the block")
	benchRuns    = flag.Int("bench.runs", 5, "runs of a pass, each beside one of the exact sum")
)

// benchBlock is a block of normal vectors about 10^6 with spreads 2^12 to 2^18, made once.
var benchBlock = sync.OnceValue(func() *estimator.Block {
	const chunk = 1 << 14
	b := &estimator.Block{Dim: *benchDim, Chunks: make([]estimator.Chunk, (*benchPersons+chunk-1)/chunk)}
	spread(len(b.Chunks), func(next func() (int, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			r := rand.New(rand.NewPCG(1, uint64(k)))
			n := min(chunk, *benchPersons-k*chunk)
			x := make([]int64, n*b.Dim)
			for i := range x {
				x[i] = int64(1e6 + r.NormFloat64()*float64(int(1)<<(12+i%b.Dim%7)))
			}
			b.Chunks[k] = estimator.Chunk{Persons: n, Dense: x}
		}
	})
	return b
})

// exactSum adds up a block in one pass of all cores: the base that the other passes are compared
// with.
func exactSum(b *estimator.Block) []int64 {
	rs := runs(b)
	var mu sync.Mutex
	total := make([]int64, b.Dim)
	spread(len(rs), func(next func() (int, bool)) {
		own, one := make([]int64, b.Dim), make([]int64, b.Dim)
		for k, ok := next(); ok; k, ok = next() {
			sumRun(one, rs[k].rows(b.Dim), summable)
			for j, v := range one {
				own[j] += v
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for j, v := range own {
			total[j] += v
		}
	})
	return total
}

// beside runs a pass and the exact sum in turn, and reports the medians of their times and of all
// processor's time.
func beside(b *testing.B, pass func(x *estimator.Block)) {
	x := benchBlock()
	var ours, base, cpu, baseCPU []float64
	for b.Loop() {
		for range *benchRuns {
			w, c := timed(func() { exactSum(x) })
			base, baseCPU = append(base, w), append(baseCPU, c)
			w, c = timed(func() { pass(x) })
			ours, cpu = append(ours, w), append(cpu, c)
		}
	}
	b.ReportMetric(median(ours)*1e3, "ms")
	b.ReportMetric(median(cpu)*1e3, "cpu-ms")
	b.ReportMetric(median(base)*1e3, "base-ms")
	b.ReportMetric(median(ours)/median(base), "ratio")
	b.ReportMetric(median(cpu)/median(baseCPU), "cpu-ratio")
	b.ReportMetric(0, "ns/op")
}

func median(x []float64) float64 {
	s := slices.Sorted(slices.Values(x))
	return s[len(s)/2]
}

// timed returns the seconds that pass and the processor's seconds.
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

func BenchmarkExactSum(b *testing.B) { beside(b, func(x *estimator.Block) { exactSum(x) }) }

func BenchmarkNorms(b *testing.B) { beside(b, func(x *estimator.Block) { Norms(x, nil, nil) }) }

// radiusOf is the norm that one person in a thousand passes: it stands for the choice of a radius.
func radiusOf(norms []float64) float64 {
	var h [1 << 12]int // cells of relative width 2^-4, counted as a search for a radius counts them
	axis := NewAxis(0, 1<<61, 0, 4)
	for _, v := range norms {
		h[axis.Cell(int64(v))]++
	}
	tail, k := 0, len(h)-1
	for ; k > 0 && tail < len(norms)/1000; k-- {
		tail += h[k]
	}
	return float64(axis.lowest(int64(k) + 2))
}

func benchClipped(x *estimator.Block, centre []int64, weights []float64) {
	norms, totals := Measure(x, centre, weights)
	totals.ClipSum(x, centre, norms, radiusOf(norms))
}

func BenchmarkClipSum(b *testing.B) {
	norms := Norms(benchBlock(), nil, nil)
	radius := radiusOf(norms)
	beside(b, func(x *estimator.Block) { ClipSum(x, nil, norms, radius) })
}

// BenchmarkClipped to BenchmarkPlan size estimators without their noise: centre, scales, norms,
// radius, sum.
func BenchmarkClipped(b *testing.B) {
	beside(b, func(x *estimator.Block) { benchClipped(x, nil, nil) })
}

// benchCentre searches medians in 24 rounds and more, as if without noise.
func benchCentre(x *estimator.Block, axis Axis) []int64 {
	n, centre := x.Persons(), make([]int64, x.Dim)
	for j, cell := range Bisect(x, axis, nil, func(_ int, m int64) bool { return 2*m < n }) {
		centre[j] = axis.Value(cell)
	}
	return centre
}

func centreAxis() Axis { return NewAxis(-1<<50, 1<<50-1, 0, 17) }

func BenchmarkBisectValues(b *testing.B) {
	beside(b, func(x *estimator.Block) { benchCentre(x, centreAxis()) })
}

// BenchmarkBisectEven searches an axis of 2^24 even cells.
func BenchmarkBisectEven(b *testing.B) {
	beside(b, func(x *estimator.Block) { benchCentre(x, NewAxis(-1<<23, 1<<23-1, 0, 63)) })
}

// scaleAxis is the axis of the scales of vectors whose norms are about 2^16·√dim (vector's
// dense.scaleAxis): two cells an octave from 1/(4·dim) to twice that.
func scaleAxis(dim int) Axis {
	spread := 1 << 16 * math.Sqrt(float64(dim))
	return NewAxis(0, int64(2*spread), max(0, int(math.Log2(spread/(4*float64(dim))))-1), 1)
}

func benchScales(x *estimator.Block, centre []int64) []float64 {
	n, axis, w := x.Persons(), scaleAxis(x.Dim), make([]float64, x.Dim)
	for j, cell := range Bisect(x, axis, centre, func(_ int, m int64) bool { return float64(m) < 0.5*float64(n) }) {
		w[j] = 1 / float64(max(1, axis.Value(cell)))
	}
	return w
}

func BenchmarkBisectDistances(b *testing.B) {
	centre := slices.Repeat([]int64{1e6}, *benchDim)
	beside(b, func(x *estimator.Block) { benchScales(x, centre) })
}

func BenchmarkShifted(b *testing.B) {
	beside(b, func(x *estimator.Block) { benchClipped(x, benchCentre(x, centreAxis()), nil) })
}

func BenchmarkPlan(b *testing.B) {
	beside(b, func(x *estimator.Block) {
		centre := benchCentre(x, centreAxis())
		benchClipped(x, centre, benchScales(x, centre))
	})
}

func BenchmarkRotate(b *testing.B) {
	signs := make([]bool, *benchDim)
	beside(b, func(x *estimator.Block) { Done(Rotate(x, signs, estimator.MaxUnits)) })
}
