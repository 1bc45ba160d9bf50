package dataset

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"scrim/bench/internal/named"
	"scrim/engine/estimator"
)

var binaries = []Kind{
	{"binary", "n=4096,d=512,alpha=0.25,high=0.5,low=0.01", "bits, independent: a share alpha of the coordinates is 1 with probability high, the rest with probability low [ALP24, Table 1, Binary]", openBinary},
	{"clicks", "n=75462,d=27983,nnz=48,zipf=1", "each person has nnz different items, drawn one by one with probability in proportion to 1/rank^zipf: a set of the click-stream's size", openClicks},
}

// bits makes a sparse set of 0s and 1s.
func bits(n *named.Name, persons, dim int) *Set {
	s := &Set{Persons: n.Int("n", persons, 0, 1<<24), Dim: n.Int("d", dim, 1, 1<<20), P: 1, Sparse: true, Bounded: true}
	s.Grid = estimator.Grid{Step: 1, Decimal: true, Lo: 0, Hi: 1}
	return s
}

func openBinary(n *named.Name, _ string) (*Set, error) {
	s := bits(n, 4096, 512)
	alpha, high, low := n.Float("alpha", 0.25, 0, 1), n.Float("high", 0.5, 0, 1), n.Float("low", 0.01, 0, 1)
	q := constant(s.Dim, low)
	for j := range int(math.Ceil(alpha * float64(s.Dim))) {
		q[j] = high
	}
	ones := 0.0
	for _, p := range q {
		ones += p
		s.Variances = append(s.Variances, p*(1-p))
	}
	s.Entries = int(ones * float64(s.Persons))
	s.draw = func(r rng) (*estimator.Block, []float64, error) {
		return s.sparse(r, func(part int, r rng, _, persons int, add func([]int32)) {
			g := r.part(part)
			for range persons {
				var row []int32
				for j, p := range q {
					if g.Float64() < p {
						row = append(row, int32(j))
					}
				}
				add(row)
			}
		}), q, nil
	}
	return s, nil
}

func openClicks(n *named.Name, _ string) (*Set, error) {
	s := bits(n, 75462, 27983)
	nnz := n.Int("nnz", min(48, s.Dim/2), 0, s.Dim/2)
	cumulative := zipf(s.Dim, n.Float("zipf", 1, 0, 4))
	s.Entries, s.Observed = s.Persons*nnz, true
	s.draw = func(r rng) (*estimator.Block, []float64, error) {
		return s.sparse(r, func(part int, r rng, _, persons int, add func([]int32)) {
			g := r.part(part)
			taken := make([]int32, s.Dim) // 1 + the last person of this part who has the item
			row := make([]int32, 0, nnz)
			for i := range persons {
				row = row[:0]
				for len(row) < nnz {
					if j := pick(g, cumulative); taken[j] != int32(i+1) {
						taken[j] = int32(i + 1)
						row = append(row, j)
					}
				}
				slices.Sort(row)
				add(row)
			}
		}), nil, nil
	}
	return s, nil
}

// zipf returns the cumulative distribution of ranks 1 … d with weights 1/rank^a.
func zipf(d int, a float64) []float64 {
	out, sum := make([]float64, d), 0.0
	for j := range out {
		sum += math.Pow(float64(j+1), -a)
		out[j] = sum
	}
	for j := range out {
		out[j] /= sum
	}
	return out
}

func pick(g *rand.Rand, cumulative []float64) int32 {
	u := g.Float64()
	j := sort.Search(len(cumulative), func(j int) bool { return cumulative[j] > u })
	return int32(min(j, len(cumulative)-1))
}
