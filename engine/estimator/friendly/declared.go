package friendly

import "math"

// floorShare: a spread counts as at least this share of the mean of all. It costs 1/32 of the
// squared noise at most, and keeps weights within a range where a spread that was declared too
// small does little harm.
const floorShare = 1.0 / 32

// floored returns the spreads brought up to the floor.
func floored(sigma []float64) []float64 {
	mean := 0.0
	for _, s := range sigma {
		mean += s / float64(len(sigma))
	}
	out := make([]float64, len(sigma))
	for j, s := range sigma {
		out[j] = max(s, floorShare*mean)
	}
	return out
}

// inverse returns the weights w_j = 1/s_j of the distance for spreads s, which give noise of
// variances in proportion to s_j: the Σ^{1/4} of [DJY24]. Of all weights they make
// (Σσ_j²·w_j)·(Σ1/w_j) least, the squared noise: Cauchy and Schwarz. They are from 1 to 2^60.
func inverse(sigma []float64) []float64 {
	most := 0.0
	for _, s := range sigma {
		most = max(most, s)
	}
	w := make([]float64, len(sigma))
	for j, s := range sigma {
		w[j] = min(most/s, 0x1p60)
	}
	return w
}

// distance returns the distance λ that normal vectors with the spreads sigma are within of each
// other but for the upper tail of a standard normal variable at z. The squared distance is Σ
// 2σ_j²w_j·χ²_1; it is taken for g·χ²_h with the same mean and variance, by Wilson and Hilferty's
// cube.
func distance(sigma, weights []float64, z float64) float64 {
	mean, square := 0.0, 0.0
	for j, s := range sigma {
		a := 2 * s * s * weights[j]
		mean += a
		square += a * a
	}
	h := mean * mean / square
	x := max(0.1, 1-2/(9*h)+z*math.Sqrt(2/(9*h)))
	return math.Sqrt(mean * x * x * x)
}
