package device

import (
	"encoding/binary"
	"math"

	"scrim/engine/collect"
	"scrim/engine/collect/exact"
	"scrim/engine/collect/geometry"
	"scrim/engine/estimator/noise"
)

// direction draws the payload of round 3 of LDP_SCM3: a seed, and one randomised bit that says on
// which side of the seed's direction the shifted vector lies.
//
// Privacy: the seed is independent of the value, and given the seed the value enters through one
// bit of binary randomised response, so the report is ε-DP whatever the floats before it do.
func (d *Device) direction(r *exact.Rand, c collect.Cell, v collect.Value) ([]byte, error) {
	draw, err := d.drawer(c)
	if err != nil {
		return nil, err
	}
	y := d.shifted(v)
	seed := geometry.NewSeed(r.Uint64(), r.Uint64())
	b, err := draw(r, one(side(r, d.sphere, seed, y, d.p.Published.Clip)))
	return append(seed[:], b...), err
}

// side returns the bit before it is randomised: with probability (1+|y|/clip)/2 whether the seed's
// Gaussian g lies on y's side, else the opposite. Averaged over seeds, (2·bit-1)·g/|g| is
// c_d·y/clip where |y| <= clip; longer vectors count as of length clip.
//
// Source: [DJW18], the mechanism for an l2 ball.
func side(r *exact.Rand, s *geometry.Sphere, seed geometry.Seed, y []float64, clip float64) bool {
	length := geometry.Steps(geometry.Fraction(geometry.Norm(y), 0, clip), geometry.One)
	straight := r.Uniform(2*geometry.One) < geometry.One+length
	return s.Agrees(y, seed) == straight
}

// gauss draws the payload of round 3 of LDP_SCM3 with the discrete Gaussian: the shifted vector,
// clipped to Clip, in 1/65536 of Clip/sqrt(d), plus noise in every coordinate.
//
// Privacy: the integer vector has norm at most S, kept by Shrink, so another value moves it by at
// most 2S; and noise of variance 2S²/ρ or more is ρ-zCDP [CKS20, Theorem 14]. Sums beyond what the
// server accepts are brought to its limit, after the noise.
func (d *Device) gauss(r *exact.Rand, c collect.Cell, v collect.Value) []byte {
	p := d.p
	z := gaussGrid(d.shifted(v), p.Published.Clip, p.GaussBound())
	sigma2 := noise.Variance{Lo: p.GaussVariance()}
	limit := p.DrawLimit(c)
	payload := make([]byte, 0, 4*len(z))
	for _, x := range z {
		payload = binary.BigEndian.AppendUint32(payload, uint32(int32(noisy(x, r.Gaussian(sigma2), limit))))
	}
	return payload
}

// gaussGrid returns y, clipped to clip in place, in 1/65536 of clip/sqrt(d), its squares summing to
// at most square.
func gaussGrid(y []float64, clip float64, square uint64) []int64 {
	geometry.Clip(y, clip)
	root := collect.GridRoot * math.Sqrt(float64(len(y)))
	z := geometry.Truncate(y, root/clip, int64(math.Ceil(root)))
	geometry.Shrink(z, square)
	return z
}
