package device

import (
	"scrim/engine/collect"
	"scrim/engine/collect/exact"
	"scrim/engine/collect/geometry"
)

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
