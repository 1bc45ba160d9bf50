package device

import (
	"scrim/engine/collections/collect"
	"scrim/engine/collections/collect/exact"
	"scrim/engine/collections/collect/geometry"
	"scrim/internal/lists"
	"scrim/internal/refuse"
)

// Messages returns the messages of value v in a cell of a round of the shuffle model, made once.
// Their number is public, or for trees random independently of the value. They are to be sealed one
// by one.
func (d *Device) Messages(r *exact.Rand, cell uint32, v collect.Value) ([]collect.Message, error) {
	c, err := d.cellOf(cell, collect.Shuffle)
	if err != nil {
		return nil, err
	}
	p := d.p
	if p.Batch == nil {
		return nil, refuse.New(refuse.CollectionParameter, "The parameters of %s have no batch.", p.Collection)
	}
	switch p.Protocol {
	case collect.ShufSum:
		return sum(r, p, d.fraction(v))
	case collect.ShufVec:
		return vector(r, p, geometry.Vector(v, p.Null(), p.Declaration.Dimension))
	case collect.ShufHier:
		return nodes(r, p, c, d.leaf(v, geometry.Leaves(p.Batch.Levels)))
	case collect.ShufSCM3:
		if p.Round == 3 {
			return vector(r, p, d.shifted(v))
		}
		_, leaf := d.rotatedLeaf(c, v)
		return nodes(r, p, c, leaf)
	}
	// cellOf lets shuffle protocols in, and these are all
	panic("device: protocol without messages: " + string(p.Protocol))
}

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
	messages = append(messages, lists.Map(extra, func(node uint64) collect.Message { return message(p, c, node) })...)
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

// sum makes the messages of SHUF_SUM: a fraction f of the range as z in 0..Grid, rounded at random
// so that its mean is exact, plus this device's share of discrete Laplace noise, split into shares.
//
// Privacy: z lies in 0..Grid whatever the value and the rounding, so another value moves the
// batch's sum by at most Grid. The shares of Honest devices, differences of two negative binomials
// of shape 1/Honest, add up to discrete Laplace of ratio exp(-ε/Grid), and any further noise is
// independent: the sum is ε-DP. That the bag tells little beyond the sum is what the number of
// shares is for (package mix).
func sum(r *exact.Rand, p *collect.Params, f float64) ([]collect.Message, error) {
	b := p.Batch
	whole, rest := geometry.Split(f, b.Grid)
	e, err := laplaceShare(r, uint64(p.Declaration.Epsilon), epsilonUnit*b.Grid, b.Honest)
	if err != nil {
		return nil, err
	}
	return split(r, p, nil, 0, int64(roundUp(r, whole, rest))+e), nil
}

// roundUp returns whole, or with probability rest/2^32 whole+1.
func roundUp(r *exact.Rand, whole, rest uint64) uint64 {
	if r.Bernoulli(rest, geometry.One) {
		return whole + 1
	}
	return whole
}

// laplaceShare draws one of h shares of discrete Laplace noise of ratio exp(-num/den).
func laplaceShare(r *exact.Rand, num, den, h uint64) (int64, error) {
	up, err := r.NegativeBinomial(h, num, den)
	if err != nil {
		return 0, wrap(err)
	}
	down, err := r.NegativeBinomial(h, num, den)
	if err != nil {
		return 0, wrap(err)
	}
	return up - down, nil // both are from 0 to 2^63-1
}

// split appends the shares of s to messages: all but the last are uniform modulo 2^Bits, and all
// sum to s.
func split(r *exact.Rand, p *collect.Params, messages []collect.Message, coordinate uint16, s int64) []collect.Message {
	mask := uint64(1)<<p.Batch.Bits - 1
	last := uint64(s) // modulo 2^64, and so modulo 2^Bits
	for range p.Batch.Shares - 1 {
		share := r.Uint64() & mask
		last -= share
		messages = append(messages, collect.NewMessage(p.Protocol, coordinate, 0, share))
	}
	return append(messages, collect.NewMessage(p.Protocol, coordinate, 0, last&mask))
}

// vector makes the messages of SHUF_VEC and of round 3 of SHUF_SCM3: the vector, clipped to Clip,
// on a grid of Clip/Grid, every coordinate rounded at random so that its mean is exact, plus this
// device's share of Skellam noise, and split into shares.
//
// Privacy: each coordinate is off its own grid point by less than 1, so the integer vector's norm
// is at most Grid + sqrt(d) <= Bound, which Shrink keeps whatever the floats did; another value
// moves the sum by at most 2·Bound in l2. The differences of two Poisson shares of Honest devices
// add up to Skellam noise of the variance that makes this (ε,δ)-DP (package skellam), and further
// devices only add independent noise.
func vector(r *exact.Rand, p *collect.Params, y []float64) ([]collect.Message, error) {
	b := p.Batch
	geometry.Clip(y, b.Clip)
	whole, rest := geometry.Grid(y, float64(b.Grid)/b.Clip, int64(b.Grid))
	for j := range whole {
		if r.Bernoulli(rest[j], geometry.One) {
			whole[j]++
		}
	}
	geometry.Shrink(whole, b.Bound*b.Bound)
	messages := make([]collect.Message, 0, len(y)*b.Shares)
	for j, z := range whole {
		e, err := skellamShare(r, b.Rate)
		if err != nil {
			return nil, err
		}
		messages = split(r, p, messages, uint16(j), z+e)
	}
	return messages, nil
}

// skellamShare draws the difference of two Poisson variables of rate l/2^20.
func skellamShare(r *exact.Rand, l uint64) (int64, error) {
	up, err := r.Poisson(l)
	if err != nil {
		return 0, wrap(err)
	}
	down, err := r.Poisson(l)
	if err != nil {
		return 0, wrap(err)
	}
	return up - down, nil
}
