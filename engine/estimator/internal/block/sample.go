package block

import "scrim/engine/estimator"

// Sample returns the block of the persons of a dense block that are kept, without Rows (see Means).
// It shares their vectors. kept has one entry a person, in the order of the chunks. A map of one
// person at a time, for choices made without a look at the data.
func Sample(b *estimator.Block, kept []bool) *estimator.Block {
	out := &estimator.Block{Dim: b.Dim, Memory: b.Memory}
	for i := range b.Chunks {
		ch := &b.Chunks[i]
		for from := 0; from < ch.Persons; {
			to := from
			for to < ch.Persons && kept[to] {
				to++
			}
			if to > from {
				out.Chunks = append(out.Chunks, estimator.Chunk{Persons: to - from, Dense: ch.Dense[from*b.Dim : to*b.Dim]})
			}
			from = to + 1
		}
		kept = kept[ch.Persons:]
	}
	return out
}
