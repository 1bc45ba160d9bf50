package geometry

import (
	"math"
	"slices"

	"scrim/internal/lists"
)

// Number returns the number that v reports, within [lo, hi]: fallback[0] for NULL, NaN and anything
// that is not one number, then the nearest point of the interval, also for infinities. Without a
// fallback it is the middle.
func Number(v, fallback []float64, lo, hi float64) float64 {
	if len(v) != 1 || math.IsNaN(v[0]) {
		v = fallback
	}
	if len(v) == 0 || math.IsNaN(v[0]) {
		return lo/2 + hi/2
	}
	return min(max(v[0], lo), hi)
}

// Vector returns the vector of d coordinates that v reports, freshly allocated: fallback for NULL,
// for another dimension, and if any coordinate is not finite. A fallback of one number stands for
// that number in every coordinate, none for the zero vector.
func Vector(v, fallback []float64, d int) []float64 {
	x := make([]float64, d)
	switch {
	case len(v) == d && finite(v):
		copy(x, v)
	case len(fallback) == d && finite(fallback):
		copy(x, fallback)
	case len(fallback) == 1 && finite(fallback):
		for i := range x {
			x[i] = fallback[0]
		}
	}
	return x
}

func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(c float64) bool { return math.IsNaN(c) || math.IsInf(c, 0) })
}

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
	return lists.Map(x, func(c float64) int64 { return int64(inside(c*scale, -float64(limit), float64(limit))) })
}

// inside returns x within [lo, hi], and the end nearest 0 for NaN.
func inside(x, lo, hi float64) float64 {
	if math.IsNaN(x) {
		return min(max(0, lo), hi)
	}
	return min(max(x, lo), hi)
}

// Margin is how far beyond the range of the mean values are kept, in standard deviations: 8, so
// that the kept part of a Gaussian lacks less than 1e-15.
const Margin = 8

// Position returns t = (x-lo)/unit, kept within [-margin, span+margin]; span is the width of the
// range of the mean in units. margin is Margin where unit is the standard deviation, Margin·Scales
// where it is the least one.
func Position(x, lo, unit, span, margin float64) float64 {
	return inside((x-lo)/unit, -margin, span+margin)
}

// Residues is the number of residues of a level.
const Residues = 4

// Residue returns floor(t/2^level) mod 4, from 0 to 3 for negative t too: the cell of width 2^level
// that t lies in, known up to a multiple of four cells.
//
// Source: [JKMW19], round one of KVGausstimate.
func Residue(t float64, level int) uint64 {
	cell := math.Floor(math.Ldexp(inside(t, -maxPosition, maxPosition), -level))
	// two's complement: the residue of negative cells too
	return uint64(int64(cell)) & (Residues - 1)
}

// maxPosition keeps cells within an int64; positions are below 2^25.
const maxPosition = 1 << 52

// Lattice is the half period of the sides of one-round estimation, in standard deviations: the
// lattice has a point every 8, and its cells of width 4 lie in turn above a point and below the
// next.
const Lattice = 4

// Above tells on which side of the nearest point of the lattice {offset + 8b} the position lies:
// whether floor((t-offset)/4) is even. Offsets are 0 to 3; offset+4 is the other side of offset.
func Above(t float64, offset int) bool {
	return math.Mod(math.Floor((t-float64(offset))/Lattice), 2) == 0
}
