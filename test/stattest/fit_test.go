package stattest

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator/noise"
)

func normal(t *testing.T, n int, shift, scale float64) []float64 {
	r := rand.New(Source(t, t.Name()))
	x := make([]float64, n)
	for i := range x {
		x[i] = shift + scale*r.NormFloat64()
	}
	return x
}

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func TestKSSeparatesGoodFromBad(t *testing.T) {
	const n = 20000
	Accept(t, KS("normal", normal(t, n, 0, 1), phi, nil))
	Reject(t, KS("narrow", normal(t, n, 0, 0.7), phi, nil))
	Reject(t, KS("wide", normal(t, n, 0, 1.3), phi, nil))
	Reject(t, KS("shifted", normal(t, n, 0.1, 1), phi, nil))
}

func TestMomentsSeparateGoodFromBad(t *testing.T) {
	const n = 20000
	Accept(t, Variance("normal", normal(t, n, 0, 1), 1, 3))
	Reject(t, Variance("narrow", normal(t, n, 0, 0.9), 1, 3))
	Reject(t, Variance("wide", normal(t, n, 0, 1.1), 1, 3))
	Accept(t, Mean("normal", normal(t, n, 5, 1), 5, 1))
	Reject(t, Mean("high", normal(t, n, 5.1, 1), 5, 1))
	Reject(t, Mean("low", normal(t, n, 4.9, 1), 5, 1))
}

func TestChiSquareSeparatesGoodFromBad(t *testing.T) {
	p := []float64{0.5, 0.3, 0.1, 0.0999, 0.0001}
	draw := func(q []float64) []int64 {
		r := rand.New(Source(t, "chi"))
		c := make([]int64, len(p))
		for range 50000 {
			u, i := r.Float64(), 0
			for i < len(q)-1 && u >= q[i] {
				u -= q[i]
				i++
			}
			c[i]++
		}
		return c
	}
	Accept(t, ChiSquare("same", draw(p), p))
	Reject(t, ChiSquare("other", draw([]float64{0.48, 0.32, 0.1, 0.0999, 0.0001}), p))
	Reject(t, ChiSquare("last cell", draw([]float64{0.5, 0.3, 0.09, 0.0999, 0.0101}), p))
}

func TestChiSquareBoundIsTheQuantile(t *testing.T) {
	// The survival function of chi-squared with 2 degrees is exp(-x/2).
	if got, want := chiSquareBound(2), -2*math.Log(Alpha); math.Abs(got-want) > 1e-6 {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLossSeesAChangedQuery(t *testing.T) {
	a := &Recorder{Answer: func(_ int, v, _ *big.Int) *big.Int { return v }}
	a.GaussianInt(7, noise.Variance{Lo: 2})
	b := a.Replay(t)
	if got := b.GaussianInt(9, noise.Variance{Lo: 2}); got != 7 {
		t.Errorf("the replay answered %d, want 7", got)
	}
	if got := Loss(t, a, b); got.Cmp(big.NewRat(1, 1)) != 0 { // 2²/(2·2)
		t.Errorf("loss %v, want 1", got)
	}
}

// TestSourcesDiffer fails when two names share a stream: then every sampler of a test would draw
// the same noise.
func TestSourcesDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for i := range 1000 {
		name := fmt.Sprint("stream", i)
		w := Source(t, name).Uint64()
		if other, ok := seen[w]; ok {
			t.Fatalf("%s and %s share a stream", name, other)
		}
		seen[w] = name
	}
	if a, b := Source(t, "same"), Source(t, "same"); a.Uint64() != b.Uint64() {
		t.Error("one name gives two streams")
	}
}
