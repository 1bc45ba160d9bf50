package shuffle

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/test/stattest"
)

// nodeCounts are the counts of a batch: of the contributors' leaves on every level, and binomial
// noise at every node.
func nodeCounts(r *rand.Rand, p *collect.Params, leaves []uint64) []uint64 {
	h, n := p.Batch.Levels, uint64(0)
	counts := make([]uint64, geometry.Nodes(h))
	for leaf, c := range leaves {
		n += c
		for level := 1; level <= h; level++ {
			counts[geometry.Node(level, geometry.Ancestor(uint64(leaf), h, level))] += c
		}
	}
	noise := distuv.Binomial{N: float64(n), P: float64(p.Batch.Flip) / (1 << 32), Src: r}
	for i := range counts {
		counts[i] += uint64(noise.Rand())
	}
	return counts
}

// TestHistograms takes the errors of a million contributors' prefixes, ranges and means in units of
// their standard errors, which have variance 1; three quarters or five quarters of the size do not
// pass. A prefix is about 35 contributors off, as the closed form has it.
func TestHistograms(t *testing.T) {
	const n, trials = 1_000_000, 500
	p := first(t, collect.ShufHier, collect.Declaration{Epsilon: one, Expected: n, Lo: 10, Hi: 20, Levels: 5})
	r := rand.New(stattest.Source(t, "histograms"))
	leaves, below := make([]uint64, 1024), make([]float64, 1025)
	for range n {
		leaves[min(1023, int(300*r.ExpFloat64()))]++
	}
	total := 0.0
	for i, c := range leaves {
		below[i+1] = below[i] + float64(c)/n
		total += float64(c) * (10 + 10*(float64(i)+0.5)/1024)
	}
	var prefix, ranges, sums, people []float64
	for range trials {
		tally := NewTally(p)
		b, err := tally.Batch(0, n)
		fatal(t, err)
		copy(b.counts, nodeCounts(r, p, leaves))
		e, err := Decode(p, tally)
		fatal(t, err)
		at, to := 1+r.IntN(1022), 1+r.IntN(1022)
		at, to = min(at, to), max(at, to)+1
		edge := func(i int) float64 { return 10 + 10*float64(i)/1024 }
		x, stderr, err := e.Range(-5, edge(at))
		fatal(t, err)
		people = append(people, n*(x-below[at]))
		prefix = append(prefix, (x-below[at])/stderr)
		x, stderr, err = e.Range(edge(at), edge(to))
		fatal(t, err)
		ranges = append(ranges, (x-below[to]+below[at])/stderr)
		x, stderr, err = e.Sum()
		fatal(t, err)
		sums = append(sums, (x-total)/stderr)
		median, err := e.Quantile(0.5)
		fatal(t, err)
		if rank := below[int((median-10)/10*1024)]; math.Abs(rank-0.5) > 0.004 {
			t.Errorf("the median %v has rank %v", median, rank)
		}
	}
	for name, z := range map[string][]float64{"prefix": prefix, "range": ranges, "sum": sums} {
		stattest.Accept(t, stattest.Variance(name, z, 1, 3))
		stattest.Reject(t, stattest.Variance(name, z, 0.5, 3))
		stattest.Reject(t, stattest.Variance(name, z, 1.7, 3))
	}
	rms := 0.0
	for _, x := range people {
		rms += x * x / trials
	}
	closed := 0.72 * math.Sqrt(5*n*float64(p.Batch.Flip)/(1<<32))
	t.Logf("prefixes are %.1f contributors off, closed form %.1f", math.Sqrt(rms), closed)
	if ratio := math.Sqrt(rms) / closed; ratio < 0.8 || ratio > 1.2 || closed < 33 || closed > 37 {
		t.Errorf("prefixes are %.1f contributors off, closed form %.1f, published 35", math.Sqrt(rms), closed)
	}
}

// TestHistogramOfDevices lets devices make the messages, and adds some that no device makes: they
// are left out, and said to be.
func TestHistogramOfDevices(t *testing.T) {
	const n = 2000
	p := first(t, collect.ShufHier, collect.Declaration{Epsilon: 40000, Expected: n, Lo: -2, Hi: 8, Levels: 2})
	r := exact.New(stattest.Source(t, "devices"))
	all := bag(t, r, p, n, contributor)
	for node := range uint32(100) {
		m := collect.NewMessage(p.Protocol, 0, 20+node, 0)
		all = append(all, m[:]...)
	}
	e := decode(t, p, n, all)
	if w := e.Info().Warnings; len(w) != 1 || w[0].Code != leftOut {
		t.Errorf("warnings %v", w)
	}
	want := 0.0
	for i := range n {
		leaf := geometry.Leaf(clamped(i), -2, 8, 16)
		want += geometry.Middle(leaf, 16, -2, 8) / n
	}
	mean, stderr, err := e.Mean()
	fatal(t, err)
	lo, hi, err := e.Interval(0.999)
	fatal(t, err)
	if math.Abs(mean-want) > 4*stderr || want < lo || want > hi || stderr > 0.5 {
		t.Errorf("mean %v ± %v, interval [%v, %v], truth %v", mean, stderr, lo, hi, want)
	}
	sum, _, _ := e.Sum()
	if math.Abs(sum/n-mean) > 1e-9 {
		t.Errorf("sum %v of %d, mean %v", sum, n, mean)
	}
}

// TestOnePoisonerOfATree sends as many messages as a bundle has, all of one node: the mean moves by
// no more than their share of the range.
func TestOnePoisonerOfATree(t *testing.T) {
	const n = 10_000
	p := first(t, collect.ShufHier, collect.Declaration{Epsilon: one, Expected: n, Lo: 0, Hi: 1, Levels: 3})
	r := rand.New(stattest.Source(t, "poisoner"))
	leaves := make([]uint64, 64)
	leaves[5] = n
	counts := nodeCounts(r, p, leaves)
	means := make([]float64, 2)
	for k := range means {
		tally := NewTally(p)
		b, err := tally.Batch(0, n)
		fatal(t, err)
		copy(b.counts, counts)
		for range k * int(p.Batch.Cap) {
			b.Add(collect.NewMessage(p.Protocol, 0, uint32(geometry.Node(3, 63)), 0))
		}
		e, err := Decode(p, tally)
		fatal(t, err)
		means[k], _, _ = e.Mean()
	}
	if moved := means[1] - means[0]; !(moved > 0) || moved > float64(p.Batch.Cap)/n {
		t.Errorf("the mean moves by %v, at most %v was to be expected", moved, float64(p.Batch.Cap)/n)
	}
}

// TestBatchesOfATree estimates from two batches as from one of all contributors.
func TestBatchesOfATree(t *testing.T) {
	const n = 10_000
	p := first(t, collect.ShufHier, collect.Declaration{Epsilon: one, Expected: n, Lo: 0, Hi: 1, Levels: 3})
	r := rand.New(stattest.Source(t, "batches"))
	apart := NewTally(p)
	for _, leaf := range []int{10, 50} {
		leaves := make([]uint64, 64)
		leaves[leaf] = n
		b, err := apart.Batch(0, n)
		fatal(t, err)
		copy(b.counts, nodeCounts(r, p, leaves))
	}
	if apart.Received(0) != 2*n || apart.Total() != 2*n {
		t.Errorf("%d contributors of %d", apart.Received(0), 2*n)
	}
	e, err := Decode(p, apart)
	fatal(t, err)
	for _, at := range []struct{ to, want float64 }{{0.1, 0}, {0.3, 0.5}, {0.7, 0.5}, {0.9, 1}} {
		x, stderr, err := e.Range(0, at.to)
		fatal(t, err)
		if math.Abs(x-at.want) > 6*stderr || stderr > 0.02 {
			t.Errorf("below %v: %v ± %v, want %v", at.to, x, stderr, at.want)
		}
	}
	sum, stderr, err := e.Sum()
	fatal(t, err)
	want := n * (10.5 + 50.5) / 64
	if math.Abs(sum-want) > 6*stderr || stderr > 0.02*n {
		t.Errorf("sum %v ± %v, want %v", sum, stderr, want)
	}
}
