package groups

import (
	"math/rand/v2"
	"testing"

	"scrim/engine/estimator"
	"scrim/test/stattest"
)

// BenchmarkFewGroups sizes a release of a count and a mean by its entries: 100 000 persons in 9 of
// 20 groups.
func BenchmarkFewGroups(b *testing.B) {
	const groups, persons = 20, 100000
	r := rand.New(rand.NewPCG(1, 2))
	block := &estimator.Block{Dim: 3 * groups, Sparse: true}
	for range 200 {
		ch := estimator.Chunk{Persons: persons / 200, Starts: []int{0}}
		for range ch.Persons {
			for g := range groups {
				if r.IntN(20) < 9 {
					m := 1 + r.Int64N(2)
					ch.Index = append(ch.Index, int32(3*g), int32(3*g+1), int32(3*g+2))
					ch.Values = append(ch.Values, m, m*r.Int64N(100), m)
				}
			}
			ch.Starts = append(ch.Starts, len(ch.Index))
		}
		block.Chunks = append(block.Chunks, ch)
	}
	g := estimator.Grid{Step: 1, Decimal: true, Lo: -1 << 31, Hi: 1 << 31}
	e, err := New(Params{Rho: 0.5, Groups: groups, Aggregates: []Aggregate{{Measure: Rows}, {Measure: RowMean, Grid: g}}})
	if err != nil {
		b.Fatal(err)
	}
	n := stattest.Noiser(b, "noise")
	for b.Loop() {
		e.Release(n, estimator.Input{Vectors: block})
	}
}
