package geometry

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Norm returns the l2 norm of x, without overflow of squares on the way.
func Norm(x []float64) float64 {
	top := 0.0
	for _, c := range x {
		top = max(top, math.Abs(c))
	}
	if top == 0 || math.IsInf(top, 0) || math.IsNaN(top) {
		return top
	}
	sum := 0.0
	for _, c := range x {
		c /= top
		sum += float64(c * c)
	}
	return top * math.Sqrt(sum)
}

// Clip scales x in place to norm radius if its norm is larger. x is finite. The norm afterwards may
// be above radius by rounding; bounds that privacy needs are kept in integers (Shrink).
func Clip(x []float64, radius float64) {
	n := Norm(x)
	if n <= radius {
		return
	}
	f := radius / n
	if math.IsInf(n, 1) { // finite coordinates with an infinite norm: halve first
		for i := range x {
			x[i] /= float64(len(x))
		}
		f = radius / Norm(x)
	}
	for i := range x {
		x[i] *= f
	}
}

// Shift returns y - c in place.
func Shift(y, c []float64) {
	for i := range y {
		y[i] -= c[i]
	}
}

// Shrink moves the largest coordinates of z toward zero, one step at a time, until their squares
// sum to at most square. This is where the l2 bound of an integer vector is enforced: exactly,
// whatever floats did before. It changes nothing but what floating-point error has left.
func Shrink(z []int64, square uint64) {
	for exceeds(z, square) {
		at := 0
		for i := range z {
			if magnitude(z[i]) > magnitude(z[at]) {
				at = i
			}
		}
		if z[at] > 0 {
			z[at]--
		} else {
			z[at]++
		}
	}
}

// exceeds tells whether the squares of z sum to more than square.
func exceeds(z []int64, square uint64) bool {
	for _, c := range z {
		hi, lo := bits.Mul64(magnitude(c), magnitude(c))
		if hi != 0 || lo > square {
			return true
		}
		square -= lo
	}
	return false
}

func magnitude(c int64) uint64 {
	if c < 0 {
		return -uint64(c)
	}
	return uint64(c)
}

// Padded returns the least power of two that is at least d; d is at least 1.
func Padded(d int) int { return 1 << bits.Len(uint(d-1)) }

// Rotation is the public orthonormal map x -> H·D·x/sqrt(p) of vectors of d coordinates, padded by
// zeros to p, with random signs D and the Hadamard matrix H in Sylvester's form. It spreads what is
// in one coordinate over all. It is immutable.
//
// Source: [HLY21] Section 4.1 and Lemma 6.
type Rotation struct {
	d     int
	signs []float64 // p of them, each ±1/sqrt(p)
}

// NewRotation returns the rotation of d coordinates whose signs a public seed gives: bit i mod 64
// of word i/64 of the ChaCha8 stream under SHA-256("scrim signs 1" | seed); 1 is minus.
func NewRotation(d int, seed []byte) *Rotation {
	stream := rand.NewChaCha8(sha256.Sum256(append([]byte("scrim signs 1"), seed...)))
	p := Padded(d)
	scale := 1 / math.Sqrt(float64(p))
	signs := make([]float64, p)
	var word uint64
	for i := range signs {
		if i%64 == 0 {
			word = stream.Uint64()
		}
		signs[i] = scale
		if word>>(i%64)&1 == 1 {
			signs[i] = -scale
		}
	}
	return &Rotation{d, signs}
}

// Apply returns the rotation of x, of d coordinates, in p.
func (r *Rotation) Apply(x []float64) []float64 {
	if len(x) != r.d {
		panic("geometry: length of a vector to rotate")
	}
	y := make([]float64, len(r.signs))
	for i, c := range x {
		y[i] = c * r.signs[i]
	}
	hadamard(y)
	return y
}

// Invert returns the first d coordinates of the vector whose rotation is y, of p coordinates.
func (r *Rotation) Invert(y []float64) []float64 {
	if len(y) != len(r.signs) {
		panic("geometry: length of a vector to rotate back")
	}
	x := append([]float64(nil), y...)
	hadamard(x)
	for i := range x {
		x[i] *= r.signs[i]
	}
	return x[:r.d]
}

// hadamard multiplies x, of a power of two in length, by the matrix of entries ±1 in Sylvester's
// form.
func hadamard(x []float64) {
	for h := 1; h < len(x); h *= 2 {
		for i := 0; i < len(x); i += 2 * h {
			a, b := x[i:i+h], x[i+h:i+2*h]
			for j, u := range a {
				v := b[j]
				a[j], b[j] = u+v, u-v
			}
		}
	}
}

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
