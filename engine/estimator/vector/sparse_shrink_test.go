package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"scrim/test/stattest"
)

// shrunk is a set of true numbers and the standard deviations of their noise.
type shrunk struct{ truth, tau []float64 }

// meanErrors returns the mean absolute and squared errors of noisy numbers, clamped at 0, and of
// their shrunk forms.
func (s shrunk) meanErrors(r *rand.Rand) (raw, median, raw2, mean2 float64) {
	y := make([]float64, len(s.truth))
	for j, x := range s.truth {
		y[j] = x + s.tau[j]*r.NormFloat64()
	}
	k := newShrinker(y, s.tau, 1)
	d := float64(len(y))
	for j, x := range s.truth {
		z, m := min(max(y[j], 0), 1), k.mean(y[j], s.tau[j])
		raw += math.Abs(z-x) / d
		median += math.Abs(k.median(y[j], s.tau[j])-x) / d
		raw2 += (z - x) * (z - x) / d
		mean2 += (m - x) * (m - x) / d
	}
	return raw, median, raw2, mean2
}

// TestShrinkingHelpsCrowdsAndSparesTheRest: where true numbers lie close together against the noise
// the error falls severalfold, and where they do not it grows by no more than a few per cent. Few
// numbers five deviations apart are the worst case.
func TestShrinkingHelpsCrowdsAndSparesTheRest(t *testing.T) {
	r := rand.New(stattest.Source(t, "shrink"))
	set := func(n int, truth, tau func(j int) float64) shrunk {
		s := shrunk{make([]float64, n), make([]float64, n)}
		for j := range n {
			s.truth[j], s.tau[j] = truth(j), tau(j)
		}
		return s
	}
	flat := func(x float64) func(int) float64 { return func(int) float64 { return x } }
	zipf := func(j int) float64 { return 0.5 / float64(j+1) }
	for name, c := range map[string]struct {
		s             shrunk
		most, squared float64 // of the ratios of errors
	}{
		"all zero":       {set(1000, flat(0), flat(0.01)), 0.6, 0.1},
		"one number":     {set(1000, flat(0.3), flat(0.01)), 0.4, 0.15},
		"zipf":           {set(5000, zipf, flat(0.002)), 0.6, 0.4},
		"zipf, skewed":   {set(5000, zipf, func(j int) float64 { return 0.002 * math.Cbrt(zipf(j)/0.001) }), 0.8, 1.5},
		"even, dense":    {set(shrinkDim, func(j int) float64 { return float64(j) / 64 }, flat(0.003)), 1.1, 1.3},
		"even, many":     {set(3000, func(j int) float64 { return float64(j) / 3000 }, flat(0.01)), 1.05, 1.05},
		"uneven noise":   {set(3000, func(j int) float64 { return float64(j*7%3000) / 3000 }, func(j int) float64 { return math.Pow(10, -1-float64(j%5)) }), 1.02, 1.02},
		"noise only":     {set(500, flat(0.5), flat(30)), 0.1, 0.1},
		"more than fits": {set(40000, zipf, flat(0.001)), 0.6, 0.3},
	} {
		var raw, median, raw2, mean2 float64
		for range 10 {
			a, b, c, d := c.s.meanErrors(r)
			raw, median, raw2, mean2 = raw+a, median+b, raw2+c, mean2+d
		}
		t.Logf("%s: ratio of absolute errors %.3f, of squared errors %.3f", name, median/raw, mean2/raw2)
		if median > c.most*raw || mean2 > c.squared*raw2 {
			t.Errorf("%s: errors %v and %v, without shrinking %v and %v", name, median, mean2, raw, raw2)
		}
	}
}

// TestShrinkingTakesAnyNumbers: released numbers may be anything, and the grid stays of a size that
// fits.
func TestShrinkingTakesAnyNumbers(t *testing.T) {
	r := rand.New(stattest.Source(t, "any"))
	for range 200 {
		y, tau := make([]float64, 200), make([]float64, 200)
		for j := range y {
			y[j] = []float64{0, 1, -1e300, 1e300, r.NormFloat64(), r.Float64() * 1e-9}[r.IntN(6)]
			tau[j] = math.Pow(10, float64(r.IntN(40)-30))
		}
		k := newShrinker(y, tau, 1)
		if len(k.points) > shrinkWindow*len(y) {
			t.Fatalf("%d grid points", len(k.points))
		}
		for j := range y {
			for _, x := range []float64{k.mean(y[j], tau[j]), k.median(y[j], tau[j])} {
				if x != y[j] && !(x >= 0 && x <= 1) {
					t.Fatalf("%v ± %v became %v", y[j], tau[j], x)
				}
			}
		}
	}
}
