package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/look"
	"scrim/engine/estimator/noise"
)

// sample is some of the persons of a block, and the number of them as it follows from released numbers.
type sample struct {
	*estimator.Block
	count float64
}

// lots are a block's persons with a coin of 2^16 sides for each, which decides what samples the person is in.
//
// What is done with a sample has the loss that it has with all persons. Given the coins, the samples of neighbours are neighbours
// or equal: one who comes or goes has a coin, one who is exchanged keeps it. Without the coins, which are never shown, the release
// is a mixture of those, in equal parts for both, and no mixture has a larger Rényi divergence than the worst of its parts
// [BS16, Lemma 2.2]. (The loss would even be smaller; that is not used.)
type lots struct {
	sample
	coins []uint16 // nil where nobody asks for a sample
}

// A draw of 64 bits makes four coins.
const (
	coinSides  = 1 << 16
	coinsADraw = 4
)

// lots draws the coins, where some step looks at a sample.
func (d dense) lots(n noise.Noiser, b *estimator.Block, count float64) lots {
	l := lots{sample: sample{b, count}}
	if !d.sampled(count) {
		return l
	}
	l.coins = make([]uint16, b.Persons())
	bits := uint64(0)
	for i := range l.coins {
		if i%coinsADraw == 0 {
			bits = n.Uniform()
		}
		l.coins[i] = uint16(bits)
		bits >>= 16
	}
	return l
}

// sampled reports whether some step looks at a sample of count persons.
func (d dense) sampled(count float64) bool {
	return d.centred != never && min(sidesFor(d.sizes.look, count), sidesFor(d.sizes.centre, count)) < coinSides ||
		d.scaled != never && d.sigma == nil && sidesFor(d.sizes.scales, count) < coinSides
}

// sidesFor is the number of sides of a coin that keep a person, for a sample of about size persons: all where that is more than half of them.
func sidesFor(size, count float64) int {
	sides := math.Ceil(size / count * coinSides)
	if sides > coinSides/2 {
		return coinSides
	}
	return int(sides)
}

// number is about how many persons some returns.
func (l lots) number(size float64) float64 {
	return l.count * float64(sidesFor(size, l.count)) / coinSides
}

// some returns about size persons, or all where that is more than half of them. The probability of each depends on released numbers
// only.
func (l lots) some(size float64) sample {
	sides := sidesFor(size, l.count)
	if sides == coinSides {
		return l.sample
	}
	kept := make([]bool, len(l.coins))
	for i, c := range l.coins {
		kept[i] = int(c) < sides
	}
	return sample{block.Sample(l.Block, kept), l.number(size)}
}

// sizes are numbers of persons from which on more of them would not make an answer better by more than half a percent: a sample of
// so many does for a step.
type sizes struct{ look, centre, scales float64 }

func (d dense) enoughFor() sizes {
	s := sizes{look: math.Max(leastLooked, 100*math.Sqrt(float64(d.delta2())/(2*look.LeastShare*d.rho)))} // its share of the loss is then the least
	// The ranks of medians are within 0.1 % of the persons, and a centre costs 0.2 % of the loss (centring).
	s.centre = max(leastSample, math.Sqrt(2*math.Pi)*d.find.rank(d.places(), plannedRounds+4, d.rho)/0.002)
	// A search of scales takes twice the least share that it is given.
	s.scales = 1.25 * d.scale.persons(d.p.Dim, d.scaleRounds(), d.rho) / math.Sqrt(2*leastScales)
	if d.p.Scale == Pairs {
		s.scales *= float64(2 * d.p.Pairs)
	}
	s.scales = max(s.scales, leastScaleSample)
	return s
}

// leastSample persons have medians within a hundredth of a standard deviation. Scales need not be known better than by a few
// percent, nor reach and distance from the middle.
const (
	leastSample      = 1 << 14
	leastScaleSample = 1 << 12
	leastLooked      = 1 << 11
)
