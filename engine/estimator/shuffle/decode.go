package shuffle

import (
	"scrim/engine/collect"
	"scrim/engine/collect/geometry"
	"scrim/engine/estimator/local"
	"scrim/engine/estimator/tree"
	"scrim/internal/refuse"
)

// Publish returns what round 1 or 2 of SHUF_SCM3 makes public for the next one: the centre of the
// rotated vectors, and how long they are about it. It refuses TooFewReports if a cell has not its
// minimum, BatchWindow for a batch that cannot be, and CollectionState for a last round.
//
// Source: [HLY21] Section 5.2, with trees of noise messages for its range counting.
func Publish(p *collect.Params, t *Tally) (collect.Published, error) {
	published, _, err := Preview(p, t)
	return published, err
}

// Preview is Publish with the round's description, which is valid even if there is an error.
func Preview(p *collect.Params, t *Tally) (collect.Published, local.Info, error) {
	info := Arrived(p, t)
	if p.Round == p.Rounds() {
		return collect.Published{}, info, refuse.New(refuse.CollectionState, "Round %d of %s is its last one.", p.Round, p.Collection)
	}
	if err := enough(p, t); err != nil {
		return collect.Published{}, info, err
	}
	if p.Round == 2 {
		return collect.Published{Centre: p.Published.Centre, Clip: tree.Clip(p, t.hier(0))}, info, nil
	}
	coordinates := make([]*tree.Hier, len(p.Cells))
	for j, c := range p.Cells {
		coordinates[j] = t.hier(c.Cell)
	}
	return collect.Published{Centre: tree.Centre(p, coordinates)}, info, nil
}

// hier makes the levels of a cell's tree agree, over all its batches.
func (t *Tally) hier(cell uint32) *tree.Hier {
	b := t.params.Batch
	n, counts := uint64(0), make([]uint64, geometry.Nodes(b.Levels))
	for _, batch := range t.of(cell) {
		n += batch.reports
		for i, c := range batch.counts {
			counts[i] += c
		}
	}
	levels := make([]tree.Level, b.Levels)
	for l := range levels {
		levels[l] = tree.Binomial(counts[geometry.Nodes(l):geometry.Nodes(l+1)], n, b.Flip)
	}
	return tree.NewHier(levels)
}

// Decode returns the estimate from the last round's batches. It refuses TooFewReports if a cell has
// not its minimum, BatchWindow for a batch that cannot be, and CollectionRounds for a round that is
// not the last.
//
// before are the rounds before the last one: SHUF_SCM3 takes from the second one how long vectors
// are. Without it the standard error is larger.
func Decode(p *collect.Params, t *Tally, before ...Before) (Estimate, error) {
	if p.Round != p.Rounds() {
		return nil, refuse.New(refuse.CollectionRounds, "Round %d of %s is not its last one.", p.Round, p.Collection)
	}
	if err := enough(p, t); err != nil {
		return nil, err
	}
	switch info := Arrived(p, t); p.Protocol {
	case collect.ShufSum:
		return decodeSum(p, t, info), nil
	case collect.ShufHier:
		return decodeHistogram(p, t, info), nil
	case collect.ShufVec, collect.ShufSCM3:
		return decodeVector(p, t, before, info), nil
	}
	return nil, refuse.New(refuse.CollectionParameter, "%s is not a protocol of the shuffle model.", p.Protocol)
}

// Before is an earlier round, with its batches.
type Before struct {
	Params *collect.Params
	Tally  *Tally
}
