package clipping

import (
	"math"
	"slices"
	"sync"
)

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
