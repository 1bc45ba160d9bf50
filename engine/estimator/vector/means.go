package vector

import (
	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/fork"
	"scrim/engine/estimator/internal/scalar"
)

// means returns the block of person means in units of 2^-shift steps, clamped to the public range:
// a map of one person at a time. With one row each, shift 0 and all values within the range it is b
// itself.
//
// totals are those of the block where they come from the same reading; otherwise nil.
func (p Params) means(b *estimator.Block, shift uint) (out *estimator.Block, totals *block.Totals) {
	lo, hi := scalar.Range(p.Params)
	lo, hi = lo<<shift, hi<<shift
	b = block.Means(b, shift)
	if p.Method == Clipped && lo <= -estimator.MaxUnits<<shift && hi >= estimator.MaxUnits<<shift {
		return b, nil // nothing is beyond the range, and the sum comes with the norms
	}
	totals, inRange := block.Total(b, lo, hi)
	if inRange {
		return b, totals
	}
	out = &estimator.Block{Dim: b.Dim, Chunks: make([]estimator.Chunk, len(b.Chunks)), Memory: b.Memory}
	eachChunk(b, func(i int, ch *estimator.Chunk, _ int) {
		out.Chunks[i] = estimator.Chunk{Persons: ch.Persons, Dense: clampedValues(b.Memory, ch.Dense, lo, hi)}
	})
	return out, nil
}

func clampedValues(m estimator.Memory, x []int64, lo, hi int64) []int64 {
	out := estimator.Make[int64](m, len(x))
	for i, v := range x {
		out[i] = min(max(v, lo), hi)
	}
	return out
}

// inRange reports whether all values are from lo to hi.
func inRange(x []int64, lo, hi int64) bool {
	least, most := extremes(x, lo)
	return least == lo && most <= hi
}

// largest returns max_j |x_ij − middle| of each person.
func largest(b *estimator.Block, middle int64) []float64 {
	out := estimator.Make[float64](b.Memory, int(b.Persons()))
	eachChunk(b, func(_ int, ch *estimator.Chunk, at int) {
		for x := ch.Dense; len(x) > 0; x, at = x[b.Dim:], at+1 {
			least, most := extremes(x[:b.Dim], middle)
			out[at] = float64(max(most-middle, middle-least))
		}
	})
	return out
}

// extremes returns the least and the most of x and v. It looks at four numbers at a time, so that
// comparisons need not wait for each other.
func extremes(x []int64, v int64) (least, most int64) {
	a, b, c, d := v, v, v, v
	e, f, g, h := v, v, v, v
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = min(a, x[0]), min(b, x[1]), min(c, x[2]), min(d, x[3])
		e, f, g, h = max(e, x[0]), max(f, x[1]), max(g, x[2]), max(h, x[3])
	}
	for _, v := range x {
		a, e = min(a, v), max(e, v)
	}
	return min(a, b, c, d), max(e, f, g, h)
}

// eachChunk calls work for every chunk with its number and that of its first person, several at a
// time.
func eachChunk(b *estimator.Block, work func(i int, ch *estimator.Chunk, at int)) {
	var all fork.Group
	at := 0
	for i := range b.Chunks {
		ch, from := &b.Chunks[i], at
		all.Go(func() { work(i, ch, from) })
		at += ch.Persons
	}
	all.Wait()
}
