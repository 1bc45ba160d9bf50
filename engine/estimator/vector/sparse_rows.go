package vector

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/fork"
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
