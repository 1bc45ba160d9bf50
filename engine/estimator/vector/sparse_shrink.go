package vector

import (
	"math"
	"slices"
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
