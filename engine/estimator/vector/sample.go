package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/noise"
)

// sample is some of the persons of a block, and the number of them as it follows from released
// numbers.
type sample struct {
	*estimator.Block
	count float64
}

// lots are a block's persons with their coins, which decide what samples a person is in;
// firstpass.Coins has the argument why these cost nothing.
type lots struct {
	sample
	coins firstpass.Coins // nil where nobody asks for a sample
}

// lots draws the coins, where some step looks at a sample.
func (d dense) lots(n noise.Noiser, b *estimator.Block, count float64) lots {
	l := lots{sample: sample{b, count}}
	if d.sampled(count) {
		l.coins = firstpass.Toss(n, b.Memory, b.Persons())
	}
	return l
}

// sampled reports whether some step looks at a sample of count persons.
func (d dense) sampled(count float64) bool {
	return d.centred != never && min(firstpass.Sides(d.sizes.look, count), firstpass.Sides(d.sizes.centre, count)) < firstpass.CoinSides ||
		d.scaled != never && d.sigma == nil && firstpass.Sides(d.sizes.scales, count) < firstpass.CoinSides
}

// number is about how many persons some returns.
func (l lots) number(size float64) float64 {
	return l.count * float64(firstpass.Sides(size, l.count)) / firstpass.CoinSides
}

// some returns about size persons, or all where that is more than half of them. The probability of
// each depends on released numbers only.
func (l lots) some(size float64) sample {
	sides := firstpass.Sides(size, l.count)
	if sides == firstpass.CoinSides {
		return l.sample
	}
	return sample{block.Sample(l.Block, l.coins.Keep(l.Memory, sides)), l.number(size)}
}

// sizes are numbers of persons from which on more of them would not make an answer better by more
// than half a percent: a sample of so many does for a step.
type sizes struct{ look, centre, scales float64 }

func (d dense) enoughFor() sizes {
	// its share of the loss is then the least
	s := sizes{look: math.Max(leastLooked, 100*math.Sqrt(float64(d.delta2())/(2*firstpass.LeastShare*d.rho)))}
	// The ranks of medians are within 0.1 % of the persons, and a centre costs 0.2 % of the loss
	// (centring).
	s.centre = max(leastSample, math.Sqrt(2*math.Pi)*d.find.rank(d.places(), plannedRounds+4, d.rho)/0.002)
	// A search of scales takes twice the least share that it is given.
	s.scales = 1.25 * d.scale.persons(d.p.Dim, d.scaleRounds(), d.rho) / math.Sqrt(2*leastScales)
	if d.p.Scale == Pairs {
		s.scales *= float64(2 * d.p.Pairs)
	}
	s.scales = max(s.scales, leastScaleSample)
	return s
}

// leastSample persons have medians within a hundredth of a standard deviation. Scales need not be
// known better than by a few percent, nor reach and distance from the middle.
const (
	leastSample      = 1 << 14
	leastScaleSample = 1 << 12
	leastLooked      = 1 << 11
)
