package cover

import (
	"slices"

	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/noise"
)

// centre returns the middle of the cover: that of the public range, or, with a coarse step, that of
// the fullest bucket of every coordinate ([AKM25] Algorithm 8, with the choice of a bucket in the
// place of a whole estimate, which would only be rounded to one).
//
// Loss: ε_1 a coordinate. A person is in one bucket, and an exchange moves two counts by one each
// (exponential.NewPureFullest).
func (p plan) centre(n noise.Noiser, x points, fullest exponential.Fullest) []int64 {
	out := make([]int64, p.dim)
	for j := range out {
		if p.width == 0 {
			out[j] = p.lo + (p.hi-p.lo)/2
			continue
		}
		buckets := make([]uint64, len(x[j]))
		for i, v := range x[j] {
			buckets[i] = uint64((min(max(v, p.lo), p.hi) - p.lo) / p.width)
		}
		slices.Sort(buckets)
		out[j] = p.lo + int64(fullest.Choose(n, nil, buckets))*p.width + p.width/2
	}
	return out
}
