package vector

import (
	"sync"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// means returns a block of person means in units of 2^-shift steps, each rounded half to even and clamped to the
// public range. With one row each, shift 0 and all values within the range it is b itself.
func (p Params) means(b *estimator.Block, shift uint) *estimator.Block {
	lo, hi := scalar.Range(p.Params)
	out := &estimator.Block{Dim: b.Dim, Chunks: make([]estimator.Chunk, len(b.Chunks))}
	var all sync.WaitGroup
	for i := range b.Chunks {
		all.Go(func() { out.Chunks[i] = chunkMeans(&b.Chunks[i], b.Dim, shift, lo, hi) })
	}
	all.Wait()
	return out
}

func chunkMeans(ch *estimator.Chunk, dim int, shift uint, lo, hi int64) estimator.Chunk {
	if shift == 0 && ch.Rows == nil && within(ch.Dense, lo, hi) {
		return *ch
	}
	out := estimator.Chunk{Persons: ch.Persons, Dense: make([]int64, len(ch.Dense))}
	for i := range ch.Persons {
		rows := int64(1)
		if ch.Rows != nil {
			rows = max(1, ch.Rows[i])
		}
		x, y := ch.Dense[i*dim:(i+1)*dim], out.Dense[i*dim:(i+1)*dim]
		for j, v := range x {
			y[j] = min(max(rowMean(v, rows, shift), lo<<shift), hi<<shift)
		}
	}
	return out
}

func within(x []int64, lo, hi int64) bool {
	for _, v := range x {
		if v < lo || v > hi {
			return false
		}
	}
	return true
}

// rowMean returns sum·2^shift/rows rounded half to even; |sum| counts as at most 2^50.
func rowMean(sum, rows int64, shift uint) int64 {
	sum = min(max(sum, -estimator.MaxUnits), estimator.MaxUnits) << shift
	if rows == 1 {
		return sum
	}
	q, r := sum/rows, sum%rows
	if r < 0 {
		q, r = q-1, r+rows
	}
	if rest := rows - r; r > rest || r == rest && q&1 == 1 {
		q++
	}
	return q
}
