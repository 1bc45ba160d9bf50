package geometry

import "math"

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
	for _, c := range x {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return false
		}
	}
	return true
}
