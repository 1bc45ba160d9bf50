package shuffle

import (
	"scrim/engine/collect"
	"scrim/engine/estimator/local"
	"scrim/engine/estimator/tree"
	"scrim/internal/refuse"
)

// histogram is the estimate of SHUF_HIER. Its mean takes each value for the middle of its leaf, and one contributor
// moves it by at most Cap counts.
type histogram struct {
	only
	tree   *tree.Hier
	n      float64
	lo, hi float64
}

// decodeHistogram makes the noisy counts agree. Messages of no node were left out.
func decodeHistogram(p *collect.Params, t *Tally, info local.Info) Estimate {
	info.Covers, info.Omits = coversNoise, omitsLeaf
	ask := "SHUFFLE_RANGE(msg, a, b), SHUFFLE_QUANTILE(msg, q), SHUFFLE_MEAN(msg) or SHUFFLE_SUM(msg)"
	return histogram{only{info, ask}, t.hier(p.Cells[0].Cell), float64(t.Total()), p.Declaration.Lo, p.Declaration.Hi}
}

// Range returns the share of values from a to b. What lies outside of [lo, hi] was reported at its ends.
func (h histogram) Range(a, b float64) (value, stderr float64, err error) {
	if !(a <= b) {
		return 0, 0, refuse.New(refuse.Option, "The range from %v to %v is empty.", a, b)
	}
	value, stderr = h.tree.Range(h.fraction(a), h.fraction(b))
	return value, stderr, nil
}

// Quantile implements Estimate.
func (h histogram) Quantile(q float64) (value float64, err error) {
	if !(q >= 0 && q <= 1) {
		return 0, refuse.New(refuse.Option, "The rank has to lie from 0 to 1, not at %v.", q)
	}
	return h.lo + (h.hi-h.lo)*h.tree.Quantile(q), nil
}

// Mean implements Estimate.
func (h histogram) Mean() (value, stderr float64, err error) {
	value, stderr = h.tree.Mean()
	return h.lo + (h.hi-h.lo)*value, (h.hi - h.lo) * stderr, nil
}

// Sum implements Estimate.
func (h histogram) Sum() (value, stderr float64, err error) {
	value, stderr, err = h.Mean()
	return h.n * value, h.n * stderr, err
}

// Interval implements Estimate. The counts' noise is a sum of many, and so nearly normal.
func (h histogram) Interval(conf float64) (lo, hi float64, err error) {
	if err := checkLevel(conf); err != nil {
		return 0, 0, err
	}
	value, stderr, err := h.Mean()
	half := normalPoint(conf) * stderr
	return value - half, value + half, err
}

func (h histogram) fraction(x float64) float64 { return min(max((x-h.lo)/(h.hi-h.lo), 0), 1) }
