package clipping

import (
	"math"
	"slices"
	"sync"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/scalar"
)

// Share is the share of a loss that the search has, the rest being the sum's.
const Share = 0.35

// distrust is the relative error that the expected cut itself is taken to have when a radius is
// chosen: what the laws agree on is not all there is to be wrong about.
const distrust = 0.5

// mostRisk is the relative error from which on an answer is not given.
const mostRisk = 0.6

// Choice is an interval [−Low, High] that totals are clipped to, and what that takes away.
type Choice struct {
	Low, High int64
	// Cut is what clipping is expected to take from the sum, in grid steps: to be added.
	Cut float64
	// Up and Down bound it on the two sides of the sum, in units of step.
	Up, Down  []estimator.CutPart
	Seen      float64 // the largest total that they allow for, in grid steps
	Gate      float64 // the upper end of the farthest octave that stands out, in grid steps
	Persons   float64 // number that stands out, from the noisy counts
	Risk      float64 // expected relative error of the sum of the persons' absolute totals
	bothSigns bool    // values may be on both sides of 0
	oneSided  bool    // they may, and stand out on one alone
	Long      bool    // distances have the tail of totals
	Tailed    bool    // they have nearly that
	// of Cut, what is taken above and below
	above, below float64
	side         *side // where values are on one side of 0
}

// leastAdded is the least cut that is added to a mean or a spread, in standard deviations of its
// noise: less than this makes none better. leastShare is the least part of a sum that is added to
// it, however much noise there is, as totals of many sums add up what is missing: laws cannot tell
// less from nothing.
const leastAdded, leastShare = 0.75, 0.0025

// Added is what is added to a mean or a spread for a cut that is expected, in the units of both:
// nothing where it is little beside the noise, of standard deviation sigma.
func Added(cut, sigma float64) float64 {
	if math.Abs(cut) < leastAdded*sigma {
		return 0
	}
	return cut
}

// AddedToSum is what is added to a sum for a cut that is expected, in the units of both.
func AddedToSum(cut, sum float64) float64 {
	if math.Abs(cut) < leastShare*math.Abs(sum) {
		return 0
	}
	return cut
}

// Answer is the answer made of the noisy sum of what was clipped, in grid steps: the sum and what
// the clip is expected to have taken from it, scaled. It is TooFew where it would say next to
// nothing. A sum of numbers of both signs may be near 0 and still say something.
func (c Choice) Answer(sum float64, hidden scalar.Noise, scale func(steps float64) float64) estimator.Estimate {
	c.Cut = AddedToSum(c.Cut, sum)
	e := scalar.Hidden(scale(sum+c.Cut), hidden, scale(1))
	// What is expected to be cut does not count: where noise alone opened the gate that is all.
	small := !scalar.Stands(sum, hidden.Sigma())
	if c.Risk > mostRisk || small && !c.bothSigns {
		return scalar.TooFew(1, scalar.Twice(max(1, c.Persons*max(1, c.Risk/mostRisk))))
	}
	e.Error.Cut = []estimator.Cut{{Added: scale(c.Cut), Up: c.Up, Down: c.Down, Radius: scale(float64(max(c.Low, c.High))), Seen: scale(c.Seen)}}
	e.Error.Persons = c.Persons
	return e
}

// TooWild reports whether the sum would say next to nothing.
func (c Choice) TooWild() bool { return c.Risk > mostRisk }

// OneSided reports whether values may be on both sides of 0 and stand out on one alone: nothing is
// known of what a clip takes on the other.
func (c Choice) OneSided() bool { return c.oneSided }

// Within is the choice where nothing is beyond [−low, high], which is public: an end that reaches
// that takes nothing away.
func (c Choice) Within(low, high int64) Choice {
	if c.Low >= low {
		c.Low, c.below, c.Down = low, 0, nil
	}
	if c.High >= high {
		c.High, c.above, c.Up = high, 0, nil
	}
	c.Cut = c.above - c.below
	return c
}

// Means is what an error says of the clip of a mean about a centre, to which so much was added; nil
// where nothing was searched for.
func (c Choice) Means(added float64) []estimator.Cut {
	if c.Up == nil && c.Down == nil {
		return nil
	}
	return []estimator.Cut{{Added: added, Up: c.Up, Down: c.Down, Long: c.Tailed}}
}

// unseenSide is the part of the other side's radius that a side has on which nothing stands out.
const unseenSide = 4

// longTail is how many octaves the gate of distances is beyond their fullest octave where they have
// the tail of totals, wherever the centre is: of 5,000 persons an even law has up to 1, a normal
// one 2, an exponential one 3. From there on distances follow the laws of totals, and the interval
// goes on for longOctaves; from one octave less on it allows for whom the noise may hide. The
// octaves are those of the noisy counts.
const longTail, longOctaves = 4, 7

// longest is the greatest number of octaves of a side from its fullest one to its gate, or from a
// later one that is nearly as full: persons of one to sixteen rows may be evenly far off.
func (c Counts) longest() (octaves int) {
	for _, counts := range [][]float64{c.up, c.down} {
		if counts != nil {
			gate := pointsOf(c.groups).open(counts, c.sigma*c.tail, c.adjoining())
			nearly := 0.75 * counts[fullest(counts)]
			from := gate
			for from > 0 && counts[from] < nearly {
				from--
			}
			octaves = max(octaves, gate-from)
		}
	}
	return octaves
}

// Spread reports whether totals are spread over octaves: whether the second to the fifth octave
// beyond the fullest one of a side stand out together, surely.
func (c Counts) Spread() bool {
	return slices.ContainsFunc([][]float64{c.up, c.down}, func(counts []float64) bool {
		if counts == nil {
			return false
		}
		at := fullest(counts)
		from, to := min(at+2, len(counts)), min(at+6, len(counts))
		return counts[at] > gateZ*c.sigma && sum(counts[from:to]) > farZ*c.tail*c.sigma*math.Sqrt(float64(to-from))
	})
}

// Choose returns the interval of the least expected error; noise is the standard deviation of the
// noise of the sum by interval. ok is false where nothing stands out from the noise of the counts.
//
// The expected error is that of a sum to which the expected cut is added: of the cut's deviation
// from law to law, of distrust in it, and of the noise, relative to the law's own total and counted
// as 10 at most.
//
// A person who comes or goes moves the sum by the longer end: then both ends are the same. One who
// is exchanged moves it by the length: then each end is chosen, one after the other until they
// stay, and a side on which nothing stands out has 1/unseenSide of the other, so that few persons
// there, whom the noise hides, are not lost altogether.
func (c Counts) Choose(noise func(low, high int64) float64, step float64) (choice Choice, ok bool) {
	var sides [2]side
	var has [2]bool
	if c.about {
		octaves := c.longest()
		choice.Tailed = octaves >= longTail-1
		if octaves >= longTail {
			c.about, c.real, c.long = false, false, true
		}
	}
	for i, counts := range [][]float64{c.up, c.down} {
		if counts != nil {
			sides[i], has[i] = newSide(counts, c)
		}
	}
	if !has[0] && !has[1] {
		return Choice{}, false
	}
	for k := range sides {
		if has[0] && has[1] && sides[k].stray(sides[1-k].gate, c.tail) {
			sides[k], has[k] = side{}, false
		}
	}
	radii := sides[0].radii
	if len(sides[1].radii) > len(radii) {
		radii = sides[1].radii
	}
	totals, cuts := [2]float64{}, [2][]float64{}
	for i := range sides {
		totals[i], cuts[i] = sides[i].means(len(radii))
	}
	ends := func(at [2]int) (low, high int64) {
		return c.ends(has, min(math.Floor(radii[at[1]]), c.limit), min(math.Floor(radii[at[0]]), c.limit))
	}
	// What the other side adds does not depend on this side's law, nor what the noise does on the
	// side below.
	below := make([]float64, len(radii))
	for i := range below {
		if has[1] {
			below[i] = sides[1].risk(i, cuts[1][i], 0, totals[0])
		}
	}
	best, at := math.Inf(1), [2]int{}
	try := func(next [2]int) {
		if below[next[1]] >= best {
			return
		}
		if r := sides[0].risk(next[0], cuts[0][next[0]], noise(ends(next)), totals[1]) + below[next[1]]; r < best {
			best, at = r, next
		}
	}
	for i := range radii {
		try([2]int{i, i})
	}
	for before := math.Inf(1); c.apart && has[0] && has[1] && best < before; {
		before = best
		for k := range sides {
			next := at
			for next[k] = range radii {
				try(next)
			}
		}
	}
	choice.Low, choice.High = ends(at)
	choice.Risk, choice.Long = math.Sqrt(best), c.long
	up, partsUp := sides[0].cutOf(at[0], step)
	down, partsDown := sides[1].cutOf(at[1], step)
	choice.above, choice.below, choice.Up, choice.Down = up, down, partsUp, partsDown
	choice.Cut = up - down
	if c.up != nil && !has[0] {
		choice.Up = hidden()
	}
	if c.down != nil && !has[1] {
		choice.Down = hidden()
	}
	choice.Seen = min(math.Exp2(float64(max(sides[0].wide, sides[1].wide))), c.limit)
	choice.Gate = math.Exp2(float64(max(sides[0].gate, sides[1].gate)))
	choice.bothSigns = c.up != nil && c.down != nil
	choice.oneSided = choice.bothSigns && has[0] != has[1]
	choice.Persons = sides[0].persons() + sides[1].persons()
	if k := slices.Index(has[:], true); !choice.bothSigns {
		choice.side = &sides[k]
	}
	return choice, true
}

// hidden is what is said of a side on which values may be and nothing stands out: nothing is
// expected there, but that it is nothing is not proved.
func hidden() []estimator.CutPart { return []estimator.CutPart{{Weight: 1}} }

// ends brings the ends of an interval to what the sides have.
func (c Counts) ends(has [2]bool, low, high float64) (int64, int64) {
	switch {
	case c.up == nil:
		high = 0
	case c.down == nil:
		low = 0
	case c.apart && !has[0]:
		high = math.Floor(low / unseenSide)
	case c.apart && !has[1]:
		low = math.Floor(high / unseenSide)
	}
	return int64(low), int64(high)
}

// means returns the expected total and the expected cut of each radius.
func (s *side) means(radii int) (total float64, cuts []float64) {
	cuts = make([]float64, radii)
	for _, f := range s.fits {
		total += f.weight * f.total
		for i := range f.cut {
			cuts[i] += f.weight * f.cut[i]
		}
	}
	return total, cuts
}

// risk is the expected squared relative error of radius number i.
func (s *side) risk(i int, mean, noise, other float64) float64 {
	if len(s.fits) == 0 {
		return min(noise*noise/(max(1, other)*max(1, other)), 100)
	}
	risk := 0.0
	for _, f := range s.fits {
		doubt, cut := 0.0, 0.0
		if i < len(f.cut) {
			doubt, cut = f.doubt[i], f.cut[i]
		}
		d, total := cut-mean, f.total+other
		risk += f.weight * min((d*d+doubt*doubt+noise*noise)/(total*total), 100)
	}
	return risk
}

// persons is the number of persons up to the octave that the answer counts on.
func (s *side) persons() float64 {
	if len(s.fits) == 0 {
		return 0
	}
	return max(1, sum(s.counts[:s.top+1]))
}

// Distances from a centre are spread otherwise than totals: evenly up to an end, or as half a
// normal law; and values that are far apart, as ratings are, follow no smooth law. Where they are
// on both sides, each side may be off, so that what is allowed for beyond the gate weighs twice.
const (
	// aboutOctaves stands for wideOctaves, aboutZ for adjoiningZ.
	aboutOctaves = 4
	aboutZ       = 4
	// hintZ is the standard deviations that an octave farther off, within nearWindow, holds that
	// the interval allows for, too: most persons may be at the centre, as of zeros and hundreds.
	hintZ = 2.5
	// freePrior is the logarithm by which the law that follows the counts is less likely than one
	// of the library.
	freePrior = 1
)

// About returns the counts as those of distances from a centre, which need not be whole.
func (c Counts) About() Counts {
	c.about, c.real = true, true
	return c
}

// library are the laws that may fit, far the last octave that the interval allows for, and
// adjoining how far octaves beside the gate stand out.
func (c Counts) library() []law {
	switch {
	case c.squares:
		return lawsOfSquares()
	case c.about:
		return lawsOfDistances()
	}
	return laws()
}

func (c Counts) far(counts []float64, gate int) int {
	switch {
	case c.squares:
		return gate + squareOctaves
	case c.long:
		return gate + longOctaves
	case !c.real:
		return gate + wideOctaves
	case !c.about:
		return gate + lengthOctaves
	}
	wide := gate + aboutOctaves
	for k := wide + 1; k <= gate+nearWindow && k < len(counts); k++ {
		if counts[k] > hintZ*c.sigma {
			wide = k
		}
	}
	return wide
}

func (c Counts) adjoining() float64 {
	if c.about {
		return aboutZ
	}
	return adjoiningZ
}

// lawsOfDistances is the library with half a normal law, a law that is even up to an end, one that
// falls to nothing there, each at two places in an octave, and one that is all in one octave.
var lawsOfDistances = sync.OnceValue(func() []law {
	all := slices.Clone(laws())
	for _, at := range []float64{0, 0.5} {
		for _, density := range []func(x float64) float64{
			func(x float64) float64 { return math.Exp(-x * x / 2) },
			func(x float64) float64 {
				if x > 1 {
					return 0
				}
				return 1
			},
			func(x float64) float64 { return max(0, 1-x) },
		} {
			all = append(all, newLaw(func(y float64) float64 {
				x := math.Exp2(y - at)
				return x * density(x)
			}, at-6, math.Ceil(at+3)))
		}
	}
	return append(all, evenOctave())
})

// evenOctave is all in one octave, evenly on the scale of logarithms.
func evenOctave() law { return newLaw(func(float64) float64 { return 1 }, -1, 0) }

// free adds the law that follows the counts to those of s and returns its place: each octave up to
// the gate that holds two standard deviations has what was counted there, the others have nothing.
// Where no law of the library is near the counts, that of them would win which leaves the most to
// outliers.
//
// Each octave that it fills has a number of its own, of density 1/(number·ln(all/noise)) from the
// noise to all; the weight has each integrated out.
func (s *side) free() place {
	even := evenOctave()
	n := 0.0
	for _, c := range s.counts[:s.gate+1] {
		n += max(0, c)
	}
	l, odd, cost := law{}, 0.0, float64(freePrior)
	for k, c := range s.counts[:s.wide+1] {
		u, mass := math.Exp2(float64(k)), 0.0
		if k <= s.gate && c > 2*s.sigma {
			mass = c
			cost += max(0, math.Log(c*max(1, math.Log(n/s.sigma))/math.Sqrt(s.sigma*s.sigma+c)))
		} else {
			odd += s.empty[k]
		}
		l.mass, l.mean, l.mean2 = append(l.mass, mass), append(l.mean, even.mean[0]*u), append(l.mean2, even.mean2[0]*u*u)
		for j := range perOctave {
			l.excess = append(l.excess, even.excess[j]*u)
		}
	}
	all := max(1, sum(l.mass))
	for k := range l.mass {
		l.mass[k] /= all
	}
	s.laws = append(slices.Clip(s.laws), l)
	return place{law: len(s.laws) - 1, persons: all, weight: -odd/2 - cost}
}
