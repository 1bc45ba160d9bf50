package local

import "scrim/engine/collect"

// bounded is the estimate of a mean of values in [lo, hi] from one-bit means: lo + (hi−lo)·share.
// It answers LDP_BIT, and round 2 of LDP_UV2 over its window.
//
// Each report has variance A²/4 − (f − 1/2)² in widths of the range for a contributor at f, so the
// standard error is at most (hi−lo)·A/(2√n). It does not matter how values spread within the range.
type bounded struct {
	Only
	coin   coin
	lo, hi float64
}

func decodeBit(p *collect.Params, t *Tally, info Info) (Estimate, error) {
	info.Covers, info.Omits = coversBoth, omitsBias
	return bounded{only(info, "LDP_MEAN(report)"), newCoin(&t.parts[0]), p.Declaration.Lo, p.Declaration.Hi}, nil
}

func (b bounded) Mean() (value, stderr float64, err error) {
	f, s := b.coin.share()
	return b.lo + (b.hi-b.lo)*f, (b.hi - b.lo) * s, nil
}

func (b bounded) Interval(conf float64) (lo, hi float64, err error) {
	if err := CheckLevel(conf); err != nil {
		return 0, 0, err
	}
	lo, hi = b.coin.interval(conf)
	return b.lo + (b.hi-b.lo)*lo, b.lo + (b.hi-b.lo)*hi, nil
}
