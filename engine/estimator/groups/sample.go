package groups

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/noise"
)

// Of many persons, the centres and spreads of means, and the profile, are those of a secret sample: each is in it with a probability that follows from the
// released number of persons, by a coin of its own.
//
// What is done with a sample has the loss that it has with all persons. Given the coins, the samples of neighbours are neighbours
// or equal: one who comes or goes has a coin, one who is exchanged keeps it. Without the coins, which are never shown, the release
// is a mixture of those, in equal parts for both, and no mixture has a larger Rényi divergence than the worst of its parts
// [BS16, Lemma 2.2]. Every step after them is ρ-zCDP whatever the coins were. (The loss would even be smaller; that is not used.)
//
// Scales and radii are not sampled: they are about the few persons with the longest vectors, of whom a sample would miss most.

// leastLooked persons have medians and quartiles within half a percent of the ranks. A centre enters the error to second order only, and κ
// is a weight.
const leastLooked = 1 << 15

// lookedTimes is how many times more persons are looked at than the searches want: their noise is then less than the sample's.
const lookedTimes = 32

// A draw of 64 bits makes four coins of 2^16 sides.
const (
	coinSides  = 1 << 16
	coinsADraw = 4
)

// enoughLooked is the number of persons that do for the searches of centres and spreads, and for a profile; 0 if there are none.
func (r release) enoughLooked() float64 {
	size := 0.0
	if r.profile > 0 && r.counting {
		size = leastLooked
	}
	for _, s := range r.searches {
		if s.Measure.mean() && !s.declared() {
			size = max(size, leastLooked, lookedTimes*float64(max(s.centre.MinPersons(), seen(s.spread))))
		}
	}
	return size
}

// sides is the number of sides of a coin that keep a person, for a sample of about size of count persons: all where that is more than half of them.
func sides(size, count float64) int {
	if size <= 0 || !(2*size < count) {
		return coinSides
	}
	return int(math.Ceil(size / count * coinSides))
}

// some returns the persons whose centres, spreads and profile are looked at, of whom there are count by the released number. Where that is all, no coin
// is thrown.
func (r release) some(n noise.Noiser, in *estimator.Block, count float64) *estimator.Block {
	keep := sides(r.looked, count)
	if keep == coinSides {
		return in
	}
	kept, bits := make([]bool, in.Persons()), uint64(0)
	for i := range kept {
		if i%coinsADraw == 0 {
			bits = n.Uniform()
		}
		kept[i] = int(bits%coinSides) < keep
		bits /= coinSides
	}
	return block.SampleIn(in, kept)
}
