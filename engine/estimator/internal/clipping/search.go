package clipping

import (
	"fmt"
	"math/big"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// Search releases the histogram of octaves.
//
//	add-remove    one bucket changes by 1                    ℓ2 sensitivity 1, ℓ1 sensitivity 1
//	replace-one   one bucket loses 1, another gains 1        ℓ2 sensitivity √2, ℓ1 sensitivity 2
//
// Which buckets there are is public: those up to Limit, on the sides that values may be on.
type Search struct {
	noise    scalar.Noise
	delta    int64
	limit    int64
	up, down bool
	squares  bool // of numbers up to limit
}

// NewSearch returns a search at a share of p's loss, for totals within [low, high], low ≤ 0 ≤ high.
// What is beyond counts as the end.
func NewSearch(p estimator.Params, share float64, low, high int64) Search {
	delta := p.Relation.Factor()
	return Search{
		noise: scalar.NewNoise(p, big.NewInt(delta), delta, share), delta: delta,
		limit: max(1, -low, high), up: high > 0, down: low < 0,
	}
}

// NewSquares returns a search for squares of numbers up to limit.
func NewSquares(p estimator.Params, share float64, limit int64) Search {
	s := NewSearch(p, share, 0, limit)
	s.squares, s.up = true, true
	return s
}

// buckets is the number of buckets on one side.
func (s Search) buckets() int {
	if s.squares {
		return octaveOfSquare(uint64(s.limit)) + 1
	}
	return Octave(uint64(s.limit)) + 1
}

// Step describes the search.
func (s Search) Step(name string) estimator.Step {
	sides := 0
	for _, has := range []bool{s.up, s.down} {
		if has {
			sides++
		}
	}
	return histogramStep(s.noise, s.delta, estimator.Step{Name: name, Queries: s.buckets() * max(1, sides)})
}

// histogramStep completes the step of a histogram of persons in which an exchange changes so many
// counts.
func histogramStep(hidden scalar.Noise, delta int64, step estimator.Step) estimator.Step {
	step.Use, step.Sensitivity = "histogram", "l2=1"
	if delta > 1 {
		step.Sensitivity = fmt.Sprintf("l2=sqrt(%d)", delta)
		if hidden.Law() == estimator.Laplace {
			step.Sensitivity = fmt.Sprintf("l1=%d", delta)
		}
	}
	return hidden.Step(step)
}

// Persons is the number of persons of one octave that stands out.
func (s Search) Persons() int64 { return int64(gateZ*s.noise.Sigma()) + 1 }

// Counts are the noisy counts: a release.
type Counts struct {
	up, down []float64 // by octave; nil where no value is on that side
	sigma    float64   // standard deviation of the noise of each
	tail     float64   // factor by which its tails ask for more than those of a normal law
	limit    float64
	real     bool // of numbers that are not whole
	about    bool // of distances from a centre
	squares  bool // of numbers
	apart    bool // the noise of the sum goes by the length of its interval
	groups   int  // with a search each
}

// Release draws the noise. groups is the number of groups that are searched in like this one,
// public or released.
func (s Search) Release(n noise.Noiser, h *Histogram, groups int) Counts {
	noisy := func(has bool, side *[maxBuckets]int64) []float64 {
		if !has {
			return nil
		}
		counts := make([]float64, s.buckets())
		for i, c := range side {
			counts[min(i, len(counts)-1)] += float64(c)
		}
		for i, c := range counts {
			counts[i] = float64(s.noise.Add(n, int64(c)))
		}
		return counts
	}
	tail := 1.0
	if s.noise.Law() == estimator.Laplace {
		tail = laplaceTail
	}
	limit := float64(s.limit)
	if s.squares {
		limit *= limit
	}
	return Counts{
		up: noisy(s.up, &h.Up), down: noisy(s.down, &h.Down), sigma: s.noise.Sigma(), tail: tail,
		limit: limit, real: s.squares, squares: s.squares, apart: s.delta > 1, groups: groups,
	}
}
