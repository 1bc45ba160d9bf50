package geometry

import (
	"math"
	"math/bits"
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
