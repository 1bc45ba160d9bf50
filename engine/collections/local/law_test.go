package local

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"scrim/engine/collections/collect"
	"scrim/test/stattest"
)

// shapes are laws of values that are not Gaussian, by mean and standard deviation.
var shapes = map[string]func(mean, sd float64) population{
	"gaussian":    gaussian,
	"exponential": exponential,
	"log-normal":  logNormal,
	"heavy tails": student,
	"two humps":   func(mean, sd float64) population { return humps(mean, sd, 0.5) },
	"leaning":     func(mean, sd float64) population { return humps(mean, sd, 0.8) },
}

// logNormal has skewness 1.75 and excess kurtosis 5.9: exp(N(0, 0.25)), moved and scaled.
func logNormal(mean, sd float64) population {
	const s = 0.5
	m, dev := math.Exp(s*s/2), math.Sqrt(math.Exp(s*s)*math.Expm1(s*s))
	cdf := func(x float64) float64 {
		if y := m + dev*(x-mean)/sd; y > 0 {
			return normal(math.Log(y) / s)
		}
		return 0
	}
	return population{cdf: cdf, lo: mean - sd*m/dev, hi: mean + sd*60}
}

// student is Student's t of three degrees of freedom, by whose tails its kurtosis is infinite.
func student(mean, sd float64) population {
	cdf := func(x float64) float64 {
		t := (x - mean) / sd
		return 0.5 + (t/(1+t*t)+math.Atan(t))/math.Pi
	}
	return population{cdf: cdf, lo: mean - 2e3*sd, hi: mean + 2e3*sd}
}

// humps are two Gaussians of 0.4 of the standard deviation, the lower one with a share of the
// values.
func humps(mean, sd, share float64) population {
	const narrow = 0.4
	apart := math.Sqrt((1 - narrow*narrow) / (share * (1 - share)))
	low, high := mean-sd*apart*(1-share), mean+sd*apart*share
	cdf := func(x float64) float64 {
		return share*normal((x-low)/(narrow*sd)) + (1-share)*normal((x-high)/(narrow*sd))
	}
	return population{cdf: cdf, lo: low - 9*sd, hi: high + 9*sd}
}

// gaussians are collections that take values for Gaussian.
var gaussians = []declared{
	{collect.LDPKV2, "1", 2e4, 100, 0, ""}, {collect.LDPKV2, "1", 1e5, 100, 0, ""}, {collect.LDPKV1, "1", 2e4, 100, 0, ""},
	{collect.LDPUV1, "1", 2e4, 1000, 32, ""}, {collect.LDPUV2, "1", 1e5, 1000, 32, ""},
}

func (d declared) sd() float64 {
	if d.scales == 0 {
		return 1
	}
	return 5.7
}

// TestOtherLaws: of skewed values, of heavy tails and of two humps, an interval of 95 % holds the
// mean, or there is none and a warning says why. An interval by the standard error that Gaussian
// values would have misses the mean of skewed ones; that of LDP_UV2 needs no Gaussian.
func TestOtherLaws(t *testing.T) {
	const runs = 150
	for _, d := range gaussians {
		_, stderr, err := must(d.run(t, rand.New(stattest.Source(t, "law "+d.String())), gaussian(d.span/3, d.sd()))).Mean()
		if err != nil {
			t.Fatal(err)
		}
		for name, law := range shapes {
			out := d.repeat(t, runs, func(mean float64) population { return law(mean, d.sd()) })
			fair, naive, warnings := 0, 0, 0
			for _, o := range out {
				lo, _, _ := o.e.Interval(0.95)
				if o.covered || math.IsNaN(lo) && warned(o.e, PoorFit) {
					fair++
				}
				if math.Abs(o.miss) <= 1.96*2*stderr {
					naive++
				}
				if warned(o.e, PoorFit) {
					warnings++
				}
			}
			t.Logf("%v, %s: fair %d, by the Gaussian's standard error %d, warned %d of %d", d, name, fair, naive, warnings, runs)
			stattest.Accept(t, stattest.Coverage(fmt.Sprint(d, name), fair, runs, 0.95))
			if skewed := name == "exponential" || name == "leaning"; skewed && d.protocol != collect.LDPUV2 {
				stattest.Reject(t, stattest.Coverage(fmt.Sprint(d, name, " without its law"), naive, runs, 0.95))
			}
			if name == "gaussian" {
				stattest.Accept(t, stattest.Coverage(fmt.Sprint(d, " without a warning"), runs-warnings, runs, 0.97))
			}
		}
	}
}

func must(e Estimate, err error) Estimate {
	if err != nil {
		panic(err)
	}
	return e
}

// TestNoErrorWhereTheLawIsWrong: what is doubtful has no standard error.
func TestNoErrorWhereTheLawIsWrong(t *testing.T) {
	for _, d := range []declared{{collect.LDPKV1, "1", 1e5, 100, 0, ""}, {collect.LDPUV1, "1", 1e5, 1000, 32, ""}, {collect.LDPKV2, "2", 1e6, 100, 0, ""}, {collect.LDPUV2, "2", 1e6, 1000, 32, ""}} {
		e := must(d.run(t, rand.New(stattest.Source(t, "wrong law "+d.String())), exponential(d.span/3, d.sd())))
		if !warned(e, PoorFit) || *e.Info().ShapeP > poor && *e.Info().FitP > poor {
			t.Errorf("%v: no warning", d)
		}
		_, stderr, _ := e.Mean()
		if known := d.protocol == collect.LDPUV2; math.IsNaN(stderr) == known {
			t.Errorf("%v: the standard error is %v", d, stderr)
		}
		if _, stderr, err := e.SD(); err == nil && !math.IsNaN(stderr) {
			t.Errorf("%v: the standard deviation has a standard error, %v", d, stderr)
		}
		lo, hi, _ := e.Interval(0.95)
		if none := d.protocol == collect.LDPKV1 || d.protocol == collect.LDPUV1; math.IsNaN(lo) != none || math.IsNaN(hi) != none {
			t.Errorf("%v: the interval is %v to %v", d, lo, hi)
		}
	}
}
