package local

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/test/stattest"
)

// long runs the large collections too: go test -run TestFigures ./engine/collections/local
// -local.long
var long = flag.Bool("local.long", false, "also simulate collections of a million contributors")

// figure is a collection whose error is known.
type figure struct {
	declared
	sd float64 // of the values, in units
	// root mean square error, in standard deviations; 0: the estimate's own standard error
	want float64
	upto float64 // if not 0: want is the lower end of what was measured, and this the upper one
	runs int
	long bool
}

// figures are those that the protocols' designs were measured with, at ε = 1.
var figures = []figure{
	{declared: declared{collect.LDPKV2, "1", 1e5, 1000, 0, ""}, sd: 1, want: 0.00908, runs: 400},
	{declared: declared{collect.LDPKV2, "1", 2e4, 100, 0, ""}, sd: 1, want: 0.0205, runs: 400},
	{declared: declared{collect.LDPKV1, "1", 1e5, 1000, 0, ""}, sd: 1, want: 0.0136, runs: 400},
	{declared: declared{collect.LDPUV2, "1", 1e5, 1000, 32, ""}, sd: 5.7, want: 0.043, runs: 400},
	{declared: declared{collect.LDPUV2, "1", 1e5, 1000, 32, "laplace"}, sd: 5.7, want: 0.052, upto: 0.056, runs: 60, long: true},
	{declared: declared{collect.LDPUV1, "1", 1e5, 1000, 32, ""}, sd: 5.7, want: 0.024, upto: 0.033, runs: 400},
	{declared: declared{collect.LDPUV1, "1", 2e4, 1000, 32, ""}, sd: 5.7, want: 0.060, upto: 0.072, runs: 400},
	{declared: declared{collect.LDPKV2, "1", 1e6, 1000, 0, ""}, sd: 1, want: 0.00287, runs: 400, long: true},
	{declared: declared{collect.LDPUV1, "1", 1e6, 1e4, 32, ""}, sd: 5.7, want: 0.010, upto: 0.012, runs: 200, long: true},
	{declared: declared{collect.LDPUV1, "1", 1e5, 1000, 32, ""}, sd: 28, want: 0.024, upto: 0.033, runs: 400, long: true},
	{declared: declared{collect.LDPUV1, "1", 1e5, 1000, 32, ""}, sd: 1, want: 0.024, upto: 0.033, runs: 400, long: true},
	{declared: declared{collect.LDPKV1, "0.5", 1e6, 1000, 0, ""}, sd: 1, runs: 400, long: true},
	{declared: declared{collect.LDPKV2, "8", 1e5, 1 << 20, 0, ""}, sd: 1, runs: 100, long: true},
}

// TestFigures compares the errors of Gaussian values with the figures, within 15 %, and with the
// estimates' own standard errors and intervals.
func TestFigures(t *testing.T) {
	for _, f := range figures {
		if f.long && !*long {
			continue
		}
		t.Run(fmt.Sprintf("%v sd=%v", f.declared, f.sd), func(t *testing.T) {
			out := slices.DeleteFunc(f.repeat(t, f.runs, func(mean float64) population { return gaussian(mean, f.sd) }), func(o outcome) bool { return warned(o.e, PoorFit) })
			if len(out) < f.runs*9/10 {
				t.Fatalf("%d of %d runs doubt that the values are Gaussian", f.runs-len(out), f.runs)
			}
			scaled := make([]float64, len(out)) // by each run's own standard error
			for i, o := range out {
				scaled[i] = o.miss / o.stderr
			}
			got := rms(misses(out)) / f.sd
			t.Logf("rms error %.5f sd, stderr %.5f sd, scaled %.3f, covered %d of %d", got, out[0].stderr/f.sd, rms(scaled), covered(out), len(out))
			if upto := max(f.want, f.upto); upto > 0 && (got < f.want*0.85 || got > upto*1.15) {
				t.Errorf("rms error %.5f sd, want %v to %v within 15 %%", got, f.want, upto)
			}
			stattest.Accept(t, stattest.Mean("bias", scaled, 0, 1))
			stattest.Accept(t, stattest.Variance("errors over standard errors", scaled, 1, 3))
			stattest.Accept(t, stattest.Coverage("intervals", covered(out), len(out), 0.945))
			if f.runs >= 400 {
				stattest.Reject(t, stattest.Variance("standard errors of 0.7", scaled, 0.49, 3))
				stattest.Reject(t, stattest.Variance("standard errors of 1.5", scaled, 2.25, 3))
				stattest.Reject(t, stattest.Mean("off by half a standard error", scaled, 0.5, 1))
			}
		})
	}
}

// TestWrongLawIsSeen decodes reports of devices that do not follow the published parameters: they
// tell the truth less often, or take another cell's offset. TestFigures' tests have to see it.
func TestWrongLawIsSeen(t *testing.T) {
	rarer := func(c *collect.Cell) { c.Keep -= c.Keep / 8 }
	for _, c := range []struct {
		figure figure
		broken func(c *collect.Cell)
	}{
		{figures[0], rarer},
		{figures[2], func(c *collect.Cell) { c.Offset = 3 - c.Offset }},
		{figures[3], rarer},
	} {
		const runs = 40
		var scaled []float64
		for i := range runs {
			if o, ok := c.figure.broken(t, i, c.broken); ok {
				scaled = append(scaled, o.miss/o.stderr)
			}
		}
		if len(scaled) > runs/2 { // else most were refused, which is as good
			stattest.Reject(t, stattest.Mean(c.figure.String(), scaled, 0, 1))
		}
	}
}

// broken runs a collection whose last round's devices take other parameters. ok is false if it was
// refused.
func (f figure) broken(t *testing.T, i int, change func(c *collect.Cell)) (o outcome, ok bool) {
	r := rand.New(stattest.Source(t, fmt.Sprint("wrong", f.declared, i)))
	v := gaussian(f.span/3, f.sd)
	p := f.params(t, 1, collect.Published{})
	if info, _ := f.protocol.Info(); info.Rounds == 2 {
		pub, _, err := Publish(p, v.report(r, p))
		if err != nil {
			t.Fatal(err)
		}
		// in the middle a wrong keep shows nothing
		pub.Centre[0] = math.Round(4*pub.Centre[0]-2.4*f.sd) / 4
		p = f.params(t, 2, pub)
	}
	other := p.Clone()
	for j := range other.Cells {
		change(&other.Cells[j])
	}
	e, err := Decode(p, asOf(v.report(r, other), p))
	if err != nil {
		return outcome{}, false
	}
	return judge(e, f.span/3), true
}

// asOf gives a tally other parameters.
func asOf(t *Tally, p *collect.Params) *Tally {
	for i := range t.parts {
		t.parts[i].Cell = p.Cells[i]
	}
	return t
}

// TestBit is the figure of LDP_BIT: n = 1e5, ε = 1, all contributors in the middle or all at the
// upper end, and half of them at either end, for whom the standard error is that of a sample.
func TestBit(t *testing.T) {
	const n, runs = 100_000, 2000
	p := declared{protocol: collect.LDPBit, eps: "1", n: n, span: 100}.params(t, 1, collect.Published{})
	c := p.Cells[0]
	keep := probability(c.Keep)
	for name, at := range map[string]struct{ share, want float64 }{
		"middle": {0.5, 0.003422},
		"end":    {1, 0.003034},
	} {
		r := rand.New(stattest.Source(t, "bit "+name))
		var errs []float64
		hits := 0
		for range runs {
			tally := NewTally(p)
			ones := binomial(r, n, keep*at.share+(1-keep)*(1-at.share))
			add(tally, c, []byte{1}, ones)
			add(tally, c, []byte{0}, n-ones)
			e, err := Decode(p, tally)
			if err != nil {
				t.Fatal(err)
			}
			value, stderr, _ := e.Mean()
			if math.Abs(stderr/50/at.want-1) > 0.02 {
				t.Fatalf("%s: standard error %v of the range, want %v", name, stderr/50, at.want)
			}
			if lo, hi, _ := e.Interval(0.95); lo <= 10+50*at.share && 10+50*at.share <= hi {
				hits++
			}
			errs = append(errs, (value-10)/50-at.share)
		}
		if got := rms(errs); math.Abs(got/at.want-1) > 0.08 {
			t.Errorf("%s: standard deviation %v of the range, want %v within 8 %%", name, got, at.want)
		}
		stattest.Accept(t, stattest.Mean(name, errs, 0, at.want))
		stattest.Accept(t, stattest.Variance(name, errs, at.want*at.want, 3))
		stattest.Reject(t, stattest.Variance(name+" with a keep probability of another epsilon", errs, at.want*at.want*1.3, 3))
		stattest.Accept(t, stattest.Coverage(name, hits, runs, 0.945))
		stattest.Reject(t, stattest.Coverage(name+" claimed at 99 %", hits, runs, 0.99))
	}
}

// TestSkewedValues: of exponential values, round 2's truncated mean finds the mean, the likeliest
// Gaussian is a third of a standard deviation off and says so.
func TestSkewedValues(t *testing.T) {
	law := func(mean float64) population { return exponential(mean, 5.7) }
	d := declared{collect.LDPUV2, "1", 1e5, 1000, 32, ""}
	for i, o := range d.repeat(t, 30, law) {
		if math.Abs(o.miss) > 0.3*5.7 {
			t.Errorf("LDP_UV2, run %d: error of %v sd", i, o.miss/5.7)
		}
	}
	d.protocol = collect.LDPUV1
	sum, seen := 0.0, 0
	out := d.repeat(t, 30, law)
	for _, o := range out {
		sum += o.miss / 5.7
		if warned(o.e, PoorFit) {
			seen++
		}
	}
	if off := math.Abs(sum / 30); off < 0.2 || off > 0.4 || seen < 28 {
		t.Errorf("LDP_UV1 is %v sd off and says so in %d of 30 runs", off, seen)
	}
	t.Logf("LDP_UV1 off by %v sd, seen %d of 30", sum/30, seen)
}

func warned(e Estimate, code string) bool {
	return slices.ContainsFunc(e.Info().Warnings, func(w Warning) bool { return w.Code == code })
}

// TestFitIsUniform: of Gaussian values the p-value of the fit is uniform, so a warning at 0.01 is
// rare.
func TestFitIsUniform(t *testing.T) {
	d := declared{collect.LDPUV1, "1", 1e5, 1000, 32, ""}
	var p, sds []float64
	for _, o := range d.repeat(t, 300, func(mean float64) population { return gaussian(mean, 5.7) }) {
		p = append(p, *o.e.Info().FitP)
		sd, stderr, err := o.e.SD()
		if err != nil {
			t.Fatal(err)
		}
		if warned(o.e, PoorFit) {
			continue
		}
		sds = append(sds, (2*sd-5.7)/(2*stderr))
	}
	uniform := func(x float64) float64 { return min(max(x, 0), 1) }
	stattest.Accept(t, stattest.KS("p-values", p, uniform, nil))
	stattest.Reject(t, stattest.KS("p-values, squared", p, func(x float64) float64 { return math.Sqrt(uniform(x)) }, nil))
	stattest.Accept(t, stattest.Mean("sd", sds, 0, 1))
	stattest.Reject(t, stattest.Mean("sd, half a standard error off", sds, 0.5, 1))
	stattest.Accept(t, stattest.Variance("sd", sds, 1, 3))
}

// TestLeastReportsLocate: k_min reports a level leave a mean undecided, or two standard deviations
// off, in less than 5 % of the runs, at any ε; a sixteenth of them does not do.
func TestLeastReportsLocate(t *testing.T) {
	const runs = 100
	for _, c := range []struct {
		declared
		sd float64
	}{
		{declared{collect.LDPKV2, "0.5", 1e6, 1000, 0, ""}, 1},
		{declared{collect.LDPKV2, "8", 1e6, 1000, 0, ""}, 1},
		{declared{collect.LDPUV2, "8", 1e6, 1000, 32, ""}, 5.7},
	} {
		p := c.params(t, 1, collect.Published{}).Clone()
		if missed := c.missed(t, p, p.Derived.LevelMin, runs, c.sd); missed > runs/20 {
			t.Errorf("%v: %d of %d runs missed the mean with %d reports a level", c, missed, runs, p.Derived.LevelMin)
		}
		if missed := c.missed(t, p, p.Derived.LevelMin/16, 20, c.sd); missed < 2 {
			t.Errorf("%v: %d of 20 runs missed the mean with a sixteenth of that", c, missed)
		}
	}
}

// missed counts the runs of round 1 that end without the mean, with so many reports of each level.
func (d declared) missed(t *testing.T, p *collect.Params, reports uint64, runs int, sd float64) int {
	for i := range p.Cells {
		p.Cells[i].Quota, p.Cells[i].Min = reports, 0
	}
	p.Min = 0
	out := make([]bool, runs)
	each(runs, func(i int) {
		r := rand.New(stattest.Source(t, fmt.Sprint("least", d, reports, i)))
		mean := d.span * r.Float64()
		pub, _, err := Publish(p, gaussian(mean, sd).report(r, p))
		out[i] = err != nil || math.Abs(pub.Centre[0]-mean) > 2*sd
	})
	return count(out)
}

func count(x []bool) (n int) {
	for _, b := range x {
		if b {
			n++
		}
	}
	return n
}
