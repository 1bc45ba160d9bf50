package vector

import (
	"sync"
	"sync/atomic"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/scalar"
)

// means returns the block of person means in units of 2^-shift steps, clamped to the public range: a map of one
// person at a time. With one row each, shift 0 and all values within the range it is b itself.
//
// far is what largest returns for that block and the public middle, from the same reading; nil where values were clamped.
func (p Params) means(b *estimator.Block, shift uint) (out *estimator.Block, far []float64) {
	lo, hi := scalar.Range(p.Params)
	lo, hi, middle := lo<<shift, hi<<shift, middleOf(p, shift)
	b = block.Means(b, shift)
	if p.Method == Clipped && lo <= -estimator.MaxUnits<<shift && hi >= estimator.MaxUnits<<shift {
		return b, nil // nothing is beyond the range, and nobody asks how far values reach
	}
	out, far = &estimator.Block{Dim: b.Dim, Chunks: make([]estimator.Chunk, len(b.Chunks))}, make([]float64, b.Persons())
	for i := range b.Chunks {
		out.Chunks[i] = estimator.Chunk{Persons: b.Chunks[i].Persons, Dense: b.Chunks[i].Dense}
	}
	var clamped atomic.Bool
	eachChunk(out, func(ch *estimator.Chunk, at int) {
		least, most := farTo(far[at:at+ch.Persons], ch.Dense, middle)
		if least < lo || most > hi {
			ch.Dense = clampedValues(ch.Dense, lo, hi)
			clamped.Store(true)
		}
	})
	if clamped.Load() {
		return out, nil
	}
	return out, far
}

func clampedValues(x []int64, lo, hi int64) []int64 {
	out := make([]int64, len(x))
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

// farTo sets far to max_j |x_ij − middle| of each person, and returns the extremes of all x and the middle.
func farTo(far []float64, x []int64, middle int64) (least, most int64) {
	least, most = middle, middle
	dim := len(x) / max(1, len(far))
	for i := range far {
		a, b := extremes(x[:dim], middle)
		far[i] = float64(max(b-middle, middle-a))
		least, most, x = min(least, a), max(most, b), x[dim:]
	}
	return least, most
}

// extremes returns the least and the most of x and v. It looks at four numbers at a time, so that comparisons need not wait for each
// other.
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
