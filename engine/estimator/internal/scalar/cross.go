package scalar

import (
	"cmp"
	"fmt"
	"math"

	"scrim/engine/estimator"
)

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
