package vector

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/noise"
)

// entries is a sparse block of one vector a person, with values from 0 to top in units of 2^-shift
// grid steps.
type entries struct {
	*estimator.Block
	shift uint
	top   int64
}

// entries brings every person to one list of entries. A map of one person at a time; the lattice
// depends on public facts only, not on the form in which a chunk comes.
//
//	dense vectors        person means already: what is not 0
//	lists, hi = 1        1 where the mean over the person's rows is 1/2 at least, and where there are no values
//	lists, hi > 1        the mean over the person's rows, rounded once, clamped to [0, hi]
func (s sparse) entries(g group) entries {
	switch {
	case !g.Sparse:
		top := s.hi << g.shift
		return entries{chunkwise(g.Block, func(ch *estimator.Chunk) estimator.Chunk { return lists(g.Memory, ch, g.Dim, top) }), g.shift, top}
	case s.hi == 1:
		return entries{chunkwise(g.Block, func(ch *estimator.Chunk) estimator.Chunk { return ones(g.Memory, ch) }), 0, 1}
	}
	shift := s.p.shift()
	top := s.hi << shift
	return entries{chunkwise(block.Means(g.Block, shift), func(ch *estimator.Chunk) estimator.Chunk { return clampedLists(g.Memory, ch, top) }), shift, top}
}

// chunkwise returns a sparse block of chunks that are made one by one.
func chunkwise(b *estimator.Block, of func(*estimator.Chunk) estimator.Chunk) *estimator.Block {
	out := &estimator.Block{Dim: b.Dim, Sparse: true, Chunks: make([]estimator.Chunk, len(b.Chunks)), Memory: b.Memory}
	var all fork.Group
	for i := range b.Chunks {
		all.Go(func() { out.Chunks[i] = of(&b.Chunks[i]) })
	}
	all.Wait()
	return out
}

// ones returns lists without values: a chunk that has none as it is.
func ones(m estimator.Memory, ch *estimator.Chunk) estimator.Chunk {
	if ch.Values == nil {
		return *ch
	}
	out := estimator.Chunk{Persons: ch.Persons, Starts: estimator.Make[int](m, ch.Persons+1)[:1], Index: estimator.Make[int32](m, len(ch.Index))[:0]}
	for i := range ch.Persons {
		rows := int64(1)
		if ch.Rows != nil {
			rows = max(1, ch.Rows[i])
		}
		for e := ch.Starts[i]; e < ch.Starts[i+1]; e++ {
			if ch.Values[e] >= rows-rows/2 {
				out.Index = append(out.Index, ch.Index[e])
			}
		}
		out.Starts = append(out.Starts, len(out.Index))
	}
	return out
}

// lists turns dense vectors of numbers in [0, top] into lists of what is not 0.
func lists(m estimator.Memory, ch *estimator.Chunk, dim int, top int64) estimator.Chunk {
	out := estimator.Chunk{Persons: ch.Persons, Starts: estimator.Make[int](m, ch.Persons+1)[:1]}
	size := 0
	for _, v := range ch.Dense {
		if v > 0 {
			size++
		}
	}
	out.Index = estimator.Make[int32](m, size)[:0]
	if top > 1 {
		out.Values = estimator.Make[int64](m, size)[:0]
	}
	for i := range ch.Persons {
		for j, v := range ch.Dense[i*dim : (i+1)*dim] {
			if v <= 0 {
				continue
			}
			if out.Index = append(out.Index, int32(j)); top > 1 {
				out.Values = append(out.Values, min(v, top))
			}
		}
		out.Starts = append(out.Starts, len(out.Index))
	}
	return out
}

// clampedLists returns lists with values in [0, top].
func clampedLists(m estimator.Memory, ch *estimator.Chunk, top int64) estimator.Chunk {
	out := estimator.Chunk{Persons: ch.Persons, Starts: ch.Starts, Index: ch.Index, Values: estimator.Make[int64](m, len(ch.Index))}
	for e := range out.Values {
		v := int64(1)
		if ch.Values != nil {
			v = ch.Values[e]
		}
		out.Values[e] = min(max(v, 0), top)
	}
	return out
}

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
