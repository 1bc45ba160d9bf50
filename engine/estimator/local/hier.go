package local

import (
	"scrim/engine/collect"
	"scrim/engine/estimator/tree"
)

// histogram is the estimate of LDP_HIER and LDP_HAAR.
type histogram struct {
	Only
	placed tree.Placed
}

// decodeTree makes the levels agree. Levels without reports are left out if their minimum is 0.
func decodeTree(p *collect.Params, t *Tally, info Info) (Estimate, error) {
	levels := make([]tree.Level, len(t.parts))
	for _, c := range t.parts {
		levels[c.Level-1] = t.level(c.Cell)
	}
	info.Covers, info.Omits = coversBoth, "where in its leaf a value lies, dishonest reports, and who chose not to report"
	placed := tree.Placed{Lo: p.Declaration.Lo, Hi: p.Declaration.Hi}
	if p.Protocol == collect.LDPHaar {
		placed.Shares = tree.NewHaar(levels)
	} else {
		placed.Shares = tree.NewHier(levels)
	}
	return histogram{only(info, "LDP_RANGE(report, a, b), LDP_QUANTILE(report, q) or LDP_MEAN(report)"), placed}, nil
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

// Interval implements Estimate.
func (h histogram) Interval(conf float64) (lo, hi float64, err error) {
	value, stderr := h.placed.Mean()
	return located{Only: h.Only, mean: value, stderr: stderr}.Interval(conf)
}
