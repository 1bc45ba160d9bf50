package scalar

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"

	"scrim/engine/estimator"
)

// BallBits is the resolution of a clipped vector: lattice points per radius.
const BallBits = 30

// Ball clips small vectors, one a person, to a ball by one factor a person.
//
// Clip2 and Clip3 return integers y with ‖y‖₂ ≤ 2^30, exactly, for any finite or infinite v: the
// factor and the truncation toward zero are computed in floats inside one person, then the squared
// norm is checked in integers and the vector shortened until it passes. So the sum of y over
// persons has ℓ2 sensitivity 2^30 whatever the floats did, and 2·2^30 when a person is exchanged:
// the ball's diameter. Up to rounding y = 2^30·v/max(R, ‖v‖) with R the radius.
type Ball struct {
	radius2 float64 // squared radius
	inner   float64 // factor for vectors within the radius
}

// side is the lattice radius, shortened by more than the floats' rounding can add.
const side = (1 << BallBits) * (1 - 1e-12)

// NewBall returns the ball of the given radius > 0.
func NewBall(radius float64) Ball { return Ball{radius * radius, side / radius} }

// Clip3 clips a vector of three coordinates.
func (b Ball) Clip3(v [3]float64) [3]int64 {
	f := b.factor(float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2]))
	y := [3]int64{lattice(v[0] * f), lattice(v[1] * f), lattice(v[2] * f)}
	for y[0]*y[0]+y[1]*y[1]+y[2]*y[2] > 1<<(2*BallBits) { // at most 3·2^60
		for i := range y {
			y[i] -= int64(cmp.Compare(y[i], 0))
		}
	}
	return y
}

// Clip2 clips the vector (v, w). It takes and returns numbers, not arrays, as those are kept in
// memory.
func (b Ball) Clip2(v, w float64) (x, y int64) {
	f := b.factor(float64(v*v) + float64(w*w))
	x, y = lattice(v*f), lattice(w*f)
	for x*x+y*y > 1<<(2*BallBits) {
		x, y = x-int64(cmp.Compare(x, 0)), y-int64(cmp.Compare(y, 0))
	}
	return x, y
}

// ClipTo clips a vector of up to seven coordinates into dst, of its length: the squared norm then
// fits 63 bits.
func (b Ball) ClipTo(dst []int64, v []float64) {
	norm2 := 0.0
	for _, x := range v {
		norm2 += float64(x * x)
	}
	f := b.factor(norm2)
	for i, x := range v {
		dst[i] = lattice(x * f)
	}
	for squared(dst) > 1<<(2*BallBits) {
		for i := range dst {
			dst[i] -= int64(cmp.Compare(dst[i], 0))
		}
	}
}

// squared is the squared norm.
func squared(v []int64) (sum int64) {
	for _, x := range v {
		sum += x * x
	}
	return sum
}

// factor returns lattice units per unit of a vector with the given squared norm; 0 when that
// overflowed.
func (b Ball) factor(norm2 float64) float64 {
	if norm2 <= b.radius2 {
		return b.inner
	}
	return side / math.Sqrt(norm2)
}

// lattice cuts toward zero; what is out of range or not a number counts as 0.
func lattice(x float64) int64 {
	if x >= -(1<<BallBits) && x <= 1<<BallBits {
		return int64(x)
	}
	return 0
}

// BallSigma2 is the variance in lattice units with which the sum of clipped vectors costs rho: the
// same on every coordinate, ⌈w²·2^60/(2ρ)⌉. w is the ℓ2 sensitivity in radii: 1 under add-remove;
// under replace-one the diameter of the set that the vectors are from.
func BallSigma2(w Width, rho float64) *big.Int { return Sigma2(w.Square(), 1, rho) }

// Width is a sensitivity in radii of a ball, √(num/den).
type Width struct{ num, den int64 }

// Square is the squared sensitivity in lattice points, rounded up.
func (w Width) Square() *big.Int {
	delta2 := new(big.Int).Lsh(big.NewInt(w.num), 2*BallBits)
	return delta2.Quo(delta2.Add(delta2, big.NewInt(w.den-1)), big.NewInt(w.den))
}

// BallWidth is the sensitivity of a sum of vectors from a ball: 1, or the diameter 2.
func BallWidth(r estimator.Relation) Width { return Width{r.Factor() * r.Factor(), 1} }

// NewWidth returns √(num/den) under replace-one, and 1 under add-remove.
func NewWidth(r estimator.Relation, num, den int64) Width {
	if r != estimator.ReplaceOne {
		return Width{1, 1}
	}
	return Width{num, den}
}

// Joining is the share of its loss that a step of this width under replace-one has for one person
// more or less.
func (w Width) Joining() float64 { return float64(w.den) / float64(w.num) }

// String shows the sensitivity in units of the clip.
func (w Width) String() string {
	switch {
	case w.num == w.den:
		return "l2=clip"
	case w.den != 1:
		return fmt.Sprintf("l2=sqrt(%d/%d)*clip", w.num, w.den)
	case w.num == 4:
		return "l2=2*clip"
	}
	return fmt.Sprintf("l2=sqrt(%d)*clip", w.num)
}

// Deviation returns the sum of a person's rows minus rows·centre in units of 2^-shift steps, where
// centre is in these units already: exact while it fits 63 bits, a float beyond. It is a function
// of one person.
func Deviation(rows, total, centre int64, shift uint) float64 {
	total = min(max(total, -estimator.MaxUnits), estimator.MaxUnits) << shift
	hi, lo := bits.Mul64(uint64(max(centre, -centre)), uint64(rows))
	if hi > 0 || lo > 1<<62 {
		return float64(total) - float64(float64(rows)*float64(centre))
	}
	if centre < 0 {
		return float64(total + int64(lo))
	}
	return float64(total - int64(lo))
}

// Ceil returns the least integer at least x >= 0, at most 2^62, which is also the answer for NaN.
func Ceil(x float64) uint64 {
	if !(x < 1<<62) {
		return 1 << 62
	}
	n := int64(x)
	if float64(n) < x {
		n++
	}
	return uint64(n)
}

// Twice returns 2x as an integer, for a released number of persons.
func Twice(x float64) int64 { return int64(min(2*x, 1<<62)) }

// Cross clips vectors of two coordinates, one a person, to an ℓ1 ball by one factor a person: what
// Ball is for Laplace noise.
//
// Clip2 returns integers with |x| + |y| ≤ 2^30, exactly, for any v and w: the sum over persons has
// ℓ1 sensitivity 2^30, and 2·2^30 when a person is exchanged. Up to rounding (x, y) = 2^30·(v,
// w)/max(R, |v| + |w|) with R the radius.
type Cross struct{ radius, inner float64 }

// NewCross returns the ℓ1 ball of the given radius > 0.
func NewCross(radius float64) Cross { return Cross{radius, side / radius} }

// Clip2 clips the vector (v, w).
func (c Cross) Clip2(v, w float64) (x, y int64) {
	f := c.inner
	if norm := math.Abs(v) + math.Abs(w); !(norm <= c.radius) {
		f = side / norm
	}
	x, y = lattice(v*f), lattice(w*f)
	for max(x, -x)+max(y, -y) > 1<<BallBits {
		x, y = x-int64(cmp.Compare(x, 0)), y-int64(cmp.Compare(y, 0))
	}
	return x, y
}

// CrossWidth is an ℓ1 sensitivity in radii, num/den.
type CrossWidth struct{ num, den int64 }

// NewCrossWidth returns num/den under replace-one, and 1 under add-remove.
func NewCrossWidth(r estimator.Relation, num, den int64) CrossWidth {
	if r != estimator.ReplaceOne {
		return CrossWidth{1, 1}
	}
	return CrossWidth{num, den}
}

// Joining is the share of its ε that a step of this width under replace-one has for one person more
// or less, squared as Shares.Joining wants it.
func (w CrossWidth) Joining() float64 {
	x := float64(w.den) / float64(w.num)
	return min(1, x*x*(1+0x1p-50))
}

// Units is the sensitivity in lattice points, rounded up.
func (w CrossWidth) Units() int64 { return (w.num<<BallBits + w.den - 1) / w.den }

// String shows the sensitivity in units of the clip.
func (w CrossWidth) String() string {
	switch {
	case w.num == w.den:
		return "l1=clip"
	case w.den == 1:
		return fmt.Sprintf("l1=%d*clip", w.num)
	}
	return fmt.Sprintf("l1=%d/%d*clip", w.num, w.den)
}
