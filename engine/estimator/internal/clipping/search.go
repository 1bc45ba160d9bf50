package clipping

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"slices"
	"sort"

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
	long     bool // of distances with the tail of totals
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

// FinerShare is the share of a loss that finer counts have where they are asked for. Where they are
// not the sum has it.
const FinerShare = 0.06

const (
	// eighths is the number of finer buckets of an octave.
	eighths = 8
	// mostOctaves is the number of octaves that are looked at, at most: from that of the chosen end
	// down to the fullest one, and one below the end at least. Noise may lift an end that far.
	mostOctaves = 6
	// leastFiner is the number of persons in the octave of the chosen end from which on finer
	// counts are asked for, in standard deviations of their noise. Of fewer the octave's own count
	// tells more: sixty persons in one octave may not be seen in any eighth of it.
	leastFiner = 40
	// gainFiner is the part of the error before that another end has to come to.
	gainFiner = 0.95
	// clearFiner is the number of standard deviations from which on what is seen beyond an end
	// counts, however unlike it is to a tail that falls.
	clearFiner = 1.5
)

// Finer releases a second histogram where many persons stand out: of those about the chosen end, by
// eighths of an octave. The octaves do not say where in them persons are, so that the end is mostly
// that of an octave, up to twice as far out as the largest total.
//
//	add-remove    one bucket changes by 1                    ℓ2 sensitivity 1
//	replace-one   one bucket loses 1, another gains 1        ℓ2 sensitivity √2
//
// Which octaves these are, and whether they are asked for at all, follows from the counts of
// octaves, which are released.
//
// Its zero value, and that of a pure loss, is never asked for: Laplace noise of so small a share
// would hide too many persons.
type Finer struct {
	noise scalar.Noise
	delta int64
}

// NewFiner returns the finer counts at a share of p's loss.
func NewFiner(p estimator.Params, share float64) Finer {
	if p.Pure() {
		return Finer{}
	}
	delta := p.Relation.Factor()
	return Finer{scalar.NewNoise(p, big.NewInt(delta), delta, share), delta}
}

// Ready reports whether finer counts may be asked for.
func (f Finer) Ready() bool { return f.delta > 0 }

// Step describes the finer counts.
func (f Finer) Step(name string) estimator.Step {
	return histogramStep(f.noise, f.delta, estimator.Step{Name: name, Queries: mostOctaves * eighths})
}

// Wanted reports whether finer counts are to be asked for: where values are on one side of 0 and
// persons are many about the end.
//
// They are not where the laws see persons beyond the end: what few have in a long tail is told
// better by a law.
func (f Finer) Wanted(c Choice, sigma float64) bool {
	if !f.Ready() || c.side == nil || Added(c.above+c.below, sigma*float64(c.Low+c.High)) != 0 {
		return false
	}
	_, high := c.octaves()
	return c.side.counts[high] > leastFiner*f.noise.Sigma()
}

// octaves are the first and the last octave that finer counts look at.
func (c Choice) octaves() (low, high int) {
	high = min(Octave(uint64(max(c.Low, c.High, 1))), len(c.side.counts)-1)
	low = min(fullest(c.side.counts), high-1)
	return max(low, high-mostOctaves+1, 0), high
}

// Release draws the noise and returns the choice with an end by the finer counts: that of the least
// sum of squares of the sum's noise and of what is beyond it. totals are those that the histogram
// was of; sigma is the noise of the sum where an end is 1.
func (f Finer) Release(n noise.Noiser, c Choice, totals iter.Seq[int64], sigma, step float64) Choice {
	edges := edgesOf(c.octaves())
	counts := make([]int64, len(edges))
	for t := range totals {
		if c.Low > 0 {
			t = -t
		}
		if k := sort.Search(len(edges), func(k int) bool { return edges[k] >= t }); k > 0 && k < len(edges) {
			counts[k]++
		}
	}
	noisy := make([]float64, len(edges)) // of those above the edge before and up to this one
	for k := 1; k < len(edges); k++ {
		noisy[k] = float64(f.noise.Add(n, counts[k]))
	}
	return c.at(edges, noisy, f.noise.Sigma(), sigma, step)
}

// edgesOf are the edges of the finer buckets of octaves, whole numbers that rise. The first is the
// lower end of all.
func edgesOf(low, high int) []int64 {
	var edges []int64
	for k := 0; k <= (high-low+1)*eighths; k++ {
		e := int64(math.Floor(math.Exp2(float64(low-1) + float64(k)/eighths)))
		if len(edges) == 0 || e > edges[len(edges)-1] {
			edges = append(edges, e)
		}
	}
	return edges
}

// at is the choice by finer counts with noise of standard deviation doubt, of edges. What octaves
// above hold is told by the laws.
func (c Choice) at(edges []int64, noisy []float64, doubt, sigma, step float64) Choice {
	side, last := c.side, len(edges)-1
	persons, top := descending(noisy, doubt), float64(edges[last])
	whole := min(sort.SearchFloat64s(side.radii, top-0.5), len(side.radii)-1)
	above, parts := side.cutOf(whole, step)
	beyond := side.beyond(whole)
	end := c.Low + c.High // one of both is 0
	best, chosen := gainFiner*math.Hypot(sigma*float64(end), c.above+c.below), c
	for k := last; k > 0; k-- {
		if edges[k] >= end {
			continue
		}
		r := float64(edges[k])
		smooth, seen, variance := 0.0, 0.0, 0.0
		for j := k + 1; j <= last; j++ {
			d := (float64(edges[j])+float64(edges[j-1]+1))/2 - r
			smooth, seen, variance = smooth+persons[j]*d, seen+noisy[j]*d, variance+d*d
		}
		off := doubt * math.Sqrt(variance)
		if seen > clearFiner*off {
			smooth = max(smooth, seen)
		}
		cut := smooth + above + beyond*(top-r)
		if risk := math.Hypot(sigma*r, cut); risk < best {
			best = risk
			gained := []estimator.CutPart{{Weight: 1, Mean: (cut - above) * step, StdDev: off * step}}
			chosen = c.toward(edges[k], cut, Both(parts, gained))
		}
	}
	return chosen
}

// toward is the choice with another end.
func (c Choice) toward(end int64, cut float64, parts []estimator.CutPart) Choice {
	if c.Low > 0 {
		c.Low, c.Cut, c.below, c.Down = end, -cut, cut, parts
	} else {
		c.High, c.Cut, c.above, c.Up = end, cut, cut, parts
	}
	return c
}

// beyond is the number of persons whom the laws expect above radius number at.
func (s *side) beyond(at int) float64 {
	if at+1 >= len(s.radii) {
		return 0
	}
	persons := 0.0
	for _, f := range s.fits {
		persons += f.weight * (f.cut[at] - f.cut[at+1])
	}
	return persons / (s.radii[at+1] - s.radii[at])
}

// descending are counts without their noise as far as it makes them rise again above the fullest
// one: neighbours that rise are taken together, and what is together under a standard deviation of
// their noise, doubt of each, is none.
func descending(noisy []float64, doubt float64) []float64 {
	mode := fullest(noisy[1:]) + 1
	out := slices.Clone(noisy)
	type block struct{ sum, n float64 }
	var blocks []block
	for _, x := range noisy[mode:] {
		b := block{x, 1}
		for len(blocks) > 0 {
			before := blocks[len(blocks)-1]
			if before.sum*b.n >= b.sum*before.n {
				break
			}
			b = block{before.sum + b.sum, before.n + b.n}
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	k := mode
	for _, b := range blocks {
		for range int(b.n) {
			if out[k] = b.sum / b.n; b.sum < doubt*math.Sqrt(b.n) {
				out[k] = 0
			}
			k++
		}
	}
	return out
}
