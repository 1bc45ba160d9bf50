package shuffle

import (
	"scrim/engine/collect"
	"scrim/engine/estimator/local"
	"scrim/engine/estimator/tree"
)

// histogram is the estimate of SHUF_HIER. One contributor moves its mean by at most Cap counts.
type histogram struct {
	only
	placed tree.Placed
	n      float64
}

// decodeHistogram makes the noisy counts agree. Messages of no node were left out.
func decodeHistogram(p *collect.Params, t *Tally, info local.Info) Estimate {
	info.Covers, info.Omits = coversNoise, omitsLeaf
	ask := "SHUFFLE_RANGE(msg, a, b), SHUFFLE_QUANTILE(msg, q), SHUFFLE_MEAN(msg) or SHUFFLE_SUM(msg)"
	placed := tree.Placed{Shares: t.hier(p.Cells[0].Cell), Lo: p.Declaration.Lo, Hi: p.Declaration.Hi}
	return histogram{refusing(info, ask), placed, float64(t.Total())}
}

// Range implements Estimate.
func (h histogram) Range(a, b float64) (value, stderr float64, err error) {
	return h.placed.Range(a, b)
}

// Quantile implements Estimate.
func (h histogram) Quantile(q float64) (value float64, err error) { return h.placed.Quantile(q) }

// Mean implements Estimate.
func (h histogram) Mean() (value, stderr float64, err error) {
	value, stderr = h.placed.Mean()
	return value, stderr, nil
}

// Sum implements Estimate.
func (h histogram) Sum() (value, stderr float64, err error) {
	value, stderr = h.placed.Mean()
	return h.n * value, h.n * stderr, nil
}

// Interval implements Estimate. The counts' noise is a sum of many, and so nearly normal.
func (h histogram) Interval(conf float64) (lo, hi float64, err error) {
	if err := local.CheckLevel(conf); err != nil {
		return 0, 0, err
	}
	value, stderr := h.placed.Mean()
	half := normalPoint(conf) * stderr
	return value - half, value + half, nil
}
