package vector

import (
	"math"
	"slices"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/block"
	"scrim/engine/estimator/internal/firstpass"
	"scrim/engine/estimator/internal/scalar"
	"scrim/engine/estimator/noise"
)

// A shrinker improves many noisy numbers at once, after their release, by what they tell of each
// other. With thousands of coordinates most noisy means of rare items are mostly noise, and the
// distribution of the true means can be read off the noisy ones: it is the one under which they are
// most likely. Each coordinate's answer is then the centre of its posterior distribution: the
// median for the error's norm p < 2, the mean otherwise.
//
//	y_j = θ_j + N(0, τ_j²), τ_j known     G = argmax Σ_j log ∫ φ((y_j−θ)/τ_j)/τ_j dG(θ)     [KW56]
//
// No assumption is made on the θ_j, which are fixed numbers: the mean squared error over the
// coordinates comes near that of the best function that is applied to each y_j [JZ09], and the
// identity is one such function. What does not stand in a crowd stays where it is, since nearby G
// has no other mass than its own. So dense data, whose means lie further apart than the noise, pass
// unchanged, and where all that is left is noise around one number, that number is returned. It is
// post-processing and costs nothing; it adds a bias of at most a few τ_j to a coordinate that is
// unlike its neighbours.
//
// G is found on a grid with step τ/2 by EM steps [Lai78] from an even start. Stopping early leaves
// G wider than it should be, which shrinks less.
type shrinker struct {
	points []float64 // grid, ascending, from 0
	mass   []float64 // G on it
}

const (
	shrinkDim   = 64 // fewer coordinates tell too little of each other
	shrinkReach = 6  // standard deviations of noise on either side that the posterior looks at
	// most grid points in reach of a coordinate, and the least: one with more or fewer stays as it
	// is
	shrinkWindow = 512
	shrinkSparse = 8
	shrinkFit    = 1 << 14 // most coordinates that G is fitted to
	shrinkSteps  = 10      // of EM
	shrinkCrowd  = 32      // coordinates on either side among which the grid's step is chosen
)

// newShrinker fits G on [0, hi] to released numbers.
func newShrinker(y, tau []float64, hi float64) *shrinker {
	stride := (len(y) + shrinkFit - 1) / shrinkFit
	var fit []int
	for j := 0; j < len(y); j += stride {
		if tau[j] > 0 {
			fit = append(fit, j)
		}
	}
	s := &shrinker{points: gridFor(fit, y, tau, hi)}
	s.mass = make([]float64, len(s.points))
	for k := range s.mass {
		s.mass[k] = 1
	}
	s.fit(fit, y, tau)
	return s
}

// gridFor returns points on [0, hi] that are half a standard deviation apart wherever a number is
// in reach: the least one of the numbers nearby, but not so small that a number has more points in
// reach than shrinkWindow.
func gridFor(fit []int, y, tau []float64, hi float64) []float64 {
	order := slices.Clone(fit)
	slices.SortFunc(order, func(a, b int) int { return compare(y[a], y[b]) })
	points := []float64{0}
	for i := 0; i < len(order); {
		least := math.Inf(1)
		for _, j := range order[max(0, i-shrinkCrowd):min(len(order), i+shrinkCrowd)] {
			least = min(least, tau[j])
		}
		step := min(max(least, tau[order[i]]/16)/2, hi/16)
		last, next := points[len(points)-1]+step, y[order[i]]-shrinkReach*tau[order[i]]
		switch {
		case last > hi:
			return points
		case last > y[order[i]]+shrinkReach*tau[order[i]] || !(last > points[len(points)-1]):
			i++
		default:
			points = append(points, max(last, min(next, hi)))
		}
	}
	return points
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// window returns the grid points in reach of a number, and the likelihood of each; none if there
// are too many or too few.
func (s *shrinker) window(dst []float64, y, tau float64) (from int, likelihood []float64) {
	// the grid begins at 0, which stays in reach of what is below
	at, reach := max(y, 0), shrinkReach*tau
	from, _ = slices.BinarySearch(s.points, at-reach)
	dst = dst[:0]
	for k := from; k < len(s.points) && s.points[k] <= at+reach; k++ {
		if len(dst) == shrinkWindow {
			return from, nil
		}
		z := (y - s.points[k]) / tau
		dst = append(dst, math.Exp(-z*z/2))
	}
	if len(dst) < shrinkSparse {
		return from, nil
	}
	return from, dst
}

// fit takes the EM steps: each makes the mass of a point its mean share of the numbers' posteriors.
func (s *shrinker) fit(fit []int, y, tau []float64) {
	from, likelihood := make([]int, len(fit)), make([][]float64, len(fit))
	var buffer []float64
	for i, j := range fit {
		from[i], buffer = s.window(buffer, y[j], tau[j])
		likelihood[i] = slices.Clone(buffer)
	}
	next := make([]float64, len(s.mass))
	for range shrinkSteps {
		clear(next)
		for i, l := range likelihood {
			mass := s.mass[from[i] : from[i]+len(l)]
			sum := 0.0
			for k, x := range l {
				sum += x * mass[k]
			}
			if !(sum > 0) {
				continue
			}
			into := next[from[i] : from[i]+len(l)]
			for k, x := range l {
				into[k] += x * mass[k] / sum
			}
		}
		s.mass, next = next, s.mass
	}
}

// mean returns the mean of the posterior of a number, and the number itself where there is none.
func (s *shrinker) mean(y, tau float64) float64 {
	sum, moment := 0.0, 0.0
	from, l := s.window(nil, y, tau)
	for k, x := range l {
		x *= s.mass[from+k]
		sum += x
		moment += x * s.points[from+k]
	}
	if !(sum > 0) {
		return y
	}
	return moment / sum
}

// median returns the median of the posterior, the mass of each point being spread evenly to the
// middle of the gaps beside it. That of 0 too: the least means of real data are above it.
func (s *shrinker) median(y, tau float64) float64 {
	sum := 0.0
	from, l := s.window(nil, y, tau)
	for k := range l {
		l[k] *= s.mass[from+k]
		sum += l[k]
	}
	if !(sum > 0) {
		return y
	}
	left := sum / 2
	for k, x := range l {
		if left -= x; left > 0 {
			continue
		}
		lo, hi := s.edge(from+k), s.edge(from+k+1)
		return hi + (hi-lo)*left/x
	}
	return y
}

// edge returns the end between the cells of points k−1 and k.
func (s *shrinker) edge(k int) float64 {
	switch {
	case k == 0:
		return s.points[0]
	case k == len(s.points):
		return s.points[k-1]
	}
	return (s.points[k-1] + s.points[k]) / 2
}

// medianShare is the share of the loss for the centre of the shifted mean.
const medianShare = 0.25

// medianRounds is the most rounds of the search for a median.
const medianRounds = 20

// medianAxis returns the finest axis of [0, top] with at most medianRounds rounds. Values 0 and 1
// have one.
func medianAxis(top int64) block.Axis {
	for b := 62; ; b-- {
		// 2^b cells up to 2^b, as many again for each octave beyond.
		if octaves := max(0, math.Ilogb(float64(top))-b) + 1; b < medianRounds && octaves<<b <= 1<<medianRounds {
			return block.NewAxis(0, top, 0, b)
		}
	}
}

// medianSigma2 is the variance of each of the d·T answers 2·#{x ≤ m} − n of a search, which one
// person moves by 1 when it comes or goes and by 2 when it is exchanged.
func (s sparse) medianSigma2(axis block.Axis, rho float64) noise.Variance {
	queries := int64(s.p.Dim) * int64(max(axis.Rounds(), 1))
	return scalar.SmallSigma2(s.p.Relation.Factor(), queries, rho)
}

// medians releases a median of every coordinate at loss rho.
func (s sparse) medians(n noise.Noiser, r entries, rho float64) []int64 {
	axis := medianAxis(r.top)
	sigma2, persons := s.medianSigma2(axis, rho), r.Persons()
	cells := block.Bisect(r.Block, axis, nil, func(_ int, atMost int64) bool {
		return n.GaussianInt(2*atMost-persons, sigma2) < 0
	})
	centre := make([]int64, len(cells))
	for j, c := range cells {
		centre[j] = axis.Value(c)
	}
	return centre
}

// medianPersons is the number of persons with which no answer far from the median turns the wrong
// way, with probability 95 %: there it is n or −n before noise.
func (s sparse) medianPersons() int64 {
	axis := medianAxis(s.hi << s.p.shift())
	answers := float64(s.p.Dim * max(axis.Rounds(), 1))
	v := s.medianSigma2(axis, s.rho*medianShare)
	return int64(math.Ceil(scalar.Root(v.Big()) * math.Sqrt2 * math.Erfcinv(2*0.05/answers)))
}

// needs implements core: the radius should cut off a quarter of the persons at most if all of them
// count, and a window of the histogram of norms should show.
func (s sparse) needs() int64 {
	rho, delta2 := s.rho, float64(firstpass.Delta2(s.p.Relation, false))
	switch s.method {
	case Shifted:
		rho *= 1 - medianShare
	case Plan:
		rho *= 1 - firstShare
	}
	target := firstpass.TailTarget(s.p.Dim, block.Factor2(s.p.Relation, s.method != Shifted), rho)
	window := firstpass.FarZ * math.Sqrt(delta2/(2*rho*firstpass.RadiusShare(rho, target, 0, s.p.Relation)))
	need := max(leastPersons, int64(math.Ceil(4*target)), int64(math.Ceil(2*window)))
	if s.method == Shifted {
		need = max(need, s.medianPersons())
	}
	return need
}

// steps implements core. The shares of histogram and sum depend on the number of persons; they are
// stated together.
func (s sparse) steps() []estimator.Step {
	parts := newBudget(s.rho)
	clipped := func(name string, rho float64) estimator.Step {
		return estimator.Step{Name: name, Mechanism: estimator.DiscreteGaussian, Sensitivity: "l2=clip", Queries: s.p.Dim, Rho: rho}
	}
	switch s.method {
	case Shifted:
		axis := medianAxis(s.hi << s.p.shift())
		return []estimator.Step{
			{Name: "centre", Mechanism: estimator.DiscreteGaussian, Use: "bisection", Sensitivity: "l2=1", Queries: s.p.Dim * max(axis.Rounds(), 1), Rho: parts.take(medianShare)},
			clipped("clip and sum", parts.rest()),
		}
	case Clipped:
		return []estimator.Step{clipped("clip and sum", parts.rest())}
	}
	return []estimator.Step{clipped("first mean", parts.take(firstShare)), clipped("weighted clip and sum", parts.rest())}
}

// squares releases the mean of the squares of every coordinate, in units of top², with the standard
// deviation of its noise, at loss rho: the vector (x_j²)_j of each person is clipped to a radius C
// that leaves out tailTarget persons.
//
// A square of 120 bits times a factor does not fit a word, so each is brought to a lattice that C
// decides:
//
//	y_j = ⌊x_j²·2^-k·min(1, C/N)·(1−2^-40)⌋, N ≥ ‖x²‖₂, C·2^-k ≤ 2^40
//
// in floats within one person, whose few roundings 2^-40 covers. Cutting toward 0 makes no
// coordinate greater, so ‖y‖₂ ≤ C·2^-k; and y ≥ 0, so that factor2 is that of vectors in one
// orthant. The sums of y are integers.
func (s sparse) squares(n noise.Noiser, r entries, count, rho float64) (mean, sigma []float64) {
	part := newBudget(rho)
	f2, top2 := block.Factor2(s.p.Relation, true), float64(r.top)*float64(r.top)
	target := firstpass.TailTarget(s.p.Dim, f2, rho)
	norms := squareNorms(r.Block)
	h := firstpass.NewHistogram(firstpass.NewOctaves(firstpass.RadiusPer, top2*math.Sqrt(float64(s.p.Dim))), firstpass.Delta2(s.p.Relation, false),
		part.take(firstpass.RadiusShare(rho, target, count, s.p.Relation)))
	radius := h.Radius(h.Release(n, norms), min(target, count/4))
	k := max(0, math.Ilogb(radius)-39)
	y := clippedSquares(r.Block, norms, radius, k)
	whole := estimator.Make[float64](r.Memory, len(norms)) // no y is clipped again
	mean, sigma = addNoise(n, block.ClipSumIn(y, 1, nil, whole, 1), nil, math.Ldexp(radius, -k), f2, part.rest())
	for j := range mean {
		mean[j] = math.Ldexp(mean[j]/(count*top2), k)
		sigma[j] = math.Ldexp(sigma[j]/(count*top2), k)
	}
	return mean, sigma
}

// squareNorms returns √(Σ_j x_j⁴) of every person, rounded up: four roundings a term, one for each
// addition.
func squareNorms(b *estimator.Block) []float64 {
	out := estimator.Make[float64](b.Memory, int(b.Persons()))[:0]
	for c := range b.Chunks {
		ch := &b.Chunks[c]
		for i := range ch.Persons {
			sum := 0.0
			for e := ch.Starts[i]; e < ch.Starts[i+1]; e++ {
				x := float64(ch.Values[e])
				x = float64(x * x)
				sum += float64(x * x)
			}
			slack := 1 + float64(ch.Starts[i+1]-ch.Starts[i]+16)*0x1p-50
			out = append(out, math.Sqrt(sum*slack))
		}
	}
	return out
}

// clippedSquares returns the block of y.
func clippedSquares(b *estimator.Block, norms []float64, radius float64, k int) *estimator.Block {
	out := &estimator.Block{Dim: b.Dim, Sparse: true, Chunks: make([]estimator.Chunk, len(b.Chunks)), Memory: b.Memory}
	at := 0
	for c := range b.Chunks {
		ch := &b.Chunks[c]
		y := estimator.Make[int64](b.Memory, len(ch.Values))
		for i := range ch.Persons {
			f := math.Ldexp(1-0x1p-40, -k)
			if norms[at] > radius {
				f *= radius / norms[at]
			}
			at++
			for e := ch.Starts[i]; e < ch.Starts[i+1]; e++ {
				x := float64(ch.Values[e])
				y[e] = int64(float64(float64(x*x) * f))
			}
		}
		out.Chunks[c] = estimator.Chunk{Persons: ch.Persons, Starts: ch.Starts, Index: ch.Index, Values: y}
	}
	return out
}
