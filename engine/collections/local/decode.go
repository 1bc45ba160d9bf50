package local

import (
	"scrim/engine/collections/collect"
	"scrim/engine/collections/tree"
	"scrim/internal/refuse"
)

// beta is the failure probability of claims without one of their own: what users expect of a range
// of 95 %.
const beta = 0.05

// Publish returns what the round that p describes makes public for the next one. It refuses
// TooFewReports if a cell has not its minimum, RoundInconclusive if the reports leave open where
// the next round has to look, and CollectionState for a last round.
//
// The description of the round is complete also when the round is refused.
func Publish(p *collect.Params, t *Tally) (collect.Published, Info, error) {
	info := Arrived(p, t)
	if lastRound(p) {
		return collect.Published{}, info, refuse.New(refuse.CollectionState, "Round %d of %s is its last one.", p.Round, p.Collection)
	}
	if err := enough(p, t); err != nil {
		return collect.Published{}, info, err
	}
	published, err := publish(p, t, &info)
	if err != nil {
		return collect.Published{}, info, err
	}
	return published, info, nil
}

func publish(p *collect.Params, t *Tally, info *Info) (collect.Published, error) {
	switch p.Protocol {
	case collect.LDPKV2:
		return publishKnown(p, t, info)
	case collect.LDPUV2:
		return publishUnknown(p, t, info)
	case collect.LDPSCM3:
		return publishSCM3(p, t)
	}
	return collect.Published{}, notLocal(p)
}

// Decode returns the estimate from the last round's reports. It refuses TooFewReports if a cell has
// not its minimum, RoundInconclusive if the reports of a single round determine nothing, and
// CollectionRounds for a round that is not the last.
//
// before are the rounds before the last one. LDP_KV2 and LDP_UV2 take from the first one whether
// the values look Gaussian; without it they cannot tell.
func Decode(p *collect.Params, t *Tally, before ...Before) (Estimate, error) {
	if info, ok := p.Protocol.Info(); !ok || info.Model != collect.Local {
		return nil, notLocal(p)
	}
	if !lastRound(p) {
		return nil, refuse.New(refuse.CollectionRounds, "Round %d of %s is not its last one.", p.Round, p.Collection)
	}
	if err := enough(p, t); err != nil {
		return nil, err
	}
	return decode(p, t, before, Arrived(p, t))
}

// Before is an earlier round, with its reports.
type Before = collect.Before[*Tally]

func decode(p *collect.Params, t *Tally, before []Before, info Info) (Estimate, error) {
	switch p.Protocol {
	case collect.LDPBit:
		return decodeBit(p, t, info)
	case collect.LDPKV2:
		return decodeKV2(p, t, before, info)
	case collect.LDPKV1:
		return decodeKV1(p, t, info)
	case collect.LDPUV2:
		return decodeUV2(p, t, before, info)
	case collect.LDPUV1:
		return decodeUV1(p, t, info)
	case collect.LDPHier, collect.LDPHaar:
		return decodeTree(p, t, info)
	case collect.LDPSCM3:
		return decodeSCM3(p, t, info)
	}
	return nil, notLocal(p)
}

func lastRound(p *collect.Params) bool {
	info, ok := p.Protocol.Info()
	return ok && p.Round == info.Rounds
}

func notLocal(p *collect.Params) error {
	return refuse.New(refuse.CollectionParameter, "%s is not a protocol of the local model.", p.Protocol)
}

// level returns what a cell's reports say of its level of a tree. The cell's randomiser is KRR, OUE
// or HRR.
func (t *Tally) level(c collect.Cell) tree.Level {
	switch part := t.part(c.Cell); sum := part.sum.(type) {
	case *values:
		return tree.KRR(sum.counts, c.Keep)
	case *ones:
		sum.flush()
		return tree.OUE(sum.counts, part.reports, c.Keep)
	case *signs:
		return tree.HRR(sum.sums, part.reports, c.Keep)
	}
	panic("local: no level of a tree: " + string(c.Randomiser))
}

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
