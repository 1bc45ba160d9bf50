package partition

import "math/bits"

// Weights are integers by which a person counts in each of the keys that it holds: a weight of
// unit/√k, rounded down, of a person with k of them.
//
// One person's weights are a vector with k·weight(k)² ≤ unit², so its length is at most unit,
// whatever k is. Where weights are not divided, a person counts 1 in each key and the length is √k.
type weights struct {
	unit  int64 // weight of a person of one key
	equal bool  // of every person, and unit is 1
}

// weightBits is how many bits the least weight has at least, but for one: rounding takes at most
// 1/256 off a weight.
const weightBits = 8

// newWeights are those of persons of up to so many keys: unit is 1 for one key, and else a power of
// two with unit ≥ 2^weightBits·√most.
func newWeights(most int) weights {
	if most == 1 {
		return weights{unit: 1}
	}
	return weights{unit: 1 << (weightBits + (bits.Len(uint(most-1))+1)/2)}
}

// of is the weight in each key of a person who holds so many: the largest integer w with held·w² ≤
// unit². Nobody holds less than one key, and nobody who does has a weight above unit.
func (w weights) of(held int64) int64 {
	switch {
	case w.equal || held <= 1:
		return w.unit
	}
	lo, hi := int64(0), w.unit // held·lo² ≤ unit² < held·hi²
	for square := w.unit * w.unit; hi-lo > 1; {
		if mid := (lo + hi) / 2; mid*mid <= square/held {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// length2 is the largest squared length of the weights of a person of up to so many keys.
func (w weights) length2(most int) int64 {
	if w.equal {
		return int64(most)
	}
	return w.unit * w.unit
}
