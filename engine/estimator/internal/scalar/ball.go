package scalar

import "math"

// BallBits is the resolution of a clipped vector: lattice points per radius.
const BallBits = 30

// Ball clips small vectors, one a person, to a ball by one factor a person.
//
// Clip returns integers y with ‖y‖₂ ≤ 2^30, exactly, for any finite or infinite v: the factor and the
// truncation toward zero are computed in floats inside one person, then the squared norm is checked in
// integers and the vector shortened until it passes. So the sum of y over persons has ℓ2 sensitivity
// 2^30 whatever the floats did. Up to rounding y = 2^30·v/max(R, ‖v‖) with R the radius.
type Ball struct{ radius float64 }

// NewBall returns the ball of the given radius > 0.
func NewBall(radius float64) Ball { return Ball{radius} }

// Clip3 clips a vector of three coordinates; shorter vectors have zeros.
func (b Ball) Clip3(v [3]float64) [3]int64 {
	norm := math.Sqrt(float64(v[0]*v[0]) + float64(v[1]*v[1]) + float64(v[2]*v[2]))
	f := (1 << BallBits) * (1 - 1e-12) / max(b.radius, norm)
	var y [3]int64
	for i, x := range v {
		// A norm that overflows gives f = 0; a product that is not a number counts as 0.
		if t := math.Trunc(float64(x * f)); t >= -(1<<BallBits) && t <= 1<<BallBits {
			y[i] = int64(t)
		}
	}
	for y[0]*y[0]+y[1]*y[1]+y[2]*y[2] > 1<<(2*BallBits) { // at most 3·2^60
		for i := range y {
			y[i] -= sign(y[i])
		}
	}
	return y
}

func sign(x int64) int64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}
