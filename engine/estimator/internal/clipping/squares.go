package clipping

import (
	"math"
	"slices"
	"sync"

	"scrim/engine/estimator"
)

// squareOctaves stands for wideOctaves: numbers are spread over half as many.
const squareOctaves = 8

// lawsOfSquares is the library with the wider laws that squares follow.
var lawsOfSquares = sync.OnceValue(func() []law {
	all := slices.Clone(laws())
	for _, at := range []float64{0, 0.5} {
		for _, sigma := range []float64{3.3, 4.2} {
			s := sigma / math.Ln2
			density := func(y float64) float64 { return math.Exp(-(y - at) * (y - at) / (2 * s * s)) }
			all = append(all, newLaw(density, at-5*s, at+4*s))
		}
		density := func(y float64) float64 {
			if y < at {
				return 0
			}
			return math.Exp2(-(y - at))
		}
		all = append(all, newLaw(density, at, at+16))
	}
	return all
})

// Squares is a radius that numbers are clipped to, and what that takes from the sum of their
// squares.
type Squares struct {
	Radius int64
	Cut    float64             // what is taken, by expectation
	Laws   []estimator.CutPart // of what is taken
	Risk   float64             // expected relative error of the sum with Cut added
}

// Squares returns the radius of the least expected error of the sum of squares, whose noise has a
// standard deviation of noise at radius 1. The counts are those of NewSquares. ok is false where
// nothing stands out. Where nothing does but who is at 0, others may hide in the noise, with any
// number: what is taken has no bound.
//
// A radius is a whole number. The laws of what is beyond it are those of the last radius that was
// tried below: they take no less.
func (c Counts) Squares(noise float64) (out Squares, ok bool) {
	s, ok := newSide(c.up, c)
	if !ok {
		return Squares{}, false
	}
	_, cuts := s.means(len(s.radii))
	best, at := math.Inf(1), 0
	for _, r := range s.radii {
		whole := math.Ceil(math.Sqrt(min(r, c.limit)))
		r = whole * whole
		below, found := slices.BinarySearch(s.radii, r)
		if !found {
			below--
		}
		if risk := s.risk(below, cuts[below], noise*r, 0); risk < best {
			best, at, out.Radius = risk, below, int64(whole)
		}
	}
	out.Cut, out.Laws = s.cutOf(at, 1)
	if s.gate == 0 {
		out.Laws = unseen()
	}
	out.Risk = math.Sqrt(best)
	return out, true
}

// TooWild reports whether the sum would say next to nothing.
func (s Squares) TooWild() bool { return s.Risk > mostRisk }
