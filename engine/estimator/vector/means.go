package vector

import (
	"sync"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
)

// means returns the block of person means in units of 2^-shift steps, clamped to the public range: a map of one
// person at a time. With one row each, shift 0 and all values within the range it is b itself.
func (p Params) means(b *estimator.Block, shift uint) *estimator.Block {
	lo, hi := scalar.Range(p.Params)
	b = block.Means(b, shift)
	out := &estimator.Block{Dim: b.Dim, Chunks: make([]estimator.Chunk, len(b.Chunks))}
	var all sync.WaitGroup
	for i := range b.Chunks {
		all.Go(func() { out.Chunks[i] = clampedChunk(b.Chunks[i], lo<<shift, hi<<shift) })
	}
	all.Wait()
	return out
}

// clampedChunk returns a chunk with all values within the range, itself if they are.
func clampedChunk(ch estimator.Chunk, lo, hi int64) estimator.Chunk {
	out := estimator.Chunk{Persons: ch.Persons, Dense: ch.Dense}
	if inRange(ch.Dense, lo, hi) {
		return out
	}
	out.Dense = make([]int64, len(ch.Dense))
	for i, v := range ch.Dense {
		out.Dense[i] = min(max(v, lo), hi)
	}
	return out
}

func inRange(x []int64, lo, hi int64) bool {
	least, most := lo, hi
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	return least == lo && most == hi
}

// eachChunk calls work for every chunk with the number of its first person, several at a time.
func eachChunk(b *estimator.Block, work func(ch *estimator.Chunk, at int)) {
	var all sync.WaitGroup
	at := 0
	for i := range b.Chunks {
		ch, from := &b.Chunks[i], at
		all.Go(func() { work(ch, from) })
		at += ch.Persons
	}
	all.Wait()
}
