package block

import "scrim/engine/estimator"

// Means returns the persons' means in units of 2^-shift steps: entry j of person i is
// T_ij·2^shift/m_i with m_i the person's number of rows, rounded half to even; a total T_ij outside
// ±MaxUnits counts as its nearest end. It is a map of one person at a time. shift is at most 10, so
// that an entry is within ±2^60.
//
// Persons keep their order, chunks need not. The result is b itself where shift is 0 and every
// person has one row, a copy otherwise; a sparse copy shares the indexes.
func Means(b *estimator.Block, shift uint) *estimator.Block {
	if shift == 0 && oneRow(b) {
		return b
	}
	return transform(b, b.Dim, func(dst, src estimator.Chunk) { meansTo(dst, src, b.Dim, shift) })
}

// oneRow reports whether every person has one row.
func oneRow(b *estimator.Block) bool {
	for i := range b.Chunks {
		for _, m := range b.Chunks[i].Rows {
			if m > 1 {
				return false
			}
		}
	}
	return true
}

// meansTo sets the entries of dst, which are laid out as those of src.
func meansTo(dst, src estimator.Chunk, dim int, shift uint) {
	for i := range src.Persons {
		m := int64(1)
		if src.Rows != nil {
			m = max(1, src.Rows[i])
		}
		switch {
		case src.Starts == nil:
			rowTo(dst.Dense[i*dim:(i+1)*dim], src.Dense[i*dim:(i+1)*dim], m, shift)
		case src.Values == nil:
			one := mean(1, m, shift)
			for e := dst.Starts[i]; e < dst.Starts[i+1]; e++ {
				dst.Values[e] = one
			}
		default:
			rowTo(dst.Values[dst.Starts[i]:dst.Starts[i+1]], src.Values[src.Starts[i]:src.Starts[i+1]], m, shift)
		}
	}
}

func rowTo(dst, totals []int64, rows int64, shift uint) {
	dst = dst[:len(totals)]
	if rows == 1 {
		for j, v := range totals {
			dst[j] = min(max(v, -estimator.MaxUnits), estimator.MaxUnits) << (shift & 63)
		}
		return
	}
	for j, v := range totals {
		dst[j] = mean(v, rows, shift)
	}
}

// mean returns total·2^shift/rows rounded half to even; the total is clamped to ±MaxUnits.
func mean(total, rows int64, shift uint) int64 {
	total = min(max(total, -estimator.MaxUnits), estimator.MaxUnits) << (shift & 63)
	q, r := total/rows, total%rows
	if r < 0 {
		q, r = q-1, r+rows
	}
	if rest := rows - r; r > rest || r == rest && q&1 == 1 {
		q++
	}
	return q
}

// transform returns a block of vectors of length dim with the persons of b, in their order, and no
// Rows. Its chunks are the runs of b: entries makes those of one from a chunk of b's persons, on
// several cores at once. dst comes with room, cleared: of a sparse block with the indexes set and a
// value for each.
func transform(b *estimator.Block, dim int, entries func(dst, src estimator.Chunk)) *estimator.Block {
	rs := runs(b)
	out := &estimator.Block{Dim: dim, Sparse: b.Sparse, Chunks: make([]estimator.Chunk, len(rs)), Memory: b.Memory}
	spread(len(rs), func(next func() (int, bool)) {
		for k, ok := next(); ok; k, ok = next() {
			src := part(b, rs[k])
			dst := estimator.Chunk{Persons: src.Persons, Starts: src.Starts, Index: src.Index}
			if b.Sparse {
				dst.Values = estimator.Make[int64](b.Memory, len(src.Index))
			} else {
				dst.Dense = estimator.Make[int64](b.Memory, src.Persons*dim)
			}
			entries(dst, src)
			out.Chunks[k] = dst
		}
	})
	return out
}

// rows returns the vectors of a run of a dense block.
func (r run) rows(dim int) []int64 { return r.chunk.Dense[r.from*dim : r.to*dim] }

// part returns a run as a chunk by itself.
func part(b *estimator.Block, r run) estimator.Chunk {
	c := estimator.Chunk{Persons: r.to - r.from}
	if r.chunk.Rows != nil {
		c.Rows = r.chunk.Rows[r.from:r.to]
	}
	if !b.Sparse {
		c.Dense = r.rows(b.Dim)
		return c
	}
	first, last := r.chunk.Starts[r.from], r.chunk.Starts[r.to]
	c.Starts = estimator.Make[int](b.Memory, c.Persons+1)
	for i := range c.Starts {
		c.Starts[i] = r.chunk.Starts[r.from+i] - first
	}
	c.Index = r.chunk.Index[first:last]
	if r.chunk.Values != nil {
		c.Values = r.chunk.Values[first:last]
	}
	return c
}

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
