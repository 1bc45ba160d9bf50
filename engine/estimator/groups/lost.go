package groups

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/clipping"
)

// What the joint clip takes from a group's answer is estimated by the laws of norms that the
// radius was chosen by, added, and allowed for in the interval. A law says which share of all
// vectors is lost, not of which groups: vectors beyond the radius are shortened as a whole, and may
// be in some groups more than in others.
//
//	added    the share lost along the sums, of the group's own clipped sum
//	bound    the same with a share of heavy persons whose odds are e^unlike times those of all
//	         groups together, and with the drawing of persons: those of a group are fewer
//
// All of it follows from released numbers. It is a model: docs/proofs/clipping.md says what is
// measured of it.

// unlike is the standard deviation, from group to group, of the logarithm of the odds that what is
// in a group is of a person beyond the radius.
const unlike = 0.5

// clip is a radius and what laws of norms say that it takes; losses is nil, and known true, where
// it takes nothing.
type clip struct {
	radius float64
	losses []clipping.Loss
	known  bool
}

// along is the part of the share lost that a sum is enlarged by: persons with long vectors over
// many groups are in other groups than all persons together. Of what baskets lose over 100 groups a
// fifth is along the sums of prices and a half along those of items; of ratings over 20 genres, and
// where persons differ in nothing but their numbers of rows, all of it is.
func along(groups float64) float64 { return math.Sqrt(alongAll / max(groups, alongAll)) }

// alongAll is the number of groups up to which all of it is.
const alongAll = 20

// lostOf is the share that is expected to be lost of what is left.
func lostOf(losses []clipping.Loss) float64 {
	near := 0.0
	for _, l := range losses {
		near += l.Weight * l.Near
	}
	return near
}

// lost returns what a clip is expected to take from the sum v of a group, to be added, and laws of
// what it may take; all is what |v| is of all groups together and sigma the noise of v, all in the
// units of v.
func (s released) lost(p part, v, sigma, all float64) estimator.Cut {
	if s.whole {
		return estimator.Cut{}
	}
	if s.losses == nil {
		beyond := []estimator.CutPart{{Weight: 1, Mean: math.Inf(1)}}
		return estimator.Cut{Up: beyond, Down: beyond}
	}
	cut := estimator.Cut{Added: clipping.Added(v*along(s.groups)*lostOf(s.losses), sigma)}
	one := p.Measure.count() || p.total.lo >= 0 || p.total.hi <= 0
	size := math.Abs(v)
	if one {
		size = max(0, v)
		if p.Measure == Sum && p.total.hi <= 0 {
			size = max(0, -v)
		}
	}
	parts := s.beyond(size, sigma, all)
	if !one { // what is lost on the two sides of 0 need not show in the sum
		for i, l := range s.losses {
			parts[i].StdDev = math.Hypot(parts[i].StdDev, all*l.Wide/s.groups)
		}
	}
	switch {
	case !one:
		cut.Up, cut.Down = parts, parts
	case p.Measure == Sum && p.total.hi <= 0:
		cut.Down = parts
	default:
		cut.Up = parts
	}
	return cut
}

// beyond returns laws of what a clip takes from a group that has size left, with noise of standard
// deviation sigma, of all groups together.
//
// Where the noise has taken from a group, it has taken as large a part of what its persons are
// said to lose. So as many are taken to be drawn as sigma has at least.
func (s released) beyond(size, sigma, all float64) []estimator.CutPart {
	parts := make([]estimator.CutPart, len(s.losses))
	for i, l := range s.losses {
		mean, more := size*l.Wide, 0.0
		if l.Heavy > 0 && l.Heavy < 1 {
			odds := math.Exp(unlike) * l.Heavy / (1 - l.Heavy)
			more = mean * (odds/(1+odds)/l.Heavy - 1)
		}
		left := max(size, sigma)
		drawn := l.Spread * math.Pow(left, 0.875) * math.Pow(max(all, left), 0.125)
		parts[i] = estimator.CutPart{Weight: l.Weight, Mean: mean, StdDev: math.Hypot(more, drawn)}
	}
	return parts
}

// lostOfMean returns laws of what a clip may move the mean of a group by, of whose rows, of all
// rows, it leaves so many, each as long as weight at least: what is lost may be differences, on one
// side of the mean of those that are left.
func (s released) lostOfMean(weight, rows, all float64) estimator.Cut {
	if s.whole {
		return estimator.Cut{}
	}
	if s.losses == nil {
		beyond := []estimator.CutPart{{Weight: 1, Mean: math.Inf(1)}}
		return estimator.Cut{Up: beyond, Down: beyond}
	}
	parts := s.beyond(max(0, rows), 0, all)
	for i, p := range parts {
		parts[i] = estimator.CutPart{Weight: p.Weight, StdDev: weight * math.Hypot(p.Mean, p.StdDev) / (max(0, rows) + p.Mean)}
	}
	return estimator.Cut{Up: parts, Down: parts}
}
