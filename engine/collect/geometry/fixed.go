package geometry

import "math"

// One is the number of steps of a fraction that is sent as one bit: 2^32.
const One = 1 << 32

// Fraction returns where x lies in [lo, hi]: 0 at and below lo, 1 at and above hi, 0 for NaN.
func Fraction(x, lo, hi float64) float64 {
	switch f := (x/2 - lo/2) / (hi/2 - lo/2); { // halves: hi-lo may overflow
	case f >= 1:
		return 1
	case f > 0:
		return f
	}
	return 0
}

// Steps returns floor(f·n) within 0..n: a fraction on a grid of n steps, 0 for NaN; n is at most
// 2^52.
func Steps(f float64, n uint64) uint64 { return uint64(inside(f*float64(n), 0, float64(n))) }

// Split returns floor(f·n·2^32) as whole steps and the rest in 2^-32 of a step: a fraction on a
// grid of n steps that is to be rounded at random. whole is at most n; rest is 0 where whole is n.
// n is at most 2^20 for the last digit to be exact.
func Split(f float64, n uint64) (whole, rest uint64) {
	whole = Steps(f, n)
	if whole == n {
		return n, 0
	}
	return whole, uint64(inside((float64(f*float64(n))-float64(whole))*One, 0, One-1))
}

// Grid maps x coordinate by coordinate to floor(x·scale·2^32), as whole steps of 1/scale and the
// rest in 2^-32 of a step. Coordinates beyond ±limit steps become ±limit; NaN becomes 0.
func Grid(x []float64, scale float64, limit int64) (whole []int64, rest []uint64) {
	whole, rest = make([]int64, len(x)), make([]uint64, len(x))
	for i, c := range x {
		u := inside(c*scale, -float64(limit), float64(limit))
		f := math.Floor(u)
		whole[i] = int64(f)
		rest[i] = uint64(inside((u-f)*One, 0, One-1))
	}
	return whole, rest
}

// Truncate maps x coordinate by coordinate to x·scale without its fraction, toward zero.
// Coordinates beyond ±limit become ±limit; NaN becomes 0.
func Truncate(x []float64, scale float64, limit int64) []int64 {
	z := make([]int64, len(x))
	for i, c := range x {
		z[i] = int64(inside(c*scale, -float64(limit), float64(limit)))
	}
	return z
}

// inside returns x within [lo, hi], and the end nearest 0 for NaN.
func inside(x, lo, hi float64) float64 {
	if math.IsNaN(x) {
		return min(max(0, lo), hi)
	}
	return min(max(x, lo), hi)
}
