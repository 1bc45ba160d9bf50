package firstpass

import (
	"math"
	"math/bits"
	"sort"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// Match draws secret disjoint groups of size persons each, uniformly among all ways to choose them:
// as many as there are, ⌊persons/size⌋, but at most most. Group g is result[g·size : (g+1)·size];
// persons who are left over take no part.
//
// What is computed from the groups, without their order, has the sensitivity of one group
// exchanged, added or dropped, in either neighbour relation: the matchings of two neighbours can be
// drawn so that each is uniform and at most one group differs (docs/proofs/matching.md). So a count
// of groups moves by at most 1, a centred rank b·#{≤t} − a·#groups by at most b, and a histogram of
// one bucket a group by at most √2 in ℓ2. The matching is drawn once a release, never shown, and
// must not depend on the order of persons: it comes from the Noiser's secret bits. The result lies
// in memory from m.
func Match(n noise.Noiser, m estimator.Memory, persons, size, most int) []int32 {
	order := estimator.Make[int32](m, persons)
	for i := range order {
		order[i] = int32(i)
	}
	used := size * min(persons/size, most)
	for i := range used { // the first entries of a random permutation, one by one
		j := i + int(Below(n, uint64(persons-i)))
		order[i], order[j] = order[j], order[i]
	}
	return order[:used]
}

// Below returns a uniform integer in [0, m), m > 0, by rejection.
func Below(n noise.Noiser, m uint64) uint64 {
	for {
		hi, lo := bits.Mul64(n.Uniform(), m)
		if lo >= -m%m {
			return hi
		}
	}
}

// Reader finds the vector of a person by number.
type Reader struct {
	b      *estimator.Block
	starts []int // number of the first person of each chunk
}

// NewReader returns the reader of a dense block.
func NewReader(b *estimator.Block) Reader {
	r := Reader{b, make([]int, len(b.Chunks))}
	at := 0
	for i := range b.Chunks {
		r.starts[i] = at
		at += b.Chunks[i].Persons
	}
	return r
}

// Vector returns person i's vector. Chunks without persons are never met: the last chunk that
// starts at or before i is taken.
func (r Reader) Vector(i int) []int64 {
	k := sort.Search(len(r.starts), func(k int) bool { return r.starts[k] > i }) - 1
	i -= r.starts[k]
	return r.b.Chunks[k].Dense[i*r.b.Dim : (i+1)*r.b.Dim]
}

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
