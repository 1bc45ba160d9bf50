package groups

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/noise"
)

// Of many persons, the centres and spreads of means, and the profile, are those of a secret sample:
// each is in it with a probability that follows from the released number of persons, by a coin of
// its own. firstpass.Coins has the argument why that costs nothing.
//
// Scales and radii are not sampled: they are about the few persons with the longest vectors, of
// whom a sample would miss most.

// leastLooked persons have medians and quartiles within half a percent of the ranks. A centre
// enters the error to second order only, and κ is a weight.
const leastLooked = 1 << 15

// lookedTimes is how many times more persons are looked at than the searches want: their noise is
// then less than the sample's.
const lookedTimes = 32

// enoughLooked is the number of persons that do for the searches of centres and spreads, and for a
// profile; 0 if there are none.
func (r release) enoughLooked() float64 {
	size := 0.0
	if r.profile > 0 && r.counting {
		size = leastLooked
	}
	for _, s := range r.searches {
		if s.Measure.mean() {
			size = max(size, leastLooked, lookedTimes*float64(max(s.centre.MinPersons(), seen(s.spread))))
		}
	}
	return size
}

// some returns the persons whose centres, spreads and profile are looked at, of whom there are
// count by the released number. Where that is all, no coin is thrown.
func (r release) some(n noise.Noiser, in *estimator.Block, count float64) *estimator.Block {
	sides := firstpass.Sides(r.looked, count)
	if sides == firstpass.CoinSides {
		return in
	}
	coins := firstpass.Toss(n, in.Memory, in.Persons())
	kept := coins.Keep(in.Memory, sides)
	estimator.Free(in.Memory, coins)
	defer estimator.Free(in.Memory, kept)
	return block.SampleIn(in, kept)
}
