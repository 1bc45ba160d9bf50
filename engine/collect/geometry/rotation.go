package geometry

import (
	"crypto/sha256"
	"math"
	"math/bits"
	"math/rand/v2"
)

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
