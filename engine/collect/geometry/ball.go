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

// Clip scales x in place to norm radius if its norm is larger. x is finite. The norm afterwards may be
// above radius by rounding; bounds that privacy needs are kept in integers (Shrink).
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

// Shrink moves the largest coordinates of z toward zero, one step at a time, until the squares sum to at
// most bound squared. This is where the l2 bound of an integer vector is enforced: exactly, whatever
// floats did before. It changes nothing but what floating-point error has left.
func Shrink(z []int64, bound uint64) {
	for exceeds(z, bound) {
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

// exceeds tells whether the squares of z sum to more than bound squared, in 128 bits; a sum beyond them
// exceeds too.
func exceeds(z []int64, bound uint64) bool {
	var hi, lo uint64
	for _, c := range z {
		h, l := bits.Mul64(magnitude(c), magnitude(c))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi, carry = bits.Add64(hi, h, carry)
		if carry != 0 {
			return true
		}
	}
	bh, bl := bits.Mul64(bound, bound)
	return hi > bh || hi == bh && lo > bl
}

func magnitude(c int64) uint64 {
	if c < 0 {
		return -uint64(c)
	}
	return uint64(c)
}
