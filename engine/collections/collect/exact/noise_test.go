package exact

import (
	"math"
	"testing"

	"scrim/engine/estimator/noise"
	"scrim/test/stattest"
)

// normalised returns weights over their sum.
func normalised(n int, weight func(i int) float64) []float64 {
	p, sum := make([]float64, n), 0.0
	for i := range p {
		p[i] = weight(i)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// follows draws n times and compares with the law p, where place 0 is the value from; it must not
// be the law q.
func follows(t *testing.T, name string, n, from int, draw func(*Rand) (int64, error), p, q []float64) {
	t.Helper()
	r, c := seeded(t, name), make([]int64, len(p))
	for range n {
		x, err := draw(r)
		if err != nil {
			t.Fatal(err)
		}
		c[min(max(int(x)-from, 0), len(p)-1)]++
	}
	stattest.Accept(t, stattest.ChiSquare(name, c, p))
	stattest.Reject(t, stattest.ChiSquare(name+" broken", c, q))
}

func geometric(x float64) []float64 {
	return normalised(int(40/x)+2, func(i int) float64 { return math.Exp(-float64(i) * x) })
}

func TestGeometricLaw(t *testing.T) {
	for _, c := range []struct {
		a, b uint64
		n    int
	}{{1, 16, 1_000_000}, {3, 7, 200_000}, {7, 3, 200_000}, {1, 1, 200_000}, {5, 1000, 200_000}} {
		x := float64(c.a) / float64(c.b)
		p, q := geometric(x), geometric(x*1.05)
		q = append(q, make([]float64, len(p)-len(q))...)
		follows(t, "geometric", c.n, 0, func(r *Rand) (int64, error) { return r.Geometric(c.a, c.b) }, p, q)
	}
}

func laplace(x float64, reach int) []float64 {
	return normalised(2*reach+1, func(i int) float64 { return math.Exp(-math.Abs(float64(i-reach)) * x) })
}

func TestLaplaceLaw(t *testing.T) {
	for _, c := range []struct {
		a, b uint64
		n    int
	}{{1, 16, 1_000_000}, {1, 1, 200_000}, {5, 2, 200_000}} {
		x := float64(c.a) / float64(c.b)
		reach := int(40/x) + 2
		follows(t, "laplace", c.n, -reach, func(r *Rand) (int64, error) { return r.Laplace(c.a, c.b) }, laplace(x, reach), laplace(x*1.05, reach))
	}
}

func TestGaussianLaw(t *testing.T) {
	gauss := func(s2 float64) []float64 {
		return normalised(401, func(i int) float64 { return math.Exp(-float64((i-200)*(i-200)) / (2 * s2)) })
	}
	for _, c := range []struct{ s2, n int }{{1, 200_000}, {10, 1_000_000}, {300, 200_000}} {
		draw := func(r *Rand) (int64, error) { return r.Gaussian(noise.Variance{Lo: uint64(c.s2)}), nil }
		follows(t, "gaussian", c.n, -200, draw, gauss(float64(c.s2)), gauss(float64(c.s2)*1.05))
	}
}

func TestVariancesOutOfRange(t *testing.T) {
	panics(t, "gaussian", func() { Secure().Gaussian(noise.Variance{Hi: 1 << 38}) })
	panics(t, "no noise", func() { Secure().Gaussian(noise.Variance{}) })
}

func poissonPMF(rate float64) []float64 {
	return normalised(int(rate+12*math.Sqrt(rate)+40), func(i int) float64 {
		f, _ := math.Lgamma(float64(i) + 1)
		return math.Exp(float64(i)*math.Log(rate) - rate - f)
	})
}

func TestPoissonLaw(t *testing.T) {
	for _, c := range []struct {
		l uint64
		n int
	}{{3<<RateBits + 900_000, 1_000_000}, {1 << 17, 200_000}, {1 << 19, 200_000}, {700_000, 200_000}, {1 << 20, 200_000}, {40<<RateBits + 7, 100_000}} {
		rate := float64(c.l) / (1 << RateBits)
		p, q := poissonPMF(rate), poissonPMF(rate*1.05)
		q = append(q, make([]float64, len(p))...)[:len(p)]
		follows(t, "poisson", c.n, 0, func(r *Rand) (int64, error) { return r.Poisson(c.l) }, p, q)
	}
	r := seeded(t, "no rate")
	for range 1000 {
		if k, err := r.Poisson(0); k != 0 || err != nil {
			t.Fatalf("rate 0 gave %d, %v", k, err)
		}
	}
}
