package local

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/test/stattest"
)

// The simulations here share no code with the decoders: reports are drawn from the laws of the
// protocol's description, by the distribution function of the values.

// population is a law of values, in units of the collection, measured from the low end of the
// mean's range.
type population struct {
	cdf  func(x float64) float64
	draw func(r *rand.Rand) float64
	lo   float64 // all values lie within [lo, hi] but for 1e-15
	hi   float64
}

func gaussian(mean, sd float64) population {
	return population{
		cdf:  func(x float64) float64 { return 0.5 * math.Erfc((mean-x)/sd/math.Sqrt2) },
		draw: func(r *rand.Rand) float64 { return mean + sd*r.NormFloat64() },
		lo:   mean - 9*sd, hi: mean + 9*sd,
	}
}

// exponential has the given mean and standard deviation.
func exponential(mean, sd float64) population {
	return population{
		cdf:  func(x float64) float64 { return -math.Expm1(-max(0, (x-mean+sd)/sd)) },
		draw: func(r *rand.Rand) float64 { return mean - sd + sd*r.ExpFloat64() },
		lo:   mean - sd, hi: mean + 36*sd,
	}
}

// residues returns the probabilities of the residues of ⌊t/width⌋ modulo 4.
func (v population) residues(width float64) (p [4]float64) {
	for m := math.Floor(v.lo/width) - 1; m*width < v.hi; m++ {
		p[int(math.Mod(math.Mod(m, 4)+4, 4))] += v.cdf((m+1)*width) - v.cdf(m*width)
	}
	return p
}

// fraction returns the mean of clamp((t−from)/width, 0, 1): the mean of 1 − cdf over the window, by
// Simpson's rule.
func (v population) fraction(from, width float64) float64 {
	const steps = 2000
	sum := 0.0
	for i := range steps + 1 {
		weight := float64(2 + i%2*2)
		if i == 0 || i == steps {
			weight = 1
		}
		sum += weight * (1 - v.cdf(from+width*float64(i)/steps))
	}
	return sum / 3 / steps
}

// above returns the probability of lying above the nearest point of the lattice {offset+8b}.
func (v population) above(offset float64) (p float64) {
	for m := 2 * math.Floor((v.lo-offset)/8); offset+4*m < v.hi; m += 2 {
		p += v.cdf(offset+4*(m+1)) - v.cdf(offset+4*m)
	}
	return p
}

// report draws the reports of the quotas of a round's cells from their law, for values that are
// independent draws.
func (v population) report(r *rand.Rand, p *collect.Params) *Tally {
	t := NewTally(p)
	for _, c := range p.Cells {
		keep := math.Ldexp(float64(c.Keep), -62)
		switch c.Randomiser {
		case collect.KRR:
			shares := v.residues(math.Ldexp(1, c.Level))
			left, rest := c.Quota, 1.0
			for a, share := range shares {
				pi := keep*share + (1-keep)/3*(1-share)
				n := binomial(r, left, min(1, pi/rest))
				add(t, c, binary.BigEndian.AppendUint16(nil, uint16(a)), n)
				left, rest = left-n, rest-pi
			}
			add(t, c, []byte{0, 3}, left)
		case collect.BRR:
			q := 0.0
			if p.Protocol == collect.LDPKV1 {
				q = v.above(float64(c.Offset))
			} else {
				q = 1 - v.cdf(p.Published.Centre[0])
			}
			v.bits(r, t, c, q)
		case collect.BitMean:
			from, width := 0.0, 2*(p.Declaration.Hi-p.Declaration.Lo)
			if p.Protocol == collect.LDPUV2 {
				from, width = p.Published.Centre[0]-p.Published.Width, 2*p.Published.Width
			}
			v.bits(r, t, c, v.fraction(from, width))
		case collect.DLAP:
			v.noisy(r, t, p, c)
		}
	}
	return t
}

func (v population) bits(r *rand.Rand, t *Tally, c collect.Cell, q float64) {
	keep := math.Ldexp(float64(c.Keep), -62)
	n := binomial(r, c.Quota, keep*q+(1-keep)*(1-q))
	add(t, c, []byte{1}, n)
	add(t, c, []byte{0}, c.Quota-n)
}

// noisy draws each contributor's discrete Laplace report.
func (v population) noisy(r *rand.Rand, t *Tally, p *collect.Params, c collect.Cell) {
	scale := float64(c.Domain) / p.Declaration.Epsilon.Float()
	for range c.Quota {
		f := (v.draw(r) - p.Published.Centre[0] + p.Published.Width) / (2 * p.Published.Width)
		z := math.Floor(min(max(f, 0), 1)*float64(c.Domain)) + math.Floor(scale*r.ExpFloat64()) - math.Floor(scale*r.ExpFloat64())
		add(t, c, binary.BigEndian.AppendUint64(nil, uint64(int64(z))), 1)
	}
}

func binomial(r *rand.Rand, n uint64, p float64) uint64 {
	if n == 0 || p <= 0 {
		return 0
	}
	return uint64(distuv.Binomial{N: float64(n), P: min(p, 1), Src: r}.Rand())
}

func add(t *Tally, c collect.Cell, payload []byte, times uint64) {
	if err := t.Add(c.Cell, payload, times); err != nil {
		panic(err)
	}
}

// declared is a collection of n contributors at ε whose mean lies within 0 and span units.
type declared struct {
	protocol collect.Protocol
	eps      string
	n        uint64
	span     float64
	scales   float64
	option   string
}

func (d declared) String() string {
	return fmt.Sprintf("%s%s eps=%s n=%d R=%v G=%v", d.protocol, d.option, d.eps, d.n, d.span, d.scales)
}

// params returns the parameters of a round: lo = 10, a unit of 0.5.
func (d declared) params(t testing.TB, round int, pub collect.Published) *collect.Params {
	t.Helper()
	eps, err := exact.ParseEpsilon(d.eps)
	if err != nil {
		t.Fatal(err)
	}
	decl := collect.Declaration{Epsilon: eps, Expected: d.n, Lo: 10, Hi: 10 + d.span/2, Option: d.option}
	switch {
	case d.protocol == collect.LDPBit:
	case d.scales == 0:
		decl.Sigma = 0.5
	default:
		decl.SigmaMin, decl.SigmaMax = 0.5, d.scales/2
	}
	return planned(t, d.protocol, decl, round, pub)
}

// planned returns the parameters of a round of a declared collection.
func planned(t testing.TB, protocol collect.Protocol, d collect.Declaration, round int, pub collect.Published) *collect.Params {
	t.Helper()
	g, err := collect.Plan("test", "11111111-2222-4333-8444-555555555555", protocol, d)
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Params(round, "", pub, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// inUnits undoes lo = 10 and the unit of 0.5.
func inUnits(x float64) float64 { return (x - 10) * 2 }

// run simulates all rounds of a collection.
func (d declared) run(t testing.TB, r *rand.Rand, v population) (Estimate, error) {
	p := d.params(t, 1, collect.Published{})
	tally := v.report(r, p)
	var before []Before
	if info, _ := d.protocol.Info(); info.Rounds == 2 {
		pub, _, err := Publish(p, tally)
		if err != nil {
			return nil, err
		}
		before = []Before{{Params: p, Tally: tally}}
		p = d.params(t, 2, pub)
		tally = v.report(r, p)
	}
	return Decode(p, tally, before...)
}

// outcome is one run's error in units, and what it said of it.
type outcome struct {
	miss, stderr float64
	covered      bool // by the interval of 95 %
	e            Estimate
}

// repeat runs a collection many times on all cores; the mean of each run's values is from about a
// third of the range, another place within four units every time.
func (d declared) repeat(t testing.TB, runs int, law func(mean float64) population) []outcome {
	t.Helper()
	out, errs := make([]outcome, runs), make([]error, runs)
	each(runs, func(i int) {
		r := rand.New(stattest.Source(t, fmt.Sprint(d, i)))
		mean := d.span/3 + 4*r.Float64()
		e, err := d.run(t, r, law(mean))
		if err != nil {
			errs[i] = err
			return
		}
		out[i] = judge(e, mean)
	})
	for i, err := range errs {
		if err != nil {
			t.Fatalf("%v: run %d: %v", d, i, err)
		}
	}
	return out
}

func judge(e Estimate, mean float64) outcome {
	value, stderr, _ := e.Mean()
	lo, hi, _ := e.Interval(0.95)
	return outcome{inUnits(value) - mean, 2 * stderr, inUnits(lo) <= mean && mean <= inUnits(hi), e}
}

// each calls f for 0 … n−1 on all cores.
func each(n int, f func(i int)) {
	var all sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for c := range cores {
		all.Go(func() {
			for i := c; i < n; i += cores {
				f(i)
			}
		})
	}
	all.Wait()
}

// misses returns the outcomes' errors.
func misses(out []outcome) []float64 {
	x := make([]float64, len(out))
	for i, o := range out {
		x[i] = o.miss
	}
	return x
}

func rms(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum / float64(len(x)))
}

// covered counts the intervals that held the mean.
func covered(out []outcome) (hits int) {
	for _, o := range out {
		if o.covered {
			hits++
		}
	}
	return hits
}
