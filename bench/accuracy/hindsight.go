package accuracy

import (
	"math"
	"slices"
	"sync"

	"scrim/bench/dataset"
	"scrim/engine/estimator"
)

// bestOf returns the bounds for a sample: those that are fixed, the others the best in hindsight,
// which are found once where every sample is the same.
func bestOf(fixed box, s *dataset.Set, c Conditions) func(*estimator.Block) box {
	if !s.Fixed {
		return func(b *estimator.Block) box { return hindsight(fixed, b, s, c) }
	}
	var once sync.Once
	var kept box
	return func(b *estimator.Block) box {
		once.Do(func() { kept = hindsight(fixed, b, s, c) })
		return kept
	}
}

// hindsight returns the pair of bounds with the least expected squared error over all groups on a
// block: first of a coarse grid, doublings, then, within a factor of two of that, by eighths of a
// doubling in groups and quarters in bounds.
func hindsight(fixed box, b *estimator.Block, s *dataset.Set, c Conditions) box {
	many, large := extent(b)
	coarse := least(fixed, ladder(1, many, 1), ladder(1, large, 1), b, s, c)
	near := func(x, most int64, per float64) []int64 { return ladder(max(1, x/2), min(2*x, most), per) }
	return least(fixed, near(int64(coarse.groups), many, 8), near(coarse.bound, large, 4), b, s, c)
}

// least tries all pairs of a grid; what is fixed stays.
func least(fixed box, counts, bounds []int64, b *estimator.Block, s *dataset.Set, c Conditions) box {
	if fixed.groups > 0 {
		counts = []int64{int64(fixed.groups)}
	}
	if fixed.bound > 0 {
		bounds = []int64{fixed.bound}
	}
	best, least := box{int(counts[0]), bounds[0]}, math.Inf(1)
	for _, groups := range counts {
		for _, bound := range bounds {
			x := box{int(groups), bound}
			sd := x.deviation(c, s.Grid.Lo < 0)
			noise := float64(s.Groups) * sd * sd
			if noise >= least {
				break // larger bounds have more noise
			}
			if e := noise + x.loss(b); e < least {
				best, least = x, e
			}
		}
	}
	return best
}

// extent returns the largest number of groups of a person and the largest absolute value.
func extent(b *estimator.Block) (groups, value int64) {
	groups, value = 1, 1
	for _, ch := range b.Chunks {
		for i := range ch.Persons {
			groups = max(groups, int64(ch.Starts[i+1]-ch.Starts[i]))
		}
		for _, v := range ch.Values {
			value = max(value, v, -v)
		}
	}
	return groups, value
}

// ladder lists whole numbers from one to another, per to a doubling.
func ladder(from, to int64, per float64) []int64 {
	var out []int64
	for x := float64(from); x < float64(to); x *= math.Pow(2, 1/per) {
		out = append(out, int64(math.Round(x)))
	}
	return slices.Compact(append(out, to))
}

// loss is the expected squared error over all groups, in steps, of what bounds cut away: a person
// of c groups keeps each with the probability min(1, groups/c), and what is kept is clipped.
func (b box) loss(block *estimator.Block) float64 {
	bias, variance := make([]float64, block.Dim), 0.0
	for _, ch := range block.Chunks {
		for i := range ch.Persons {
			from, to := ch.Starts[i], ch.Starts[i+1]
			kept := min(1, float64(b.groups)/float64(max(1, to-from)))
			for e := from; e < to; e++ {
				v := valueAt(ch, e)
				w := float64(b.clip(v))
				bias[ch.Index[e]] += kept*w - float64(v)
				variance += kept * (1 - kept) * w * w
			}
		}
	}
	for _, x := range bias {
		variance += x * x
	}
	return variance
}
