package person

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/look"
	"scrim/engine/estimator/noise"
)

// batch is the persons of one stage, and the number of them as it follows from released numbers.
type batch struct {
	*estimator.Block
	count float64
}

// batches returns the persons of the coarse estimate, of the threaded rounds and of the last clip-and-noise.
//
// With Split Loss all three have everybody. With Persons everyone is put into one of three by a coin of three sides of their own, from the Noiser's secret
// bits; each stage is run on its third at the whole loss ρ' that is left. The paper takes thirds of a public list.
//
// Loss of Persons: ρ', in either relation. Couple the coins of two neighbours person by person: those whom both have keep their
// side, and a person who is exchanged keeps it, too, since a coin belongs to a place in the list and does not look at what is there.
// (Coins are independent and alike, so the law of who is where does not depend on the order of the list: a person who goes takes a coin
// along, and the others keep theirs.) Given the coins, one third differs: by one person more or less under add-remove, by one exchanged, or by
// one who starts or stops to match, under replace-one. The stage of this third loses ρ' at most and the other two nothing, whatever
// earlier stages answered. Without the coins, which are never shown, a release is a mixture of these in equal parts for both neighbours, and
// has no larger Rényi divergence than the worst of them [BS16, Lemma 2.2]; the same for the ratios of pure ε. Thirds by a hash of the
// person's name would not do under replace-one: a new name may be in another third, and two stages would be touched.
//
// n̂/3 stands for the number of persons in a third. It is off by √(2/n) of it, which only moves the answer by that share of a shift
// about a centre, and is in the standard error.
func (m mean) batches(n noise.Noiser, b *estimator.Block, count float64) [3]batch {
	if m.p.Split == Loss {
		return [3]batch{{b, count}, {b, count}, {b, count}}
	}
	sides := make([]uint8, b.Persons())
	for i := range sides {
		sides[i] = uint8(look.Below(n, 3))
	}
	var out [3]batch
	for s := range out {
		out[s] = batch{block.Sample(b, where(sides, uint8(s))), count / 3}
	}
	return out
}

// where tells which entries are v.
func where(sides []uint8, v uint8) []bool {
	out := make([]bool, len(sides))
	for i, s := range sides {
		out[i] = s == v
	}
	return out
}

// sampled returns the persons that a coarse estimate looks at: all, or about size of them where that is less than half. Each is kept by a
// coin of their own with a probability that depends on released numbers only. The loss is that of the estimate with all persons: the
// argument is that of batches, with a third that is not used. It saves the sorting of columns whose fullest bucket a part of them shows.
func sampled(n noise.Noiser, b batch, size float64) batch {
	coin := math.Ceil(size / b.count * coinSides)
	if coin > coinSides/2 {
		return b
	}
	kept := make([]bool, b.Persons())
	for i := range kept {
		kept[i] = n.Uniform()>>(64-coinBits) < uint64(coin)
	}
	return batch{block.Sample(b.Block, kept), b.count * coin / coinSides}
}

const (
	coinBits  = 20
	coinSides = 1 << coinBits
)
