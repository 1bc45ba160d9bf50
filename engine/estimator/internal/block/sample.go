package block

import "scrim/engine/estimator"

// Sample returns the block of the persons of a dense block that are kept: a copy without Rows (see Means). kept has one
// entry a person, in the order of the chunks. A map of one person at a time, for choices made without a look at the data.
func Sample(b *estimator.Block, kept []bool) *estimator.Block {
	rs := runs(b)
	out := &estimator.Block{Dim: b.Dim, Chunks: make([]estimator.Chunk, len(rs))}
	spread(len(rs), func(next func() (int, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			out.Chunks[k] = sampleRun(rs[k], kept, b.Dim)
		}
	})
	return out
}

func sampleRun(r run, kept []bool, dim int) estimator.Chunk {
	kept = kept[r.at : r.at+r.to-r.from]
	persons := 0
	for _, k := range kept {
		if k {
			persons++
		}
	}
	x := make([]int64, 0, persons*dim)
	for i, k := range kept {
		if k {
			x = append(x, r.chunk.Dense[(r.from+i)*dim:(r.from+i+1)*dim]...)
		}
	}
	return estimator.Chunk{Persons: persons, Dense: x}
}
