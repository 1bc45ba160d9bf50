package shuffle

import (
	"math"

	"scrim/engine/collect"
	"scrim/engine/estimator/local"
	"scrim/engine/estimator/tree"
)

// vector is the estimate of SHUF_VEC and SHUF_SCM3.
type vector struct {
	only
	mean   []float64
	stderr float64 // root of the expected squared length of the error
}

// Vector implements Estimate.
func (v vector) Vector() ([]float64, float64, error) {
	return append([]float64(nil), v.mean...), v.stderr, nil
}

// decodeVector adds the batches of vectors up:
//
//	mean_j = C/C_g·Y_j/N
//
// where Y_j are the sums in steps together. Each device brings Skellam noise of variance 2·Rate/2^20 a coordinate,
// and rounds to the grid with a variance of at most 1/4. The mean of SHUF_SCM3 is shifted and rotated
// back, and of its padded coordinates the declared ones have their share of the noise, which is alike in all
// directions.
func decodeVector(p *collect.Params, t *Tally, info local.Info) Estimate {
	b, n := p.Batch, float64(t.Total())
	step := b.Clip / float64(b.Grid) / n
	y := make([]float64, p.Cells[0].Domain)
	for _, batch := range t.batches {
		for j := range y {
			y[j] += step * float64(batch.sum(j))
		}
	}
	info.Covers, info.Omits = coversNoise, omitsClip
	if p.Protocol == collect.ShufSCM3 {
		target := p.Derived.ClipTarget
		info.Clip = &target
		y = tree.Restore(p, y)
	}
	each := n * (2*float64(b.Rate)/(1<<20) + 0.25)
	stderr := step * math.Sqrt(each*float64(p.Declaration.Dimension))
	return vector{only{info, "SHUFFLE_VECTOR_MEAN(msg)"}, y, stderr}
}
