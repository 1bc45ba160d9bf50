package tree

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"scrim/test/stattest"
)

func randomHaar(r *rand.Rand, k int) *Haar {
	levels := make([]Level, k)
	for l := range levels {
		values := make([]float64, 1<<(k-l-1))
		for v := range values {
			values[v] = 0.4 * r.NormFloat64()
		}
		levels[l] = Level{values: values, variance: 1, reports: 1, law: law{each: 4, tied: 1}}
	}
	return NewHaar(levels)
}

// coefficients are the Haar coefficients of shares of leaves, without noise.
func coefficients(leaves []float64) *Haar {
	k := bits.Len(uint(len(leaves))) - 1
	levels := make([]Level, k)
	for l := range levels {
		levels[l] = Missing(1 << (k - l - 1))
		for i, x := range leaves {
			if i>>l&1 == 1 {
				x = -x
			}
			levels[l].values[i>>(l+1)] += x
		}
	}
	return NewHaar(levels)
}

// TestHaarWithoutNoise checks ranges, quantiles and the mean of shares that are known.
func TestHaarWithoutNoise(t *testing.T) {
	r := rand.New(stattest.Source(t, "haar"))
	leaves := make([]float64, 32)
	for range 32 {
		leaves[r.IntN(32)] += 1.0 / 32
	}
	haar := coefficients(leaves)
	mean := 0.0
	for i, x := range leaves {
		mean += x * (float64(i) + 0.5) / 32
	}
	if got, _ := haar.Mean(); math.Abs(got-mean) > 1e-12 {
		t.Errorf("mean %v, want %v", got, mean)
	}
	for range 200 {
		a, b := 1.2*r.Float64()-0.1, 1.2*r.Float64()-0.1
		if got, _ := haar.Range(a, b); math.Abs(got-dot(leaves, overlap(32, a, b))) > 1e-12 {
			t.Errorf("[%v, %v]: %v, want %v", a, b, got, dot(leaves, overlap(32, a, b)))
		}
		q := r.Float64()
		if below := dot(leaves, overlap(32, 0, haar.Quantile(q))); math.Abs(below-q) > 1e-12 {
			t.Errorf("a share %v is below the quantile %v", below, q)
		}
	}
	for q, want := range map[float64]float64{-1: 0, 0: 0} {
		if got := haar.Quantile(q); got != want {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	if a, b := haar.Quantile(1), haar.Quantile(3); a != b || dot(leaves, overlap(32, 0, a)) != 1 {
		t.Errorf("quantile 1: %v, 3: %v", a, b)
	}
}

// TestHaarMeanIsARange compares the mean, a sum over all blocks, with the ranges above every edge.
func TestHaarMeanIsARange(t *testing.T) {
	haar := randomHaar(rand.New(stattest.Source(t, "haar mean")), 5)
	want := 0.5 / 32
	for i := 1; i < 32; i++ {
		above, _ := haar.Range(float64(i)/32, 1)
		want += above / 32
	}
	if got, stderr := haar.Mean(); math.Abs(got-want) > 1e-12 || !(stderr > 0) {
		t.Errorf("mean %v ± %v, want %v", got, stderr, want)
	}
}

func TestWalsh(t *testing.T) {
	r := rand.New(stattest.Source(t, "walsh"))
	for _, n := range []int{1, 2, 4, 8, 64, 128} {
		x := make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		want := make([]float64, n)
		for v := range want {
			for j := range x {
				if bits.OnesCount(uint(j&v))%2 == 0 {
					want[v] += x[j]
				} else {
					want[v] -= x[j]
				}
			}
		}
		walsh(x)
		if d := distance(x, want); d > 1e-12 {
			t.Errorf("order %d: %v off", n, d)
		}
	}
}

// TestHaarErrors finds the weight of every coefficient in a range by moving it, and the variance
// that they make.
func TestHaarErrors(t *testing.T) {
	r := rand.New(stattest.Source(t, "haar errors"))
	for range 50 {
		haar := randomHaar(r, 4)
		a, b := r.Float64(), r.Float64()
		a, b = min(a, b), max(a, b)
		value, stderr := haar.Range(a, b)
		variance := 0.0
		for _, level := range haar.levels {
			squares, part := 0.0, 0.0
			for v := range level.values {
				level.values[v]++
				moved, _ := haar.Range(a, b)
				level.values[v]--
				squares += (moved - value) * (moved - value)
				part += (moved - value) * level.values[v]
			}
			variance += max(4*squares-part*part, 3*squares)
		}
		if math.Abs(stderr*stderr-variance) > 1e-9 {
			t.Errorf("[%v, %v]: variance %v, want %v", a, b, stderr*stderr, variance)
		}
	}
}
