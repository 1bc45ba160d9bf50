package exact

import (
	"fmt"
	"math"
	"testing"

	"scrim/test/stattest"
)

// negative returns the negative binomial law of shape s and ratio e^-x.
func negative(s, x float64) []float64 {
	return normalised(int(40/x)+10, func(k int) float64 {
		up, _ := math.Lgamma(float64(k) + s)
		down, _ := math.Lgamma(float64(k) + 1)
		return math.Exp(up - down - float64(k)*x)
	})
}

var shares = []struct {
	h, a, b uint64
	n       int
}{
	{10, 1, 16, 1_000_000}, // inside and outside the blocks
	{1, 1, 4, 200_000},     // a geometric law
	{2, 3, 4, 200_000},
	{3, 5, 2, 200_000}, // the tail only
	{1, 1, 1, 200_000},
	{2, 2, 7, 200_000}, // K·a > b
	{50, 1, 64, 200_000},
	{3, 1, 1000, 200_000},
}

func TestNegativeBinomialLaw(t *testing.T) {
	for _, c := range shares {
		s, x := 1/float64(c.h), float64(c.a)/float64(c.b)
		follows(t, fmt.Sprint("shares ", c), c.n, 0, func(r *Rand) (int64, error) { return r.NegativeBinomial(c.h, c.a, c.b) },
			negative(s, x), negative(s*1.2, x))
	}
}

// TestTailOfTheNegativeBinomialLaw compares draws from the first tail block on: there the laws of a
// draw without its tail, and of one whose 2/e is 1, differ most.
func TestTailOfTheNegativeBinomialLaw(t *testing.T) {
	const n = 1_000_000
	p := negative(0.5, 0.25) // K = 4
	var beyond [3]float64    // from 4, 8, 16
	for i, from := range []int{4, 8, 16} {
		for _, x := range p[from:] {
			beyond[i] += x
		}
	}
	r, c := seeded(t, "tail"), [3]int64{}
	for range n {
		k, err := r.NegativeBinomial(2, 1, 4)
		if err != nil {
			t.Fatal(err)
		}
		for i, from := range []int64{4, 8, 16} {
			if k >= from {
				c[i]++
			}
		}
	}
	for i, b := range beyond {
		got := []int64{c[i], n - c[i]}
		stattest.Accept(t, stattest.ChiSquare("beyond", got, []float64{b, 1 - b}))
		stattest.Reject(t, stattest.ChiSquare("beyond, broken", got, []float64{b * 1.2, 1 - b*1.2}))
	}
}

// TestRejectionHasTheSameLaw draws as the definition does: a geometric draw k is accepted with
// probability C(k+r−1, k).
func TestRejectionHasTheSameLaw(t *testing.T) {
	draw := func(r *Rand) (int64, error) {
	again:
		for {
			k, err := r.Geometric(1, 16)
			if err != nil {
				return 0, err
			}
			for i := range uint64(k) {
				if !r.Bernoulli(1+10*i, 10*(i+1)) {
					continue again
				}
			}
			return k, nil
		}
	}
	follows(t, "rejection", 100_000, 0, draw, negative(0.1, 1./16), negative(0.11, 1./16))
}

func TestMomentsOfAShare(t *testing.T) {
	const n = 1_000_000
	r, x := seeded(t, "moments"), make([]float64, n)
	sum := 0.0
	for i := range x {
		k, err := r.NegativeBinomial(10, 1, 16)
		if err != nil {
			t.Fatal(err)
		}
		x[i] = float64(k)
		sum += x[i]
	}
	stattest.Accept(t, stattest.Mean("share", x, 1.5505, math.Sqrt(25.59)))
	for i := range x {
		x[i] -= 1.5505
	}
	// kurtosis 3 + 6/r + 1/variance
	stattest.Accept(t, stattest.Variance("share", x, 25.59, 3+6*10+1/25.59))
	stattest.Reject(t, stattest.Variance("share", x, 25.59*1.1, 3+6*10+1/25.59))
}

// TestSharesAddUpToLaplace sums the noise of 50 devices: P[0] = (1−α)/(1+α) = 0.0078, variance
// 2α/(1−α)² = 8191.8.
func TestSharesAddUpToLaplace(t *testing.T) {
	const h, n, reach = 50, 100_000, 2600
	add := func(devices int) func(r *Rand) (int64, error) {
		return func(r *Rand) (int64, error) {
			sum := int64(0)
			for range devices {
				up, err := r.NegativeBinomial(h, 1, 64)
				if err != nil {
					return 0, err
				}
				down, err := r.NegativeBinomial(h, 1, 64)
				if err != nil {
					return 0, err
				}
				sum += up - down
			}
			return sum, nil
		}
	}
	p := laplace(1./64, reach)
	variance := 0.0
	for i, x := range p {
		variance += x * float64(i-reach) * float64(i-reach)
	}
	if math.Abs(variance-8191.8) > 0.1 || math.Abs(p[reach]-0.0078) > 0.00005 {
		t.Errorf("variance %v, P[0] = %v", variance, p[reach])
	}
	follows(t, "50 devices", n, -reach, add(h), p, laplace(1.1/64, reach))
	r, c := seeded(t, "45 devices"), make([]int64, len(p))
	for range n {
		x, _ := add(h - 5)(r)
		c[min(max(int(x)+reach, 0), len(p)-1)]++
	}
	stattest.Reject(t, stattest.ChiSquare("45 devices", c, p))
}
