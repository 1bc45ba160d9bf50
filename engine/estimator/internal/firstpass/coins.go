package firstpass

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Coins are a secret number for each person of a block, uniform below CoinSides: they decide which
// samples or parts the person is in.
//
// What is done with a sample has the loss that it has with all persons, and steps that look at
// disjoint parts lose together what the worst of them does. Couple the coins of two neighbours
// person by person: those whom both have keep theirs, one who comes or goes has a coin, and one who
// is exchanged keeps it, too, since a coin belongs to a place in the list and does not look at what
// is there. (Coins are independent and alike, so that the law of who is where does not depend on
// the order of the list.) Given the coins, the samples of neighbours are neighbours or equal, and
// of disjoint parts one differs, by one person more or less, or by one exchanged: a step that looks
// at it loses what it is built for, the others nothing, whatever earlier steps answered. Without
// the coins, which are never shown, a release is a mixture of those, in equal parts for both
// neighbours, and no mixture has a larger Rényi divergence than the worst of its parts [BS16, Lemma
// 2.2]; the same for the ratios of pure ε. (The loss of a sample would even be smaller; that is not
// used.)
//
// Two conditions: how many sides keep a person follows from released or public numbers, not from
// the persons; and coins are no function of what a person is or is called: under replace-one a new
// name might be in another part, and two parts would be touched.
type Coins []uint32

// CoinSides is the number of sides of a coin. A draw of 64 bits makes two.
const CoinSides = 1 << 32

// Toss draws the coins of so many persons, in memory from m.
func Toss(n noise.Noiser, m estimator.Memory, persons int64) Coins {
	c, bits := Coins(estimator.Make[uint32](m, int(persons))), uint64(0)
	for i := range c {
		if i%2 == 0 {
			bits = n.Uniform()
		}
		c[i] = uint32(bits)
		bits >>= 32
	}
	return c
}

// Sides is the number of sides that keep a person, for a sample of about size of count persons: all
// where that is more than half of them, and where size is 0, for no sample.
func Sides(size, count float64) uint64 {
	if size <= 0 || !(2*size < count) {
		return CoinSides
	}
	return uint64(math.Ceil(size / count * CoinSides))
}

// Keep tells who is in a sample that so many sides keep, in memory from m. A sample that fewer
// sides keep is a part of it.
func (c Coins) Keep(m estimator.Memory, sides uint64) []bool {
	kept := estimator.Make[bool](m, len(c))
	for i, side := range c {
		kept[i] = uint64(side) < sides
	}
	return kept
}

// Part tells who is in part k of so many disjoint ones, 0 ≤ k < parts, which have the same sides
// but for one; in memory from m.
func (c Coins) Part(m estimator.Memory, k, parts int) []bool {
	in := estimator.Make[bool](m, len(c))
	for i, side := range c {
		in[i] = int(uint64(side)*uint64(parts)/CoinSides) == k
	}
	return in
}
