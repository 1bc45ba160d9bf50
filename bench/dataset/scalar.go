package dataset

import (
	"math/rand/v2"
	"slices"

	"scrim/bench/internal/named"
	"scrim/engine/estimator"
)

// scalars are the sets of the local and the shuffle model: one number a person, or few.
var scalars = []Kind{
	{"anywhere", "n=100000,sd=1,span=1000,law=gaussian|exponential", "numbers of standard deviation sd whose mean is uniform in [0, span], anew in every sample; the span is declared [JKMW19]", openAnywhere},
	{"unit", "n=20000,d=1", "numbers in [0, 1], coordinates independent: Beta(2, 4), the second smallest of five uniform ones", openUnit},
}

func openAnywhere(n *named.Name, _ string) (*Set, error) {
	s := &Set{Persons: n.Int("n", 100_000, 0, 1<<24), Dim: 1, P: 2}
	s.Entries = s.Persons
	sd, span := n.Float("sd", 1, 1e-6, 1e6), n.Float("span", 1000, 1, 1e6)
	skewed := n.Word("law", "gaussian", "gaussian", "exponential") == "exponential"
	s.Radius, s.Sigma, s.SigmaMin, s.Variances = span, []float64{sd}, sd, []float64{sd * sd}
	s.setRange(-10*sd, span+40*sd)
	s.draw = func(r rng) (*estimator.Block, []float64, error) {
		mean := span * r.part(-1).Float64()
		return s.dense(r, func(part int, r rng, _ int, x []float64) {
			g := r.part(part)
			for i := range x {
				if x[i] = mean + sd*g.NormFloat64(); skewed {
					x[i] = mean + sd*(g.ExpFloat64()-1)
				}
			}
		}), []float64{mean}, nil
	}
	return s, nil
}

func openUnit(n *named.Name, _ string) (*Set, error) {
	s := denseSet(n, 20_000, 1)
	s.setRange(0, 1)
	for range s.Dim {
		s.Variances = append(s.Variances, 2./63)
	}
	s.draw = func(r rng) (*estimator.Block, []float64, error) {
		return s.dense(r, func(part int, r rng, _ int, x []float64) {
			g := r.part(part)
			for i := range x {
				x[i] = beta24(g)
			}
		}), constant(s.Dim, 1./3), nil
	}
	return s, nil
}

func beta24(g *rand.Rand) float64 {
	u := [5]float64{g.Float64(), g.Float64(), g.Float64(), g.Float64(), g.Float64()}
	slices.Sort(u[:])
	return u[1]
}
