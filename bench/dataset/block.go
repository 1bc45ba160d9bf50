package dataset

import (
	"math"
	"math/big"
	"runtime"

	"golang.org/x/sync/errgroup"

	"scrim/engine/estimator"
)

// chunkEntries is about how many numbers a chunk holds.
const chunkEntries = 1 << 18

// dense makes a block of persons × dim numbers; fill writes the values of persons [from,
// from+len(x)/dim) into x, with the generator of that chunk, and is called from several goroutines.
// Values go to the nearest grid index within the range.
func (s *Set) dense(r rng, fill func(part int, r rng, from int, x []float64)) *estimator.Block {
	per := max(1, chunkEntries/s.Dim)
	b := &estimator.Block{Dim: s.Dim, Chunks: make([]estimator.Chunk, (s.Persons+per-1)/per)}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for c := range b.Chunks {
		g.Go(func() error {
			from := c * per
			persons := min(per, s.Persons-from)
			x := make([]float64, persons*s.Dim)
			fill(c, r, from, x)
			b.Chunks[c] = estimator.Chunk{Persons: persons, Dense: s.indexes(x)}
			return nil
		})
	}
	_ = g.Wait() // no part fails
	return b
}

func (s *Set) indexes(x []float64) []int64 {
	out := make([]int64, len(x))
	for i, v := range x {
		out[i] = s.index(v)
	}
	return out
}

// index is the grid index that is nearest to v within the range.
func (s *Set) index(v float64) int64 {
	return min(max(int64(math.RoundToEven(v/s.Grid.Step)), s.Grid.Lo), s.Grid.Hi)
}

// sparse makes a block of 0s and 1s; fill adds the ascending coordinates of each person of its
// part, with the generator of that part, and is called from several goroutines.
func (s *Set) sparse(r rng, fill func(part int, r rng, from, persons int, add func(row []int32))) *estimator.Block {
	per := max(1, min(s.Persons, chunkEntries*s.Persons/max(1, s.Entries)))
	b := &estimator.Block{Dim: s.Dim, Sparse: true, Chunks: make([]estimator.Chunk, (s.Persons+per-1)/per)}
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for c := range b.Chunks {
		g.Go(func() error {
			from := c * per
			ch := estimator.Chunk{Persons: min(per, s.Persons-from), Starts: []int{0}}
			fill(c, r, from, ch.Persons, func(row []int32) {
				ch.Index = append(ch.Index, row...)
				ch.Starts = append(ch.Starts, len(ch.Index))
			})
			b.Chunks[c] = ch
			return nil
		})
	}
	_ = g.Wait() // no part fails
	return b
}

// meanOfMeans is the mean over persons of the sum of a person's rows over their number.
func meanOfMeans(b *estimator.Block, step float64) []float64 {
	out, n := make([]float64, b.Dim), float64(b.Persons())
	for _, ch := range b.Chunks {
		for i, m := range ch.Rows {
			for j, v := range ch.Dense[i*b.Dim : (i+1)*b.Dim] {
				out[j] += float64(v) / float64(m) / n
			}
		}
	}
	for j := range out {
		out[j] *= step
	}
	return out
}

func value(ch estimator.Chunk, e int) int64 {
	if ch.Values == nil {
		return 1
	}
	return ch.Values[e]
}

// MeanOf returns the mean of the persons' vectors in values, from exact sums; nil for no persons.
// Of persons with several rows it is the mean of their means.
func MeanOf(b *estimator.Block, step float64) []float64 {
	n := b.Persons()
	if n == 0 {
		return nil
	}
	if !b.Sparse && len(b.Chunks) > 0 && b.Chunks[0].Rows != nil {
		return meanOfMeans(b, step)
	}
	sums := make([]wide, b.Dim)
	for _, ch := range b.Chunks {
		if b.Sparse {
			for e, j := range ch.Index {
				sums[j].add(value(ch, e))
			}
			continue
		}
		for i := range ch.Persons {
			for j, v := range ch.Dense[i*b.Dim : (i+1)*b.Dim] {
				sums[j].add(v)
			}
		}
	}
	out := make([]float64, b.Dim)
	for j := range out {
		out[j] = sums[j].over(n) * step
	}
	return out
}

// wide is a sum of many numbers within ±2^50, in two halves that cannot overflow.
type wide struct{ hi, lo int64 }

func (w *wide) add(v int64) { w.hi += v >> 25; w.lo += v & (1<<25 - 1) }

func (w *wide) over(n int64) float64 {
	sum := new(big.Int).Lsh(big.NewInt(w.hi), 25)
	q, _ := new(big.Rat).SetFrac(sum.Add(sum, big.NewInt(w.lo)), big.NewInt(n)).Float64()
	return q
}
