package local

import (
	"scrim/engine/collect"
	"scrim/engine/estimator/tree"
	"scrim/internal/refuse"
)

// shares is a tree of the shares of values over [lo, hi], which answers in fractions of it.
type shares interface {
	Range(a, b float64) (value, stderr float64)
	Quantile(q float64) (position float64)
	Mean() (value, stderr float64)
}

// histogram is the estimate of LDP_HIER and LDP_HAAR. Its mean takes each value for the middle of its leaf.
type histogram struct {
	only
	tree   shares
	lo, hi float64
}

// decodeTree makes the levels agree. Levels without reports are left out if their minimum is 0.
func decodeTree(p *collect.Params, t *Tally, info Info) (Estimate, error) {
	levels := make([]tree.Level, len(t.parts))
	for _, c := range t.parts {
		levels[c.Level-1] = t.level(c.Cell)
	}
	info.Covers, info.Omits = coversBoth, "where in its leaf a value lies, dishonest reports, and who chose not to report"
	h := histogram{only{info, "LDP_RANGE(report, a, b), LDP_QUANTILE(report, q) or LDP_MEAN(report)"}, nil, p.Declaration.Lo, p.Declaration.Hi}
	if p.Protocol == collect.LDPHaar {
		h.tree = tree.NewHaar(levels)
	} else {
		h.tree = tree.NewHier(levels)
	}
	return h, nil
}

// Range returns the share of values from a to b. What lies outside of [lo, hi] was reported at its ends.
func (h histogram) Range(a, b float64) (value, stderr float64, err error) {
	if !(a <= b) {
		return 0, 0, refuse.New(refuse.Option, "The range from %v to %v is empty.", a, b)
	}
	value, stderr = h.tree.Range(h.fraction(a), h.fraction(b))
	return value, stderr, nil
}

func (h histogram) Quantile(q float64) (value float64, err error) {
	if !(q >= 0 && q <= 1) {
		return 0, refuse.New(refuse.Option, "The rank has to lie from 0 to 1, not at %v.", q)
	}
	return h.lo + (h.hi-h.lo)*h.tree.Quantile(q), nil
}

func (h histogram) Mean() (value, stderr float64, err error) {
	value, stderr = h.tree.Mean()
	return h.lo + (h.hi-h.lo)*value, (h.hi - h.lo) * stderr, nil
}

func (h histogram) Interval(conf float64) (lo, hi float64, err error) {
	value, stderr, _ := h.Mean()
	return located{h.only, value, stderr}.Interval(conf)
}

func (h histogram) fraction(x float64) float64 { return min(max((x-h.lo)/(h.hi-h.lo), 0), 1) }
