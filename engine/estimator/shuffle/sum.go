package shuffle

import (
	"math"

	"scrim/engine/collect"
	"scrim/engine/estimator/local"
)

// total is the estimate of SHUF_SUM.
type total struct {
	only
	n      float64 // contributors
	lo     float64
	mean   float64
	step   float64 // of the grid, in the values' unit
	shares shares  // the law of the sum's error, in steps
}

// decodeSum adds the batches of SHUF_SUM up:
//
//	sum = N·lo + (hi−lo)·Y/Δ     mean = sum/N
//
// where Y are the sums in steps together. Each device brings a share of shape 1/h of discrete
// Laplace noise, and rounds to the grid with a variance of at most 1/4.
//
// Source: [HLY21] Lemma 11, by split and mix [BBGN20].
func decodeSum(p *collect.Params, t *Tally, info local.Info) Estimate {
	d, b := &p.Declaration, p.Batch
	n, y := float64(t.Total()), 0.0
	for _, batch := range t.batches {
		y += float64(batch.sum(0))
	}
	info.Covers, info.Omits = coversNoise, omitsSum
	step := (d.Hi - d.Lo) / float64(b.Grid)
	return total{
		only: refusing(info, "SHUFFLE_MEAN(msg) or SHUFFLE_SUM(msg)"),
		n:    n, lo: d.Lo, mean: d.Lo + step*y/n, step: step,
		shares: sharesOf(p, n),
	}
}

// sharesOf is the law of the error of the sum of n contributors' numbers.
func sharesOf(p *collect.Params, n float64) shares {
	b := p.Batch
	return shares{shape: n / float64(b.Honest), alpha: math.Exp(-p.Declaration.Epsilon.Float() / float64(b.Grid)), rounding: n / 4}
}

// Sum implements Estimate.
func (s total) Sum() (value, stderr float64, err error) {
	return s.n * s.mean, s.step * math.Sqrt(s.shares.variance()), nil
}

// Mean implements Estimate.
func (s total) Mean() (value, stderr float64, err error) {
	return s.mean, s.step * math.Sqrt(s.shares.variance()) / s.n, nil
}

// Interval implements Estimate. It is of the law of the noise, whose tails are longer than a normal
// one's.
func (s total) Interval(conf float64) (lo, hi float64, err error) {
	if err := local.CheckLevel(conf); err != nil {
		return 0, 0, err
	}
	half := s.step * s.shares.point(conf) / s.n
	return s.mean - half, s.mean + half, nil
}
