package geometry

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// Seed names a direction: 16 random bytes that a device draws and sends.
type Seed [16]byte

// Sphere turns seeds into Gaussian vectors, the same on the device and in the decoder. It is not
// safe for concurrent use: give each goroutine its own.
type Sphere struct {
	prefix [sphereLabel + 32 + len(Seed{})]byte // label, fingerprint, seed
	stream *rand.ChaCha8
}

const sphereLabel = len("dp-sphere-v1")

// NewSphere returns the directions of the collection round with this fingerprint.
func NewSphere(fingerprint [32]byte) *Sphere {
	s := &Sphere{stream: rand.NewChaCha8([32]byte{})}
	copy(s.prefix[:], "dp-sphere-v1")
	copy(s.prefix[sphereLabel:], fingerprint[:])
	return s
}

// GaussTo writes independent standard Gaussians into g, which the seed alone determines: the
// ChaCha8 stream under SHA-256("dp-sphere-v1" | fingerprint | seed), and for each pair of
// coordinates Box-Muller's transform of two successive words. Nothing is rejected, so both sides
// stay in step; a last digit may differ between machines.
func (s *Sphere) GaussTo(g []float64, seed Seed) {
	copy(s.prefix[sphereLabel+32:], seed[:])
	s.stream.Seed(sha256.Sum256(s.prefix[:]))
	for i := 0; i < len(g); i += 2 {
		u1 := float64(s.stream.Uint64()>>11+1) / (1 << 53) // in (0, 1]
		u2 := float64(s.stream.Uint64()>>11) / (1 << 53)
		radius := math.Sqrt(-2 * math.Log(u1))
		sin, cos := math.Sincos(2 * math.Pi * u2)
		g[i] = radius * cos
		if i+1 < len(g) {
			g[i+1] = radius * sin
		}
	}
}

// DirectionTo writes the unit vector of the seed's Gaussian into u: uniform on the sphere over
// seeds.
func (s *Sphere) DirectionTo(u []float64, seed Seed) {
	s.GaussTo(u, seed)
	n := Norm(u)
	if n == 0 { // probability 2^-53 at most
		u[0], n = 1, 1
	}
	for i := range u {
		u[i] /= n
	}
}

// Agrees tells whether the scalar product of the seed's Gaussian with y is not negative.
func (s *Sphere) Agrees(y []float64, seed Seed) bool {
	g := make([]float64, len(y))
	s.GaussTo(g, seed)
	return dot(g, y) >= 0
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}

// SphereMean returns c_d = Γ(d/2)/(sqrt(π)·Γ((d+1)/2)), the expected length along a unit vector u
// of a uniform unit vector of d coordinates turned to u's side: 1, 2/π, ..., about sqrt(2/(πd)).
//
// Source: [DJW18], the mechanism for the mean in an l2 ball.
func SphereMean(d int) float64 {
	a, _ := math.Lgamma(float64(d) / 2)
	b, _ := math.Lgamma(float64(d+1) / 2)
	return math.Exp(a-b) / math.Sqrt(math.Pi)
}

// NewSeed makes a seed of two random words.
func NewSeed(a, b uint64) (s Seed) {
	binary.BigEndian.PutUint64(s[:], a)
	binary.BigEndian.PutUint64(s[8:], b)
	return s
}
