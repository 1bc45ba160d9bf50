package noise_test

import (
	"math"
	"math/big"
	"testing"

	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// roundedPMF returns the law of round(N(0,σ²)) on [-r, r], and r.
func roundedPMF(sigma2 float64) ([]float64, int) {
	r := int(9*math.Sqrt(sigma2)) + 9
	p := make([]float64, 2*r+1)
	above := func(x float64) float64 { return math.Erfc(x/math.Sqrt(2*sigma2)) / 2 }
	for i := range p {
		x := math.Abs(float64(i - r))
		p[i] = above(x-0.5) - above(x+0.5)
	}
	return p, r
}

// TestRoundedFollowsTheExactLaw: cell by cell, at stattest.Alpha for each of the assertions. The
// discrete Gaussian is another law where σ is small, and wider noise always is.
func TestRoundedFollowsTheExactLaw(t *testing.T) {
	for _, s2 := range []int64{1, 2, 3, 10, 100, 10000} {
		p, r := roundedPMF(float64(s2))
		wide, _ := roundedPMF(float64(s2) * 1.69)
		n := noise.Rounded(stattest.Noiser(t, "rounded"))
		small := counts(200000, r, func() int64 { return n.GaussianInt(0, noise.Variance{Lo: uint64(s2)}) })
		stattest.Accept(t, stattest.ChiSquare("fixed-size", small, p))
		stattest.Reject(t, stattest.ChiSquare("fixed-size against 1.3σ", small, wide[(len(wide)-len(p))/2:][:len(p)]))
		slow := noise.SlowlyRounded(stattest.Source(t, "slow"))
		exact := counts(20000, r, func() int64 { return slow.Gaussian(new(big.Int), big.NewInt(s2)).Int64() })
		stattest.Accept(t, stattest.ChiSquare("big integers", exact, p))
		if s2 == 1 {
			d := stattest.Noiser(t, "discrete")
			other := counts(200000, r, func() int64 { return d.GaussianInt(0, noise.Variance{Lo: 1}) })
			stattest.Reject(t, stattest.ChiSquare("the discrete Gaussian", other, p))
		}
	}
}

func TestRoundedIsNormalForLargeVariance(t *testing.T) {
	for _, bits := range []uint{40, 80, 101, 110, 200} { // the last two are beyond the fixed-size path
		sigma2 := new(big.Int).Lsh(big.NewInt(1), bits)
		sigma := math.Ldexp(math.Sqrt(math.Ldexp(1, int(bits%2))), int(bits)/2)
		n := noise.Rounded(stattest.Noiser(t, "large"))
		x := make([]float64, 20000)
		for i := range x {
			v, _ := new(big.Float).SetInt(n.Gaussian(big.NewInt(7), sigma2)).Float64()
			x[i] = (v - 7) / sigma
		}
		cdf := func(scale float64) func(float64) float64 {
			return func(v float64) float64 { return math.Erfc(-v/scale/math.Sqrt2) / 2 }
		}
		stattest.Accept(t, stattest.KS("normal", x, cdf(1), cdf(1)))
		stattest.Reject(t, stattest.KS("1.3σ", x, cdf(1.3), cdf(1.3)))
		stattest.Reject(t, stattest.KS("0.7σ", x, cdf(0.7), cdf(0.7)))
	}
}

// TestRoundedLeavesOtherNoise: what is not Gaussian is drawn by the Noiser within.
func TestRoundedLeavesOtherNoise(t *testing.T) {
	plain, rounded := stattest.Noiser(t, "same"), noise.Rounded(stattest.Noiser(t, "same"))
	for range 100 {
		a := plain.Laplace(big.NewInt(3), big.NewInt(7), big.NewInt(2))
		if b := rounded.Laplace(big.NewInt(3), big.NewInt(7), big.NewInt(2)); a.Cmp(b) != 0 || plain.Uniform() != rounded.Uniform() {
			t.Fatal("another draw")
		}
	}
}

// BenchmarkRounded: a rounded normal and a discrete Gaussian number, beside each other.
func BenchmarkRounded(b *testing.B) {
	for name, v := range map[string]noise.Variance{"sigma=3": {Lo: 9}, "sigma=2^20": {Lo: 1 << 40}, "sigma=2^40": {Hi: 1 << 16}} {
		for law, n := range map[string]noise.Noiser{"rounded": noise.Rounded(noise.Secure()), "discrete": noise.Secure()} {
			b.Run(law+"/"+name, func(b *testing.B) {
				for b.Loop() {
					n.GaussianInt(0, v)
				}
			})
		}
	}
}
