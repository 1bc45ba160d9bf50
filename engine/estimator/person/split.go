package person

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/noise"
)

// batch is the persons of one stage, and the number of them as it follows from released numbers.
type batch struct {
	*estimator.Block
	count float64
}

// batches returns the persons of the coarse estimate, of the threaded rounds and of the last
// clip-and-noise.
//
// With Split Loss all three have everybody. With Persons everyone is put into one of three by a
// coin of three sides of their own, from the Noiser's secret bits; each stage is run on its third
// at the whole loss ρ' that is left. The paper takes thirds of a public list.
//
// Loss of Persons: ρ', in either relation, as thirds are disjoint parts by coins (firstpass.Coins).
// Thirds by a hash of the person's name would not do under replace-one: a new name may be in
// another third, and two stages are touched.
//
// n̂/3 stands for the number of persons in a third. It is off by √(2/n) of it, which only moves the
// answer by that share of a shift about a centre, and is in the standard error.
func (m mean) batches(n noise.Noiser, b *estimator.Block, count float64) [3]batch {
	if m.p.Split == Loss {
		return [3]batch{{b, count}, {b, count}, {b, count}}
	}
	var out [3]batch
	coins := firstpass.Toss(n, b.Memory, b.Persons())
	for s := range out {
		out[s] = batch{block.Sample(b, coins.Part(b.Memory, s, len(out))), count / 3}
	}
	return out
}

// sampled returns the persons that a coarse estimate looks at: all, or about size of them where
// that is less than half, by coins whose sides follow from released numbers only (firstpass.Coins).
// It saves the sorting of columns whose fullest bucket a part of them shows.
func sampled(n noise.Noiser, b batch, size float64) batch {
	sides := firstpass.Sides(size, b.count)
	if sides == firstpass.CoinSides {
		return b
	}
	kept := firstpass.Toss(n, b.Memory, b.Persons()).Keep(b.Memory, sides)
	return batch{block.Sample(b.Block, kept), b.count * float64(sides) / firstpass.CoinSides}
}
