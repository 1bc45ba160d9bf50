package geometry

import (
	"math"
	"math/rand/v2"
	"testing"

	"scrim/test/stattest"
)

// TestGaussIsFixed pins the Gaussians of a seed, a part of the wire format.
func TestGaussIsFixed(t *testing.T) {
	want := []float64{0.007752796267825, 1.643585656005588, -0.721408534485270}
	g := make([]float64, 3)
	NewSphere([32]byte{1, 2, 3}).GaussTo(g, NewSeed(4, 5))
	for i := range g {
		if math.Abs(g[i]-want[i]) > 1e-12 {
			t.Errorf("coordinate %d is %.15f, want %.15f", i, g[i], want[i])
		}
	}
}

func TestGaussDependsOnSeedAndFingerprintOnly(t *testing.T) {
	draw := func(s *Sphere, seed Seed) float64 {
		g := make([]float64, 2)
		s.GaussTo(g, seed)
		return g[0]
	}
	s := NewSphere([32]byte{1})
	first := draw(s, NewSeed(1, 2))
	if draw(s, NewSeed(1, 3)) == first || draw(NewSphere([32]byte{2}), NewSeed(1, 2)) == first {
		t.Error("another seed or fingerprint gives the same numbers")
	}
	if draw(s, NewSeed(1, 2)) != first {
		t.Error("what was drawn before matters")
	}
}

func TestGaussIsStandardNormal(t *testing.T) {
	words := stattest.Source(t, "seeds")
	s := NewSphere([32]byte{})
	var even, odd []float64
	g := make([]float64, 2)
	for range 20000 {
		s.GaussTo(g, NewSeed(words.Uint64(), words.Uint64()))
		even, odd = append(even, g[0]), append(odd, g[1])
	}
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	stattest.Accept(t, stattest.KS("even coordinates", even, cdf, cdf))
	stattest.Accept(t, stattest.KS("odd coordinates", odd, cdf, cdf))
	product := make([]float64, len(even))
	for i := range product {
		product[i] = even[i] * odd[i]
	}
	stattest.Accept(t, stattest.Mean("product of a pair", product, 0, 1))
	for i := range even {
		even[i] *= 1.3
	}
	stattest.Reject(t, stattest.KS("scaled", even, cdf, cdf))
}

// TestSphereMean checks c_d against its known values, and against the mean of |u_1| over
// directions.
func TestSphereMean(t *testing.T) {
	for d, want := range map[int]float64{1: 1, 2: 2 / math.Pi, 8: .2910, 32: .14215, 128: .07066} {
		if math.Abs(SphereMean(d)-want) > 5e-5 {
			t.Errorf("c_%d = %v, want %v", d, SphereMean(d), want)
		}
	}
	words := rand.New(stattest.Source(t, "directions"))
	s := NewSphere([32]byte{})
	u := make([]float64, 5)
	var along []float64
	for range 20000 {
		s.DirectionTo(u, NewSeed(words.Uint64(), words.Uint64()))
		if math.Abs(Norm(u)-1) > 1e-14 {
			t.Fatalf("direction of length %v", Norm(u))
		}
		along = append(along, math.Abs(u[0]))
	}
	stattest.Accept(t, stattest.Mean("length along an axis", along, SphereMean(5), math.Sqrt(1./5-SphereMean(5)*SphereMean(5))))
	stattest.Reject(t, stattest.Mean("of another dimension", along, SphereMean(6), math.Sqrt(1./5-SphereMean(5)*SphereMean(5))))
}

func BenchmarkDirection8(b *testing.B) {
	s := NewSphere([32]byte{})
	u := make([]float64, 8)
	for i := range b.N {
		s.DirectionTo(u, NewSeed(uint64(i), 1))
	}
}
