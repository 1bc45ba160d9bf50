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

// sampled returns the persons that centre and scales are searched in: all, or where sampleSize is less than half of count,
// about so many. Each is kept by a coin of their own, with a probability that depends on released numbers only.
//
// What is done with the sample has the loss that it has with all persons. Given the coins, the samples of neighbours are neighbours
// or equal: one who comes or goes has a coin, one who is exchanged keeps it. Without the coins, which are never shown, the release
// is a mixture of those, in equal parts for both, and no mixture has a larger Rényi divergence than the worst of its parts
// [BS16, Lemma 2.2]. (The loss would even be smaller; that is not used.)
func (d dense) sampled(n noise.Noiser, b *estimator.Block, count float64) sample {
	coin := d.coin(count)
	if coin == coinSides {
		return sample{b, count}
	}
	kept := make([]bool, b.Persons())
	bits := uint64(0)
	for i := range kept {
		if i%coinsADraw == 0 {
			bits = n.Uniform()
		}
		kept[i] = bits%coinSides < coin
		bits /= coinSides
	}
	return sample{block.Sample(b, kept), count * float64(coin) / coinSides}
}

// coin is the number of sides of a coin that keep a person; all of them where there is no sample.
func (d dense) coin(count float64) uint64 {
	coin := math.Ceil(d.sample / count * coinSides)
	if coin > coinSides/2 || d.centred == never && d.scaled == never {
		return coinSides
	}
	return uint64(coin)
}

// A draw of 64 bits makes four coins of 2^16 sides.
const (
	coinSides  = 1 << 16
	coinsADraw = 4
)

// sampleSize is the number of persons from which on more of them would not make an answer better by more than half a
// percent of its squared error: the ranks of medians are within 0.1 % of the persons, where a centre costs 0.2 % of the loss
// (centring); scales get by with the least share that they are given; and so does the first look.
func (d dense) sampleSize() float64 {
	size := math.Max(leastSample, 100*math.Sqrt(float64(d.delta2())/(2*look.LeastShare*d.rho)))
	if d.centred != never {
		size = max(size, math.Sqrt(2*math.Pi)*d.find.rank(d.places(), plannedRounds+4, d.rho)/0.002)
	}
	if d.scaled != never && d.sigma == nil {
		groups := 1.25 * d.scale.persons(d.p.Dim, d.scaleRounds(), d.rho) / math.Sqrt(leastScales)
		if d.p.Scale == Pairs {
			groups *= float64(2 * d.p.Pairs)
		}
		size = max(size, groups)
	}
	return size
}

// leastSample is the size of the smallest sample: its medians are off by a hundredth of a standard deviation.
const leastSample = 1 << 14
