package person

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/fork"
)

// means returns the persons' means in units, clamped to the public range: a map of one person at a
// time. What follows needs numbers within ±2^61, which holds then whatever a block has in it.
func (m mean) means(b *estimator.Block) *estimator.Block {
	b = block.Means(b, m.shift)
	if most := int64(estimator.MaxUnits) << m.shift; m.shift > 0 && m.lo <= -most && m.hi >= most {
		return b // means of several rows are within that
	}
	if _, inRange := block.Total(b, m.lo, m.hi); inRange {
		return b
	}
	out := &estimator.Block{Dim: b.Dim, Chunks: make([]estimator.Chunk, len(b.Chunks)), Memory: b.Memory}
	var all fork.Group
	for i := range b.Chunks {
		all.Go(func() {
			ch := estimator.Chunk{Persons: b.Chunks[i].Persons, Dense: estimator.Make[int64](b.Memory, len(b.Chunks[i].Dense))}
			for k, v := range b.Chunks[i].Dense {
				ch.Dense[k] = min(max(v, m.lo), m.hi)
			}
			out.Chunks[i] = ch
		})
	}
	all.Wait()
	return out
}
