package shuffle

import (
	"math"

	"scrim/engine/collect"
	"scrim/engine/collect/geometry"
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
// where Y_j are the sums in steps together. Each device brings Skellam noise of variance
// 2·Rate/2^20 a coordinate, and rounds to the grid with a variance of at most 1/4. The mean of
// SHUF_SCM3 is shifted and rotated back, and of its padded coordinates the declared ones have their
// share of the noise, which is alike in all directions.
//
// The mean of SHUF_SCM3 is one of people of whom round 3 asks some: to the noise's variance that of
// a sample is added, at most the mean squared length of the clipped vectors about the centre over
// N, which round 2 tells.
func decodeVector(p *collect.Params, t *Tally, before []Before, info local.Info) Estimate {
	b, n := p.Batch, float64(t.Total())
	step := b.Clip / float64(b.Grid) / n
	y := make([]float64, p.Cells[0].Domain)
	for _, batch := range t.batches {
		for j := range y {
			y[j] += step * float64(batch.sum(j))
		}
	}
	info.Covers, info.Omits = coversNoise, omitsClip
	each := n * (2*float64(b.Rate)/(1<<20) + 0.25)
	variance := step * step * each * float64(p.Declaration.Dimension)
	if p.Protocol == collect.ShufSCM3 {
		variance += sampled(p, y, n, before, &info)
		y = tree.Restore(p, y)
	}
	return vector{refusing(info, "SHUFFLE_VECTOR_MEAN(msg)"), y, math.Sqrt(variance)}
}

// sampled returns the variance that the mean y about the centre has because n contributors of round
// 3 are a sample, and tells what clipping may move. Without round 2 all vectors are taken to be as
// long as the clip.
func sampled(p *collect.Params, y []float64, n float64, before []Before, info *local.Info) float64 {
	clip, target := p.Batch.Clip, p.Derived.ClipTarget
	square := clip * clip
	for _, b := range before {
		if b.Params.Round == 2 {
			l := tree.LengthsOf(b.Params, b.Tally.hier(0), clip)
			square, info.Cut = l.Square, &l.Cut
		}
	}
	info.Clip, info.Covers = &target, coversSample
	return max(square-math.Pow(geometry.Norm(y), 2), 0) / n
}
