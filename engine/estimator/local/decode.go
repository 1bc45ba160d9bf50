package local

import (
	"scrim/engine/collect"
	"scrim/internal/refuse"
)

// beta is the failure probability of claims without one of their own: what users expect of a range of 95 %.
const beta = 0.05

// Publish returns what the round that p describes makes public for the next one. It refuses
// TooFewReports if a cell has not its minimum, RoundInconclusive if the reports leave open where the next
// round has to look, and CollectionState for a last round.
func Publish(p *collect.Params, t *Tally) (collect.Published, error) {
	if lastRound(p) {
		return collect.Published{}, refuse.New(refuse.CollectionState, "Round %d of %s is its last one.", p.Round, p.Collection)
	}
	if err := enough(p, t); err != nil {
		return collect.Published{}, err
	}
	switch p.Protocol {
	case collect.LDPSCM3:
		return publishSCM3(p, t)
	}
	return collect.Published{}, notLocal(p)
}

// Decode returns the estimate from the last round's reports. It refuses TooFewReports if a cell has not
// its minimum, RoundInconclusive if the reports of a single round determine nothing, and
// CollectionRounds for a round that is not the last.
func Decode(p *collect.Params, t *Tally) (Estimate, error) {
	if !lastRound(p) {
		return nil, refuse.New(refuse.CollectionRounds, "Round %d of %s is not its last one.", p.Round, p.Collection)
	}
	if err := enough(p, t); err != nil {
		return nil, err
	}
	switch info := Arrived(p, t); p.Protocol {
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
