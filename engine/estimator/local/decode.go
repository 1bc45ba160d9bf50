package local

import (
	"scrim/engine/collect"
	"scrim/internal/refuse"
)

// beta is the failure probability of claims without one of their own: what users expect of a range
// of 95 %.
const beta = 0.05

// Publish returns what the round that p describes makes public for the next one. It refuses
// TooFewReports if a cell has not its minimum, RoundInconclusive if the reports leave open where
// the next round has to look, and CollectionState for a last round.
func Publish(p *collect.Params, t *Tally) (collect.Published, error) {
	published, _, err := Preview(p, t)
	return published, err
}

// Preview returns what Publish does, and the description of the round, which is complete also when
// the round is refused.
func Preview(p *collect.Params, t *Tally) (collect.Published, Info, error) {
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
type Before struct {
	Params *collect.Params
	Tally  *Tally
}

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
