package stattest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"
)

// Fit is the outcome of a goodness-of-fit test.
type Fit struct {
	Name      string
	N         int
	Statistic float64
	Bound     float64 // exceeded with probability at most Alpha when the law is right
}

// OK reports whether the sample may come from the law.
func (f Fit) OK() bool { return f.Statistic <= f.Bound }

func (f Fit) String() string {
	return fmt.Sprintf("%s: n=%d statistic=%.4g bound=%.4g (alpha=%g)", f.Name, f.N, f.Statistic, f.Bound, Alpha)
}

// Accept fails the test when the fit is bad.
func Accept(t testing.TB, f Fit) {
	t.Helper()
	if !f.OK() {
		t.Errorf("seed %d: rejected: %v", Seed(t), f)
	}
}

// Reject fails the test when the fit is good: for broken variants.
func Reject(t testing.TB, f Fit) {
	t.Helper()
	if f.OK() {
		t.Errorf("seed %d: a broken variant was not rejected: %v", Seed(t), f)
	}
}

// KS is the one-sample Kolmogorov-Smirnov test against a distribution function. For a discrete law
// it is conservative when cdf is given right-continuous and ties are whole atoms; left returns
// P[X < x] then, and may be nil for a continuous law.
//
// Bound: the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant, P[D > s] ≤ 2exp(−2ns²).
func KS(name string, sample []float64, cdf, left func(float64) float64) Fit {
	if left == nil {
		left = cdf
	}
	x := slices.Clone(sample)
	slices.Sort(x)
	n := float64(len(x))
	d := 0.0
	for i := 0; i < len(x); {
		j := i
		for j < len(x) && x[j] == x[i] {
			j++
		}
		d = max(d, math.Abs(float64(j)/n-cdf(x[i])), math.Abs(float64(i)/n-left(x[i])))
		i = j
	}
	return Fit{"KS " + name, len(x), d, math.Sqrt(math.Log(2/Alpha) / (2 * n))}
}

// ChiSquare is Pearson's test of counts against probabilities that sum to 1. Cells whose expected
// count is under 25 are joined to their neighbours, so that the limit law holds far enough out.
func ChiSquare(name string, counts []int64, probabilities []float64) Fit {
	n := int64(0)
	for _, c := range counts {
		n += c
	}
	stat, cells := 0.0, 0
	var observed, expected float64
	var lastO, lastE float64
	flush := func() {
		if cells > 0 {
			stat += (lastO - lastE) * (lastO - lastE) / lastE
		}
		lastO, lastE = observed, expected
		observed, expected = 0, 0
		cells++
	}
	for i, c := range counts {
		observed += float64(c)
		expected += probabilities[i] * float64(n)
		if expected >= 25 {
			flush()
		}
	}
	lastO, lastE = lastO+observed, lastE+expected // what is left goes to the last cell
	stat += (lastO - lastE) * (lastO - lastE) / lastE
	return Fit{"chi2 " + name, int(n), stat, chiSquareBound(float64(max(cells-1, 1)))}
}

// chiSquareBound returns the number that a chi-squared variable exceeds with probability Alpha.
func chiSquareBound(degrees float64) float64 {
	lo, hi := degrees, degrees+20*math.Sqrt(2*degrees)+200
	for range 100 {
		if mid := (lo + hi) / 2; mathext.GammaIncRegComp(degrees/2, mid/2) > Alpha {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// Variance tests whether independent draws of mean 0 have the given variance, for laws whose fourth
// moment is at most kurtosis times the squared variance. It uses the normal limit.
func Variance(name string, sample []float64, variance, kurtosis float64) Fit {
	sum := 0.0
	for _, x := range sample {
		sum += x * x
	}
	n := float64(len(sample))
	z := math.Abs(sum/n/variance-1) / math.Sqrt((kurtosis-1)/n)
	return Fit{"variance " + name, len(sample), z, normalBound()}
}

// Mean tests whether independent draws have the given mean; deviation is their standard deviation.
func Mean(name string, sample []float64, mean, deviation float64) Fit {
	sum := 0.0
	for _, x := range sample {
		sum += x - mean
	}
	n := float64(len(sample))
	return Fit{"mean " + name, len(sample), math.Abs(sum) / n / (deviation / math.Sqrt(n)), normalBound()}
}

// normalBound is the two-sided standard normal point of Alpha.
func normalBound() float64 { return math.Sqrt2 * math.Erfcinv(Alpha) }

// Coverage tests whether intervals that cover with a probability of at least level, each
// independently, may have covered hits times of n.
//
// Bound: Chernoff's, P[hits ≤ n·k] ≤ exp(−n·kl(k, level)) for k ≤ level.
func Coverage(name string, hits, n int, level float64) Fit {
	f := Fit{Name: name, N: n, Bound: -math.Log(Alpha)}
	if k := float64(hits) / float64(n); k < level {
		f.Statistic = float64(n) * divergence(k, level)
	}
	return f
}
