package device

import (
	"scrim/engine/collect"
	"scrim/engine/collect/exact"
	"scrim/engine/collect/geometry"
	"scrim/internal/refuse"
)

// nodes makes the messages of SHUF_HIER and of rounds 1 and 2 of SHUF_SCM3: the nodes above the
// leaf, one a level, and for every node of the tree a noise message with probability Flip/2^32. The
// bag is the vector of noisy counts.
//
// Privacy: another value lowers at most one count a level by one and raises at most one, and each
// count carries binomial noise of Honest devices at least (package blanket). The noise, and with it
// the number of messages, is drawn without the value. Noise that does not fit Cap is drawn anew,
// which changes its law by less than 1e-30 in total variation.
func nodes(r *exact.Rand, p *collect.Params, c collect.Cell, leaf uint64) ([]collect.Message, error) {
	b := p.Batch
	extra, err := fittingNoise(r, b)
	if err != nil {
		return nil, err
	}
	messages := make([]collect.Message, 0, b.Levels+len(extra))
	for level := 1; level <= b.Levels; level++ {
		node := geometry.Node(level, geometry.Ancestor(leaf, b.Levels, level))
		messages = append(messages, message(p, c, node))
	}
	for _, node := range extra {
		messages = append(messages, message(p, c, node))
	}
	return messages, nil
}

// message is of a node; its coordinate is that of the cell, so that a bundle in another's batch is
// noticed.
func message(p *collect.Params, c collect.Cell, node uint64) collect.Message {
	return collect.NewMessage(p.Protocol, uint16(c.Coordinate), uint32(node), 0)
}

// draws is how often noise is drawn before parameters that were never verified are refused.
const draws = 100

// fittingNoise draws noise that leaves room for a message a level.
func fittingNoise(r *exact.Rand, b *collect.Batch) ([]uint64, error) {
	for range draws {
		if extra := noiseNodes(r, b); uint64(b.Levels+len(extra)) <= b.Cap {
			return extra, nil
		}
	}
	return nil, refuse.New(refuse.CollectionParameter, "messages_max is %d, too few for the noise of a tree of %d levels.", b.Cap, b.Levels)
}

// noiseNodes draws the nodes of the noise messages: each of the tree with probability Flip/2^32,
// independently.
func noiseNodes(r *exact.Rand, b *collect.Batch) []uint64 {
	var extra []uint64
	for node := range geometry.Nodes(b.Levels) {
		if r.Bernoulli(b.Flip, geometry.One) {
			extra = append(extra, node)
		}
	}
	return extra
}
