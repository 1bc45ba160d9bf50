package shuffle

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/device"
	"scrim/engine/collections/collect/exact"
	"scrim/internal/refuse"
	"scrim/test/stattest"
)

// By default few batches of 10^4 devices are made. With 200 their standard deviation is within 12 %
// of the stated one:
//
//	go test ./engine/collections/shuffle -run LargeSums -shuffle.runs=200
var runs = flag.Int("shuffle.runs", 20, "batches of ten thousand devices")

// TestStatedErrorOfSums compares the standard error of the mean at the planned number of
// contributors with the published table, from 10^2 to 10^7 contributors.
func TestStatedErrorOfSums(t *testing.T) {
	for n, want := range map[uint64]float64{1e2: 1.668e-2, 1e3: 1.671e-3, 1e4: 1.670e-4, 1e5: 1.668e-5, 1e6: 1.671e-6, 1e7: 1.669e-7} {
		p := first(t, collect.ShufSum, collect.Declaration{Epsilon: one, Expected: n, Lo: -1, Hi: 3})
		law := sharesOf(p, float64(n))
		got := math.Sqrt(law.variance()) / float64(p.Batch.Grid) / float64(n)
		if math.Abs(got/want-1) > 5e-4 {
			t.Errorf("%d contributors: %.4g of the range, published %.4g", n, got, want)
		}
	}
}

// contributor is the number of one of them, all over the range and beyond.
func contributor(i int) collect.Value { return collect.Value{-3 + 14*float64(i%101)/100} }

// clamped is what counts of it.
func clamped(i int) float64 { return min(max(contributor(i)[0], -2), 8) }

// TestSums makes batches of 100 devices and takes the law of their errors: unbiased, of the stated
// variance and distribution, with intervals that cover. Noise of three quarters of the size is
// noticed.
func TestSums(t *testing.T) {
	const n, batches = 100, 4000
	p := first(t, collect.ShufSum, collect.Declaration{Epsilon: one, Expected: n, Lo: -2, Hi: 8})
	r := exact.New(stattest.Source(t, "sums"))
	truth := 0.0
	for i := range n {
		truth += clamped(i)
	}
	law := sharesOf(p, n)
	law.rounding = 0
	for i := range n { // the rounding of these numbers, and not at most
		f := (clamped(i) + 2) / 10 * float64(p.Batch.Grid)
		f -= math.Floor(f)
		law.rounding += f * (1 - f)
	}
	errors, hits, half := make([]float64, batches), map[float64]int{}, map[float64]float64{}
	for k := range errors {
		e := decode(t, p, n, bag(t, r, p, n, contributor))
		sum, stderr, err := e.Sum()
		fatal(t, err)
		if want := 10 / float64(p.Batch.Grid) * math.Sqrt(sharesOf(p, n).variance()); math.Abs(stderr/want-1) > 1e-12 {
			t.Fatalf("standard error %v, want %v", stderr, want)
		}
		errors[k] = (sum - truth) / 10 * float64(p.Batch.Grid)
		mean, _, _ := e.Mean()
		for _, level := range []float64{0.5, 0.95} {
			if k%100 == 0 {
				lo, hi, err := e.Interval(level)
				fatal(t, err)
				if math.Abs(lo+hi-2*mean) > 1e-9 {
					t.Fatalf("[%v, %v] is not about %v", lo, hi, mean)
				}
				half[level] = (hi - lo) / 2 // it is the same for every batch of n
			}
			if math.Abs(mean-truth/n) <= half[level] {
				hits[level]++
			}
		}
	}
	kurtosis := 3 + 3/law.shape
	stattest.Accept(t, stattest.Mean("sum", errors, 0, math.Sqrt(law.variance())))
	stattest.Accept(t, stattest.Variance("sum", errors, law.variance(), kurtosis))
	v := law.invert()
	stattest.Accept(t, stattest.KS("sum", errors, func(x float64) float64 { return 0.5 + math.Copysign(v.within(math.Abs(x)), x)/2 }, nil))
	for _, wrong := range []float64{0.75, 1.25} {
		stattest.Reject(t, stattest.Variance("sum", errors, wrong*wrong*law.variance(), kurtosis))
	}
	for level, h := range hits {
		stattest.Accept(t, stattest.Coverage("interval", h, batches, level))
		stattest.Reject(t, stattest.Coverage("interval as if wider", h, batches, level+0.7*(1-level)))
	}
}

// TestLargeSums makes batches of 10^4 devices and 10 messages each.
func TestLargeSums(t *testing.T) {
	const n = 10_000
	p := first(t, collect.ShufSum, collect.Declaration{Epsilon: one, Expected: n, Lo: -2, Hi: 8})
	if p.Batch.Honest != 7200 || p.Batch.Shares != 10 {
		t.Fatalf("batch %+v", *p.Batch)
	}
	truth := 0.0
	for i := range n {
		truth += clamped(i) / n
	}
	r := exact.New(stattest.Source(t, "large sums"))
	squares := 0.0
	for range *runs {
		e := decode(t, p, n, bag(t, r, p, n, contributor))
		mean, stderr, err := e.Mean()
		fatal(t, err)
		z := (mean - truth) / stderr
		if squares += z * z; math.Abs(z) > 20 {
			t.Errorf("%v standard errors off", z)
		}
	}
	std := math.Sqrt(squares / float64(*runs))
	t.Logf("%d runs: errors of %.3f of the stated size", *runs, std)
	if room := max(0.12, 1.7/math.Sqrt(float64(*runs))*1.5); std < 1-room || std > 1+room {
		t.Errorf("%d runs: errors of %.3f of the stated size", *runs, std)
	}
}

// TestSumOfABag adds what the devices' shares come to one device at a time: their numbers and
// noise, whose sum is the bag's.
func TestSumOfABag(t *testing.T) {
	const n = 90
	p := first(t, collect.ShufSum, collect.Declaration{Epsilon: one, Expected: 100, Lo: -2, Hi: 8})
	r := exact.New(stattest.Source(t, "bag"))
	var all []byte
	want := int64(0)
	for i := range n {
		messages, err := device.Messages(r, p, 0, contributor(i))
		fatal(t, err)
		alone := newBatch(p, p.Cells[0], 1)
		for _, m := range messages {
			alone.Add(m)
			all = append(all, m[:]...)
		}
		fatal(t, alone.Check())
		want += alone.sum(0)
	}
	rand.New(stattest.Source(t, "order")).Shuffle(len(all)/16, func(i, j int) {
		var m [16]byte
		copy(m[:], all[16*i:])
		copy(all[16*i:16*i+16], all[16*j:])
		copy(all[16*j:], m[:])
	})
	if got := tally(t, p, n, all).batches[0].sum(0); got != want {
		t.Errorf("sum of the bag %d, of its devices %d", got, want)
	}
	both := NewTally(p) // two batches of a cell add up
	for range 2 {
		b, err := both.Batch(0, n)
		fatal(t, err)
		fatal(t, b.AddAll(all))
	}
	e, err := Decode(p, both)
	fatal(t, err)
	once, stderr1, _ := decode(t, p, n, all).Sum()
	twice, stderr2, _ := e.Sum()
	if math.Abs(twice-2*once) > 1e-9 || math.Abs(stderr2/stderr1-math.Sqrt2) > 1e-9 {
		t.Errorf("one batch %v ± %v, two %v ± %v", once, stderr1, twice, stderr2)
	}
}

// TestPoisonedSums adds one bundle of random shares to honest ones: at most one in 256 passes. With
// four spare bits of the ring instead of eight too many would.
func TestPoisonedSums(t *testing.T) {
	const n, trials = 100, 3000
	r := exact.New(stattest.Source(t, "poison"))
	for _, cut := range []int{0, 4} {
		p := first(t, collect.ShufSum, collect.Declaration{Epsilon: one, Expected: n, Lo: -2, Hi: 8})
		if cut > 0 {
			p = p.Clone()
			p.Batch.Bits -= cut
		}
		honest := tally(t, p, n, bag(t, r, p, n-1, contributor)).batches[0]
		refused := 0
		for range trials {
			b := *honest
			b.sums, b.counts = append([]uint64(nil), b.sums...), append([]uint64(nil), b.counts...)
			for range p.Batch.Shares {
				b.Add(collect.NewMessage(p.Protocol, 0, 0, r.Uint64()&b.mask))
			}
			if err := b.Check(); err != nil {
				wantCode(t, err, refuse.BatchWindow)
				refused++
			}
		}
		fit := stattest.Coverage(fmt.Sprintf("%d bits less", cut), refused, trials, 255.0/256)
		if cut == 0 {
			stattest.Accept(t, fit)
			if refused < trials*99/100 {
				t.Errorf("%d of %d poisoned batches were refused", refused, trials)
			}
		} else {
			stattest.Reject(t, fit)
		}
	}
}

// TestBrokenBundles loses, doubles and mistakes a message: every time the batch is refused.
func TestBrokenBundles(t *testing.T) {
	const n = 100
	p := first(t, collect.ShufSum, collect.Declaration{Epsilon: one, Expected: n, Lo: -2, Hi: 8})
	all := bag(t, exact.New(stattest.Source(t, "broken")), p, n, contributor)
	fatal(t, tally(t, p, n, all).batches[0].Check())
	foreign := append([]byte(nil), all...)
	foreign[1]++ // of another protocol
	tagged := append([]byte(nil), all...)
	tagged[3] = 1 // of a coordinate that is none
	for name, broken := range map[string][]byte{"lost": all[16:], "doubled": append(all[:16:16], all...), "foreign": foreign, "tagged": tagged} {
		_, err := Decode(p, tally(t, p, n, broken))
		if wantCode(t, err, refuse.BatchWindow); err == nil {
			t.Error(name)
		}
	}
	_, err := Decode(p, tally(t, p, n+1, all))
	wantCode(t, err, refuse.BatchWindow)
}

// TestLawOfShares compares the inversion formula with sums of the law's own probabilities.
func TestLawOfShares(t *testing.T) {
	for _, s := range []shares{{1, math.Exp(-1.0 / 64), 0}, {1.39, math.Exp(-1.0 / 64), 0}, {2.5, math.Exp(-2.0 / 128), 0}} {
		v := s.invert()
		p := []float64{math.Pow(1-s.alpha, s.shape)} // of the negative binomial
		for k := 1; p[len(p)-1] > 1e-18 || k < 10; k++ {
			p = append(p, p[k-1]*s.alpha*(s.shape+float64(k)-1)/float64(k))
		}
		inside, at := 0.0, 0
		for z := 0; z < 700; z++ {
			mass := 0.0
			for k := range len(p) - z {
				mass += p[k] * p[k+z]
			}
			if z > 0 {
				mass *= 2
			}
			inside += mass
			if z%50 == 13 {
				if got := v.within(float64(z) + 0.5); math.Abs(got-inside) > 1e-3*(1-inside)+1e-4 {
					t.Errorf("%+v: within %d.5 %v, want %v", s, z, got, inside)
				}
			}
			at = z
		}
		if at != 699 || inside < 0.99 {
			t.Errorf("%+v: %v within %d", s, inside, at)
		}
		for _, conf := range []float64{1e-6, 0.5, 0.95, 1 - 1e-9} {
			if got := v.within(s.point(conf)); math.Abs(got-conf) > 1e-10 {
				t.Errorf("%+v: within the point of %v lies %v", s, conf, got)
			}
		}
	}
	normal := shares{1e-12, 0.5, 100}
	if got := normal.point(0.95); math.Abs(got-19.59964) > 1e-4 {
		t.Errorf("normal rounding: %v", got)
	}
}

// BenchmarkSumTally adds the 900,000 messages of 100,000 contributors.
func BenchmarkSumTally(b *testing.B) {
	p := first(b, collect.ShufSum, collect.Declaration{Epsilon: one, Expected: 100_000, Lo: -2, Hi: 8})
	all := bag(b, exact.New(stattest.Source(b, "bench")), p, 100_000, contributor)
	b.SetBytes(int64(len(all)))
	for b.Loop() {
		tally := NewTally(p)
		batch, _ := tally.Batch(0, 100_000)
		fatal(b, batch.AddAll(all))
		fatal(b, batch.Check())
	}
	b.ReportMetric(float64(len(all)/16), "messages")
}
