package clipping

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"scrim/engine/estimator"
)

// Loss is what one law says that vectors lose which are shortened to a radius, in shares of the
// lengths that are left of all of them together.
type Loss struct {
	Weight float64 // of all together 1
	Near   float64 // share lost, for the answer
	Wide   float64 // share lost, for the interval
	Spread float64 // standard deviation of Wide among persons drawn by the law
	Heavy  float64 // share that those have who are beyond the radius
}

// mostLosses is the number of laws that Losses tells of: those alike are taken together.
const mostLosses = 12

// Lengths are what laws say of vectors of whose lengths there are noisy counts.
type Lengths struct {
	side  side
	limit float64
}

// LengthsBy fits the laws to noisy counts by octave, with noise of standard deviation sigma, of
// lengths up to limit, which need not be whole. ok is false where nothing stands out.
func LengthsBy(counts []float64, sigma, limit float64) (l Lengths, ok bool) {
	s, ok := newSide(counts, Counts{sigma: sigma, tail: 1, real: true})
	return Lengths{s, limit}, ok
}

// mostCut is the largest share of all lengths that a radius may take for them to be told by what is
// left: with hardly anything left the noise of a radius is next to nothing, and so is what differs
// from group to group.
const mostCut = 0.75

// Radius returns the radius to which the vectors are shortened with the least expected error of
// their sum, when what they lose by expectation is added: noise2 is the squared length of the sum's
// noise at radius 1, and aligned the length of what is lost in the sum, per length that persons
// lose. ok is false where the best radius would say next to nothing.
func (l Lengths) Radius(noise2, aligned float64) (radius float64, ok bool) {
	s := &l.side
	total, cuts := s.means(len(s.radii))
	best := math.Inf(1)
	for i, r := range s.radii {
		if cuts[i] > mostCut*total {
			continue
		}
		risk, grown := 0.0, total/(total-cuts[i])
		for _, f := range s.fits {
			d, doubt := f.cut[i]-cuts[i], f.doubt[i]
			bias, noise := aligned*aligned*(d*d+doubt*doubt), noise2*r*r*grown*grown
			risk += f.weight * min((bias+noise)/(f.total*f.total), 100)
		}
		if risk < best {
			best, radius = risk, r
		}
	}
	return min(radius, l.limit), math.Sqrt(best) <= mostRisk
}

// Lengths fits the laws to counts on one side, as LengthsBy does.
func (c Counts) Lengths() (l Lengths, ok bool) {
	s, ok := newSide(c.up, c)
	return Lengths{s, c.limit}, ok
}

// RadiusOfRatio returns the radius of the least expected error of a quotient of two sums of the
// vectors' coordinates: noise times the radius over the length that is left, and unlike times the
// share that is lost, whose quotient may be another one.
func (l Lengths) RadiusOfRatio(noise, unlike float64) float64 {
	s := &l.side
	best, radius := math.Inf(1), 1.0
	for i, r := range s.radii {
		risk := 0.0
		for _, f := range s.fits {
			e, lost := noise*r/max(r, f.total-f.cut[i]), unlike*math.Hypot(f.cut[i], f.doubt[i])/f.total
			risk += f.weight * (e*e + lost*lost)
		}
		if risk < best {
			best, radius = risk, r
		}
	}
	return min(radius, l.limit)
}

// Losses returns what the laws say of a radius, the least loss first.
func (l Lengths) Losses(radius float64) []Loss {
	all := make([]Loss, len(l.side.fits))
	for i, f := range l.side.fits {
		all[i] = l.side.loss(f, radius)
	}
	slices.SortFunc(all, func(a, b Loss) int { return cmp.Compare(a.Wide, b.Wide) })
	return together(all)
}

// loss is what one law says of a radius.
func (s *side) loss(f fit, radius float64) Loss {
	// the radii that it is between; what is beyond falls linearly there
	last := len(s.radii) - 1
	if last == 0 {
		left := max(radius, f.total-f.cut[0])
		return Loss{f.weight, f.cut[0] / left, f.wide[0] / left, f.spread[0] / left, 1}
	}
	at := min(max(sort.SearchFloat64s(s.radii, radius), 1), last)
	low, high := s.radii[at-1], s.radii[at]
	part := min(max((radius-low)/(high-low), 0), 1)
	between := func(x []float64) float64 { return x[at-1] + part*(x[at]-x[at-1]) }
	cut, wide := between(f.cut), between(f.wide)
	persons := max(0, (f.wide[at-1]-f.wide[at])/(high-low))
	left := max(radius, f.total-cut)
	spread := math.Hypot(between(f.spread), math.Hypot(distrust*cut, between(f.rough)))
	return Loss{f.weight, cut / left, wide / left, spread / left, min(1, persons*radius/left)}
}

// together takes neighbours together until few are left, each of about the same weight.
func together(all []Loss) []Loss {
	var out []Loss
	var sum Loss
	for i, l := range all {
		w := l.Weight
		sum.Weight += w
		sum.Near += w * l.Near
		sum.Wide += w * l.Wide
		sum.Spread += w * (l.Spread*l.Spread + l.Wide*l.Wide)
		sum.Heavy += w * l.Heavy
		if sum.Weight < 1./mostLosses && i < len(all)-1 || sum.Weight == 0 {
			continue
		}
		w = sum.Weight
		wide := sum.Wide / w
		out = append(out, Loss{w, sum.Near / w, wide, math.Sqrt(max(0, sum.Spread/w-wide*wide)), sum.Heavy / w})
		sum = Loss{}
	}
	return out
}

// CutOfMean returns laws of what shortened vectors may move a mean by, whose rows differ by kappa
// from its centre: the rows that are lost may have another mean than those that are left. It is nil
// where nothing is lost.
func CutOfMean(losses []Loss, kappa float64) []estimator.Cut {
	if losses == nil {
		return nil
	}
	parts := make([]estimator.CutPart, len(losses))
	for i, l := range losses {
		parts[i] = estimator.CutPart{Weight: l.Weight, StdDev: kappa * l.Wide / (1 + l.Wide)}
	}
	return []estimator.Cut{{Up: parts, Down: parts}}
}
