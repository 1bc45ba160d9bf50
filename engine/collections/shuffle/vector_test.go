package shuffle

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/test/stattest"
)

// By default one published figure of SHUF_SCM3 is made. The larger ones take a minute or two:
//
//	go test ./engine/collections/shuffle -run Figures -shuffle.table
var table = flag.Bool("shuffle.table", false, "check all published figures of SHUF_SCM3")

// TestVectors makes batches of 100 devices: the squared length of the error is as stated, and every
// coordinate unbiased. Standard errors of seven tenths or 1.4 times the size do not pass.
func TestVectors(t *testing.T) {
	const n, batches, d = 100, 500, 3
	p := first(t, collect.ShufVec, collect.Declaration{Epsilon: 80000, Delta: 1e-5, Expected: n, Dimension: d, Radius: 2})
	r := exact.New(stattest.Source(t, "vectors"))
	value := func(i int) collect.Value { return collect.Value{math.Sin(float64(i)), 0.5, -float64(i%7) / 10} }
	mean := make([]float64, d)
	for i := range n {
		for j, x := range value(i) {
			mean[j] += x / n
		}
	}
	var lengths, last []float64
	var stated float64
	for range batches {
		x, stderr, err := decode(t, p, n, bag(t, r, p, n, value)).Vector()
		fatal(t, err)
		geometry.Shift(x, mean)
		lengths = append(lengths, math.Pow(geometry.Norm(x)/stderr, 2))
		last, stated = append(last, x[d-1]), stderr
	}
	spread := math.Sqrt(2.0 / d)
	stattest.Accept(t, stattest.Mean("length", lengths, 1, spread))
	stattest.Accept(t, stattest.Mean("coordinate", last, 0, stated/math.Sqrt(d)))
	for _, wrong := range []float64{0.7, 1.4} {
		stattest.Reject(t, stattest.Mean("length", lengths, wrong*wrong, wrong*wrong*spread))
	}
}

// TestStatedErrorOfVectors compares the standard error of a coordinate with 2C·σ_r·√(N/h)/N, for
// the published σ_r = 5.7787 at (1, 1e-9) and 11.2465 at ε = 1/2. The grid and the rounding add two
// percent at most.
func TestStatedErrorOfVectors(t *testing.T) {
	for eps, sigma := range map[exact.Epsilon]float64{10000: 5.7787, 5000: 11.2465} {
		for _, d := range []int{1, 8, 128} {
			const n = 10_000
			p := first(t, collect.ShufVec, collect.Declaration{Epsilon: eps, Expected: n, Dimension: d, Radius: 3})
			tally := NewTally(p)
			b, err := tally.Batch(0, n)
			fatal(t, err)
			for j := range b.counts {
				b.counts[j] = n * uint64(p.Batch.Shares)
			}
			e, err := Decode(p, tally)
			fatal(t, err)
			_, stderr, _ := e.Vector()
			want := 2 * 3 * sigma * math.Sqrt(n/float64(p.Batch.Honest)) / n
			if ratio := stderr / math.Sqrt(float64(d)) / want; ratio < 0.999 || ratio > 1.035 {
				t.Errorf("eps=%v d=%d: a coordinate has %.4g, published %.4g", eps, d, stderr/math.Sqrt(float64(d)), want)
			}
		}
	}
}

// TestBrokenVectors takes a message of one coordinate for one of another.
func TestBrokenVectors(t *testing.T) {
	const n = 100
	p := first(t, collect.ShufVec, collect.Declaration{Epsilon: 80000, Delta: 1e-5, Expected: n, Dimension: 2, Radius: 2})
	all := bag(t, exact.New(stattest.Source(t, "broken")), p, n, func(int) collect.Value { return collect.Value{1, -1} })
	x, _, err := decode(t, p, n, all).Vector()
	fatal(t, err)
	if math.Abs(x[0]-1) > 0.4 || math.Abs(x[1]+1) > 0.4 {
		t.Errorf("mean %v, want 1 and -1", x)
	}
	all[3] ^= 1
	if err := tally(t, p, n, all).batches[0].Check(); err == nil {
		t.Error("a message of another coordinate was not noticed")
	}
}

// cloud is a shuffled clipped mean of Gaussian vectors of covariance I, whose mean is a quarter of
// 20√d long, in equal parts on all coordinates.
type cloud struct {
	d int
	n uint64
}

func (c cloud) params(t testing.TB, round int, pub collect.Published) *collect.Params {
	r := 20 * math.Sqrt(float64(c.d))
	return plan(t, collect.ShufSCM3, collect.Declaration{Epsilon: one, Expected: c.n, Dimension: c.d, Centre: r, SigmaMin: 0.1, SigmaMax: 20}, round, pub)
}

// run simulates the three rounds by their counts and sums, and returns the error's length and its
// standard error.
func (c cloud) run(t testing.TB, r *rand.Rand) (off, stderr float64) {
	off, e, _ := c.runOf(t, r, r.NormFloat64)
	_, stderr, _ = e.Vector()
	return off, stderr
}

// runOf is run with coordinates about 5 by a law of mean 0; noise is the part of the standard error
// that the devices' noise makes.
func (c cloud) runOf(t testing.TB, r *rand.Rand, law func() float64) (off float64, e Estimate, noise float64) {
	var pub collect.Published
	var before []Before
	rotation := geometry.NewRotation(c.d, c.params(t, 1, pub).Signs)
	draw := func() []float64 {
		x := make([]float64, c.d)
		for j := range x {
			x[j] = 5 + law()
		}
		return rotation.Apply(x)
	}
	for round := 1; ; round++ {
		p := c.params(t, round, pub)
		tally := NewTally(p)
		for _, cell := range p.Cells {
			b, err := tally.Batch(cell.Cell, p.Batch.Expected)
			fatal(t, err)
			if round == 3 {
				sumVectors(r, p, b, draw)
			} else {
				copy(b.counts, nodeCounts(r, p, leaves(p, cell, draw)))
			}
		}
		if round == 3 {
			e, err := Decode(p, tally, before...)
			fatal(t, err)
			x, _, err := e.Vector()
			fatal(t, err)
			for j := range x {
				x[j] -= 5
			}
			alone := p.Clone()
			alone.Protocol = collect.ShufVec
			_, noise, _ := decodeVector(alone, tally, nil, Arrived(p, tally)).Vector()
			return geometry.Norm(x), e, noise
		}
		var err error
		pub, _, err = Publish(p, tally)
		fatal(t, err)
		before = append(before, Before{Params: p, Tally: tally})
	}
}

// leaves counts where a batch of rounds 1 and 2 lies.
func leaves(p *collect.Params, cell collect.Cell, draw func() []float64) []uint64 {
	d := &p.Derived
	out := make([]uint64, cell.Domain)
	for range p.Batch.Expected {
		x := draw()
		if p.Round == 1 {
			at := math.Floor((x[cell.Coordinate] + d.Box) / (2 * d.Box) * float64(cell.Domain))
			out[int(min(max(at, 0), float64(cell.Domain-1)))]++
			continue
		}
		first := 2 * d.Box / float64(uint64(1)<<(2*d.BoxLevels)) * math.Sqrt(float64(len(x)))
		last := d.Ball + geometry.Norm(p.Published.Centre)
		geometry.Shift(x, p.Published.Centre)
		at := math.Ceil(63 * math.Log(geometry.Norm(x)/first) / math.Log(last/first))
		out[int(min(max(at, 0), 63))]++
	}
	return out
}

// sumVectors sums a batch of round 3 on its grid, with normal noise of the devices' variance.
func sumVectors(r *rand.Rand, p *collect.Params, b *Batch, draw func() []float64) {
	n := p.Batch.Expected
	sums := make([]float64, len(b.sums))
	for range n {
		y := draw()
		geometry.Shift(y, p.Published.Centre)
		geometry.Clip(y, p.Batch.Clip)
		for j, v := range y {
			sums[j] += math.Floor(v*float64(p.Batch.Grid)/p.Batch.Clip + r.Float64())
		}
	}
	noise := math.Sqrt(2 * float64(n) * float64(p.Batch.Rate) / (1 << 20))
	for j := range sums {
		b.sums[j] = uint64(int64(math.Round(sums[j]+noise*r.NormFloat64()))) & b.mask
		b.counts[j] = n * uint64(p.Batch.Shares)
	}
}

// TestFigures reaches the published median errors of the shuffled clipped mean within a quarter:
// 0.0124 for 10^5 contributors of eight coordinates, where the mean of all of them has 0.0082.
func TestFigures(t *testing.T) {
	settings := []struct {
		cloud
		published float64
		trials    int
	}{{cloud{8, 1e5}, 0.0124, 12}, {cloud{8, 1e6}, 0.0033, 6}, {cloud{32, 1e6}, 0.0082, 4}}
	if !*table {
		settings = settings[:1]
	}
	for _, s := range settings {
		var errors []float64
		for k := range s.trials {
			off, stderr := s.run(t, rand.New(stattest.Source(t, fmt.Sprint("figure ", s.cloud, k))))
			errors = append(errors, off)
			if stderr > 1.4*s.published || stderr < s.published/2 {
				t.Errorf("%+v: standard error %v", s.cloud, stderr)
			}
		}
		slices.Sort(errors)
		median := (errors[(s.trials-1)/2] + errors[s.trials/2]) / 2
		t.Logf("d=%d n=%d: median of %d errors %.5f, published %.4f", s.d, s.n, s.trials, median, s.published)
		if median < 0.75*s.published || median > 1.25*s.published {
			t.Errorf("d=%d n=%d: median of %d errors %.5f, published %.4f", s.d, s.n, s.trials, median, s.published)
		}
	}
}

// TestStatedErrorOfClouds: the standard error of the shuffled clipped mean is that of its distance
// from the people's mean, of Gaussian and of skewed coordinates, of which clipping moves no more
// than told. The noise alone, which it was, does not pass.
func TestStatedErrorOfClouds(t *testing.T) {
	const runs = 40
	c := cloud{8, 1e5}
	for name, law := range map[string]func(r *rand.Rand) func() float64{
		"gaussian":    func(r *rand.Rand) func() float64 { return r.NormFloat64 },
		"exponential": func(r *rand.Rand) func() float64 { return func() float64 { return r.ExpFloat64() - 1 } },
	} {
		var all, noisy []float64
		within := 0
		for k := range runs {
			r := rand.New(stattest.Source(t, fmt.Sprint("stated ", name, k)))
			off, e, noise := c.runOf(t, r, law(r))
			_, stderr, _ := e.Vector()
			all, noisy = append(all, math.Pow(off/stderr, 2)), append(noisy, math.Pow(off/noise, 2))
			if cut := e.Info().Cut; cut != nil && off < 1.5*stderr+*cut {
				within++
			}
		}
		t.Logf("%s: root mean square error of %.2f standard errors, %.2f of the noise's; %d of %d within", name, root(all), root(noisy), within, runs)
		stattest.Accept(t, stattest.Coverage(name, within, runs, 0.95))
		if name == "gaussian" {
			stattest.Accept(t, stattest.Mean(name, all, 1, math.Sqrt(2.0/8)))
			stattest.Reject(t, stattest.Mean(name+", noise only", noisy, 1, math.Sqrt(2.0/8)))
		}
	}
}

func root(squares []float64) float64 {
	sum := 0.0
	for _, x := range squares {
		sum += x
	}
	return math.Sqrt(sum / float64(len(squares)))
}

// TestShuffledVectorsOfDevices runs round 3 with devices, about a centre and in a rotation: the
// mean comes back.
func TestShuffledVectorsOfDevices(t *testing.T) {
	d := collect.Declaration{Epsilon: 80000, Delta: 1e-5, Expected: 4000, Dimension: 3, Radius: 10, SigmaMin: 1}
	p := plan(t, collect.ShufSCM3, d, 3, collect.Published{Centre: []float64{1, -1, 0.5, 0}, Clip: 9})
	n := int(p.Batch.Min)
	r := exact.New(stattest.Source(t, "round 3"))
	value := func(i int) collect.Value { return collect.Value{2 + float64(i%3) - 1, -1, 3} }
	x, stderr, err := decode(t, p, n, bag(t, r, p, n, value)).Vector()
	fatal(t, err)
	want := []float64{2, -1, 3}
	if n%3 != 0 {
		for i := n - n%3; i < n; i++ {
			want[0] += (value(i)[0] - 2) / float64(n)
		}
	}
	geometry.Shift(x, want)
	if off := geometry.Norm(x); off > 0.1 || stderr < off/5 || stderr > 9/math.Sqrt(float64(n)) {
		t.Errorf("%v off, standard error %v", off, stderr)
	}
}
