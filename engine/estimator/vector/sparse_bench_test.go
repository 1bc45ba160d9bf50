package vector

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"scrim/engine/estimator"
	"scrim/engine/estimator/noise"
)

// baskets returns n lists of distinct items of dim, by a Zipf law with exponent 1: item j has a
// chance in proportion to 1/(j+1). A person has the given number of items, or a log-normal number
// with that mean and σ = spread.
func baskets(n, dim, items int, spread float64) *estimator.Block {
	cumulated, sum := make([]float64, dim), 0.0
	for j := range cumulated {
		sum += 1 / float64(j+1)
		cumulated[j] = sum
	}
	b := &estimator.Block{Dim: dim, Sparse: true, Chunks: make([]estimator.Chunk, (n+8191)/8192)}
	var all sync.WaitGroup
	for c := range b.Chunks {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 11))
			ch := estimator.Chunk{Persons: min(8192, n-8192*c), Starts: []int{0}}
			for range ch.Persons {
				k := float64(items)
				if spread > 0 {
					k *= math.Exp(spread*r.NormFloat64() - spread*spread/2)
				}
				ch.Index = append(ch.Index, basket(r, cumulated, min(max(1, int(k+0.5)), dim/8))...)
				ch.Starts = append(ch.Starts, len(ch.Index))
			}
			b.Chunks[c] = ch
		})
	}
	all.Wait()
	return b
}

// basket draws k distinct items in ascending order.
func basket(r *rand.Rand, cumulated []float64, k int) []int32 {
	var items []int32
	for len(items) < k {
		for len(items) < k {
			j, _ := slices.BinarySearch(cumulated, r.Float64()*cumulated[len(cumulated)-1])
			items = append(items, int32(min(j, len(cumulated)-1)))
		}
		slices.Sort(items)
		items = slices.Compact(items)
	}
	return items
}

// columnSums adds up a block of ones exactly, on all cores: what a store would do without noise.
func columnSums(b *estimator.Block) []int64 {
	sum := make([]int64, b.Dim)
	var mu sync.Mutex
	var all sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for core := range cores {
		all.Go(func() {
			own := make([]int64, b.Dim)
			for c := core; c < len(b.Chunks); c += cores {
				for _, j := range b.Chunks[c].Index {
					own[j]++
				}
			}
			mu.Lock()
			defer mu.Unlock()
			for j, x := range own {
				sum[j] += x
			}
		})
	}
	all.Wait()
	return sum
}

// halfL1 is half the ℓ1 distance of an answer from the exact mean.
func halfL1(b *estimator.Block, answer []float64) float64 {
	n, e := float64(b.Persons()), 0.0
	for j, x := range columnSums(b) {
		e += math.Abs(answer[j] - float64(x)/n)
	}
	return e / 2
}

func bitParams(dim int, rho float64, r estimator.Relation, m Method) Params {
	p := Params{Dim: dim, Method: m, Scale: Binary}
	p.Rho, p.Relation, p.Sized, p.MaxRows = rho, r, r == estimator.ReplaceOne, 1
	p.Grid = estimator.Grid{Step: 1, Decimal: true, Hi: 1}
	return p
}

// BenchmarkSparse sizes the means of a click-stream: 75,462 persons with 48 of 27,983 items each,
// beside the exact sums of the columns. half-l1 is the error of the last answer.
func BenchmarkSparse(b *testing.B) {
	clicks := baskets(75462, 27983, 48, 0)
	b.Run("exact", func(b *testing.B) {
		for b.Loop() {
			columnSums(clicks)
		}
	})
	for name, m := range map[string]Method{"clipped": Clipped, "shifted": Shifted, "plan": Plan} {
		b.Run(name, func(b *testing.B) {
			p := bitParams(clicks.Dim, 0.5, estimator.AddRemove, m)
			p.Sparse = true
			e, err := NewMean(p)
			if err != nil {
				b.Fatal(err)
			}
			n := noise.New(rand.NewPCG(1, 1))
			var a estimator.Estimate
			for b.Loop() {
				a = e.Release(n, estimator.Input{Persons: clicks.Persons(), Vectors: clicks})
			}
			b.ReportMetric(halfL1(clicks, a.Values), "half-l1")
		})
	}
}
