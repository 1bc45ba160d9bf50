package person

import (
	"math"
	"math/rand/v2"
	"slices"

	"scrim/engine/estimator"
)

// farValues are the coordinates of tiny databases.
var farValues = []int64{0, 0, 1, -1, 5, -7, 100, 1 << 20, -1 << 33, estimator.MaxUnits, -estimator.MaxUnits, math.MaxInt64, math.MinInt64}

// small draws a database of persons.
func small(r *rand.Rand, persons, dim int, one bool) *estimator.Block {
	ch := estimator.Chunk{Persons: persons, Dense: make([]int64, persons*dim)}
	wide := r.IntN(2) == 0
	for i := range ch.Dense {
		if wide && r.IntN(2) == 0 {
			ch.Dense[i] = farValues[r.IntN(len(farValues))]
		} else {
			ch.Dense[i] = r.Int64N(64) - 32
		}
	}
	for range persons {
		ch.Rows = append(ch.Rows, []int64{1, 1, 2, 3, 1 << 40}[r.IntN(5)])
	}
	if one {
		ch.Rows = nil
	}
	return &estimator.Block{Dim: dim, Chunks: []estimator.Chunk{ch}}
}

// neighbour returns the database without person k, or with that person's rows exchanged for those
// of another database.
func neighbour(b, from *estimator.Block, k int) *estimator.Block {
	ch := b.Chunks[0]
	out := estimator.Chunk{Persons: ch.Persons, Dense: slices.Clone(ch.Dense), Rows: slices.Clone(ch.Rows)}
	if from != nil {
		copy(out.Dense[k*b.Dim:(k+1)*b.Dim], from.Chunks[0].Dense[k*b.Dim:])
		if out.Rows != nil {
			out.Rows[k] = from.Chunks[0].Rows[k]
		}
	} else {
		out.Persons--
		out.Dense = slices.Delete(out.Dense, k*b.Dim, (k+1)*b.Dim)
		if out.Rows != nil {
			out.Rows = slices.Delete(out.Rows, k, k+1)
		}
	}
	return &estimator.Block{Dim: b.Dim, Chunks: []estimator.Chunk{out}}
}
