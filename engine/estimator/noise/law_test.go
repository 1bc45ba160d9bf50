package noise_test

import (
	"math"
	"math/big"
	"testing"

	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// pmf returns N_Z(0,σ²) on [-r, r] by summation, and r.
func pmf(sigma2 float64) ([]float64, int) {
	r := int(12*math.Sqrt(sigma2)) + 12
	p, z := make([]float64, 2*r+1), 0.0
	for i := range p {
		x := float64(i - r)
		p[i] = math.Exp(-x * x / (2 * sigma2))
		z += p[i]
	}
	for i := range p {
		p[i] /= z
	}
	return p, r
}

func counts(n, r int, draw func() int64) []int64 {
	c := make([]int64, 2*r+1)
	for range n {
		c[min(max(draw()+int64(r), 0), int64(2*r))]++
	}
	return c
}

func TestGaussianFollowsTheExactLaw(t *testing.T) {
	for _, s2 := range []int64{1, 2, 3, 10, 100, 10000} {
		p, r := pmf(float64(s2))
		wide, _ := pmf(float64(s2) * 1.69)
		n := stattest.Noiser(t, "gaussian")
		fast := counts(200000, r, func() int64 { return n.GaussianInt(0, noise.Variance{Lo: uint64(s2)}) })
		stattest.Accept(t, stattest.ChiSquare("fixed-size", fast, p))
		cut := make([]float64, len(p))
		copy(cut, wide[(len(wide)-len(p))/2:])
		stattest.Reject(t, stattest.ChiSquare("fixed-size against 1.3σ", fast, cut))
		ref := noise.BigGaussian(stattest.Source(t, "big"))
		slow := counts(20000, r, func() int64 { return ref(big.NewInt(s2)).Int64() })
		stattest.Accept(t, stattest.ChiSquare("big", slow, p))
	}
}

func TestGaussianIsNormalForLargeVariance(t *testing.T) {
	for _, bits := range []uint{40, 60, 80, 100, 110} { // the last is beyond the fixed-size path
		sigma2 := new(big.Int).Lsh(big.NewInt(1), bits)
		sigma := math.Ldexp(1, int(bits)/2)
		n, draws := stattest.Noiser(t, "large"), 50000
		if bits > 102 {
			draws = 20000
		}
		x := make([]float64, draws)
		for i := range x {
			f, _ := new(big.Float).SetInt(n.Gaussian(new(big.Int), sigma2)).Float64()
			x[i] = f / sigma
		}
		cdf := func(s float64) func(float64) float64 {
			return func(x float64) float64 { return math.Erfc(-x/s/math.Sqrt2) / 2 }
		}
		stattest.Accept(t, stattest.KS("normal", x, cdf(1), nil))
		stattest.Reject(t, stattest.KS("0.7", x, cdf(0.7), nil))
		stattest.Reject(t, stattest.KS("1.3", x, cdf(1.3), nil))
		stattest.Accept(t, stattest.Variance("large", x, 1, 3))
	}
}

func TestLaplaceFollowsTheExactLaw(t *testing.T) {
	for _, c := range [][2]int64{{1, 1}, {7, 2}, {1, 3}, {40, 1}} {
		scale := float64(c[0]) / float64(c[1])
		r := int(30*scale) + 30
		law := func(scale float64) []float64 {
			p, z := make([]float64, 2*r+1), 0.0
			for i := range p {
				p[i] = math.Exp(-math.Abs(float64(i-r)) / scale)
				z += p[i]
			}
			for i := range p {
				p[i] /= z
			}
			return p
		}
		n := stattest.Noiser(t, "laplace")
		got := counts(40000, r, func() int64 { return n.Laplace(new(big.Int), big.NewInt(c[0]), big.NewInt(c[1])).Int64() })
		stattest.Accept(t, stattest.ChiSquare("laplace", got, law(scale)))
		stattest.Reject(t, stattest.ChiSquare("1.3", got, law(scale*1.3)))
		stattest.Reject(t, stattest.ChiSquare("0.7", got, law(scale*0.7)))
	}
}

func TestBernExp(t *testing.T) {
	b := noise.BigBernExp(stattest.Source(t, "bernexp"))
	for _, c := range []struct{ num, den int64 }{{0, 1}, {1, 2}, {1, 1}, {7, 3}} {
		p := math.Exp(-float64(c.num) / float64(c.den))
		hits := int64(0)
		const n = 40000
		for range n {
			if b(big.NewInt(c.num), big.NewInt(c.den)) {
				hits++
			}
		}
		if c.num == 0 {
			if hits != n {
				t.Errorf("BernExp(0) failed %d times", n-hits)
			}
			continue
		}
		stattest.Accept(t, stattest.ChiSquare("bernexp", []int64{hits, n - hits}, []float64{p, 1 - p}))
		stattest.Reject(t, stattest.ChiSquare("bernexp off", []int64{hits, n - hits}, []float64{p * 0.85, 1 - p*0.85}))
	}
}

func TestNoiseIsAddedToTheValue(t *testing.T) {
	a, b := stattest.Noiser(t, "same"), stattest.Noiser(t, "same")
	for range 1000 {
		x := a.GaussianInt(0, noise.Variance{Lo: 1000})
		if y := b.GaussianInt(-12345, noise.Variance{Lo: 1000}); y != x-12345 {
			t.Fatalf("got %d, want %d", y, x-12345)
		}
	}
}

func TestGaussianIntSaturates(t *testing.T) {
	n := stattest.Noiser(t, "saturate")
	seen := map[int64]bool{}
	for range 200 {
		seen[n.GaussianInt(0, noise.Variance{Hi: 1 << 63})] = true // σ = 2^63.5
	}
	if !seen[math.MaxInt64] || !seen[math.MinInt64] {
		t.Error("a noise of 2^63.5 should have reached both ends in 200 draws")
	}
}

func TestFirstDrawsOfASeedStay(t *testing.T) {
	n := noise.New(&counter{})
	var got [6]int64
	for i := range got {
		got[i] = n.GaussianInt(0, noise.Variance{Lo: 1 << 40})
	}
	if want := golden; got != want {
		t.Errorf("got %v, want %v: the sampler draws differently", got, want)
	}
}

// counter is SplitMix64: a fixed stream that no library change moves.
type counter struct{ x uint64 }

func (c *counter) Uint64() uint64 {
	c.x += 0x9e3779b97f4a7c15
	z := c.x
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func TestSecureSourcesDiffer(t *testing.T) {
	a, b := noise.Secure(), noise.Secure()
	first, second := a.Uniform() == b.Uniform(), a.Uniform() == b.Uniform()
	if first && second {
		t.Error("two secure sources gave the same words")
	}
}

func TestVariancesMustBePositive(t *testing.T) {
	n := stattest.Noiser(t, "panic")
	for name, f := range map[string]func(){
		"gaussian":     func() { n.Gaussian(new(big.Int), new(big.Int)) },
		"int":          func() { n.GaussianInt(0, noise.Variance{}) },
		"rounded, big": func() { noise.Rounded(n).Gaussian(new(big.Int), new(big.Int)) },
		"rounded, int": func() { noise.Rounded(n).GaussianInt(0, noise.Variance{}) },
		"laplace":      func() { n.Laplace(new(big.Int), new(big.Int), big.NewInt(1)) },
		"den":          func() { n.Laplace(new(big.Int), big.NewInt(1), new(big.Int)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic without noise", name)
				}
			}()
			f()
		}()
	}
}

func BenchmarkGaussian(b *testing.B) {
	for _, bits := range []uint{0, 2, 10, 20, 40, 60, 80} {
		b.Run("fixed/sigma=2^"+big.NewInt(int64(bits)/2).String(), func(b *testing.B) {
			n := noise.Secure()
			v := noise.Variance{Lo: 1 << bits}
			if bits >= 64 {
				v = noise.Variance{Hi: 1 << (bits - 64)}
			}
			for b.Loop() {
				n.GaussianInt(0, v)
			}
		})
	}
	for _, bits := range []uint{2, 40, 80, 120} {
		b.Run("big/sigma=2^"+big.NewInt(int64(bits)/2).String(), func(b *testing.B) {
			draw := noise.BigGaussian(stattest.Source(b, "bench"))
			s2 := new(big.Int).Lsh(big.NewInt(1), bits)
			for b.Loop() {
				draw(s2)
			}
		})
	}
}
