package tree

import (
	"math/rand/v2"
	"testing"

	"scrim/test/stattest"
)

// BenchmarkHaar transforms the sums of 2^20 leaves, all levels, and asks a quantile.
func BenchmarkHaar(b *testing.B) {
	const k = 20
	r := rand.New(stattest.Source(b, "haar bench"))
	sums := make([][]int64, k)
	for l := range sums {
		sums[l] = make([]int64, 1<<(k-l-1))
		for j := range sums[l] {
			sums[l][j] = int64(r.IntN(21)) - 10
		}
	}
	for b.Loop() {
		levels := make([]Level, k)
		for l := range levels {
			levels[l] = HRR(sums[l], 1_000_000, 3<<60)
		}
		NewHaar(levels).Quantile(0.9)
	}
}

// BenchmarkHier makes the 5460 nodes of six levels consistent, and asks a range with its standard
// error.
func BenchmarkHier(b *testing.B) {
	levels := randomLevels(rand.New(stattest.Source(b, "hier bench")), 6)
	b.Run("consistent", func(b *testing.B) {
		for b.Loop() {
			NewHier(levels)
		}
	})
	tree := NewHier(levels)
	b.Run("range", func(b *testing.B) {
		for b.Loop() {
			tree.Range(0.1, 0.7)
		}
	})
}
