package person

import (
	"math/rand/v2"
	"slices"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
	"scrim/engine/estimator/vector"
)

// BenchmarkMean releases the mean of 200 000 persons with 10 rows each and 16 coordinates; beside
// it the exact sum, and vector's choice.
func BenchmarkMean(b *testing.B) {
	const persons, dim = 200_000, 16
	r := rand.New(rand.NewPCG(1, 2))
	block := &estimator.Block{Dim: dim}
	for range persons / 10_000 {
		ch := estimator.Chunk{Persons: 10_000, Rows: slices.Repeat([]int64{10}, 10_000), Dense: make([]int64, 10_000*dim)}
		for i := range ch.Dense {
			ch.Dense[i] = int64(65536 * (10 + r.NormFloat64()))
		}
		block.Chunks = append(block.Chunks, ch)
	}
	open := estimator.Params{Rho: 0.1, Grid: grid}
	run := func(name string, e estimator.Estimator, err error) {
		must(b, e, err)
		b.Run(name, func(b *testing.B) {
			n := noise.New(rand.NewPCG(3, 4))
			b.SetBytes(persons * dim * 8)
			for b.Loop() {
				e.Release(n, estimator.Input{Vectors: block})
			}
		})
	}
	e, err := NewMean(Params{Params: open, Dim: dim})
	run("person", e, err)
	e, err = NewMean(Params{Params: open, Dim: dim, Sigma: 3, Rows: 10, Radius: 100})
	run("person declared", e, err)
	e, err = vector.NewMean(vector.Params{Params: open, Dim: dim})
	run("vector", e, err)
	b.Run("exact sum", func(b *testing.B) {
		b.SetBytes(persons * dim * 8)
		for b.Loop() {
			var sums [dim]int64
			for i := range block.Chunks {
				for x := block.Chunks[i].Dense; len(x) > 0; x = x[dim:] {
					for j, v := range x[:dim] {
						sums[j] += v
					}
				}
			}
		}
	})
}
