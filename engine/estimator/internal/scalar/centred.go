package scalar

import (
	"math"

	"scrim/engine/estimator"
	"scrim/engine/estimator/internal/exponential"
	"scrim/engine/estimator/noise"
)

// Centred finds a centre and a radius for one number a person, or takes them from declared bounds.
//
//	bounds declared   centre = (L+U)/2, radius = (U−L)/2, no loss
//	otherwise         centre = the median (ρ_c), by the exponential mechanism or by bisection, whichever needs fewer
//	                  persons on the axis of the values; radius from a histogram of |x − centre| (ρ_r)
//	                  pure: the median by the exponential mechanism (ε_c), a histogram with Laplace noise (ε_r)
type Centred struct {
	Means
	bounded bool
	only    bool // no search for a radius
	axis    Axis
	drawn   bool                 // the median is drawn by the exponential mechanism
	chosen  exponential.Quantile // by which it is drawn
	median  Bisection            // by which it is searched otherwise
	radius  Radius
}

// centreRounds is the number of bisection rounds for a centre: it need only be precise compared
// with the spread, and 20 rounds find a number within ±2^50 to 1 part in 2^14.
const centreRounds = 20

// NewCentred returns the searches; the losses are not used when bounds are declared.
func NewCentred(p estimator.Params, centreLoss, radiusLoss float64) Centred {
	c := Centred{Means: NewMeans(p), bounded: p.Bounded()}
	if c.bounded {
		return c
	}
	c.axis = NewAxis(c.Lo, c.Hi, centreRounds)
	c.radius = RadiusOf(p, radiusLoss, c.Hi-c.Lo)
	if !p.Pure() {
		c.median = NewBisection(p.Relation, c.axis, 1, 2, 1, centreLoss)
		c.chosen = exponential.NewQuantile(1, 2, 1, centreLoss, p.Relation)
		c.drawn = c.chosen.Persons(float64(c.axis.cells)) < c.median.Persons()
		return c
	}
	c.drawn = true
	var err error
	if c.chosen, err = exponential.NewPureQuantile(1, 2, 1, centreLoss, p.Relation); err != nil {
		panic(err) // CheckPure: a share of the least loss is far above what a median needs
	}
	return c
}

// Open returns p with its declared bounds as the range of the grid alone: a search goes within it.
func Open(p estimator.Params) estimator.Params {
	if p.Bounded() {
		p.Grid.Lo, p.Grid.Hi = *p.Lower, *p.Upper
		p.Lower, p.Upper = nil, nil
	}
	return p
}

// NewCentre returns the search for a centre alone, at loss rho.
func NewCentre(p estimator.Params, rho float64) Centred {
	c := NewCentred(p, rho, rho)
	c.only = true
	return c
}

// Bounded reports whether the bounds are declared.
func (c Centred) Bounded() bool { return c.bounded }

// MinPersons is the number of persons that the searches need: the median must not leave the data by
// mistake, and the radius should leave at least half of the persons whole.
func (c Centred) MinPersons() int64 {
	if c.bounded {
		return 0
	}
	if c.only {
		return c.location()
	}
	return max(c.location(), 2*c.radius.Persons())
}

// Sure is the number of persons with which the searches hardly ever fail: the chance that the
// median leaves the data falls by its own power with their number, and twice as many persons are
// seen by the radius also where they are spread over several buckets.
func (c Centred) Sure() int64 {
	return max(c.location()+c.location()/5, 4*c.radius.Persons())
}

// location is the number of persons that the median needs.
func (c Centred) location() int64 {
	if c.drawn {
		return c.chosen.Persons(float64(c.axis.cells))
	}
	return c.median.Persons()
}

// Missed reports whether an answer v, with a standard error, is rather that of a centre far beyond
// all values: these are then at about the distance of 0 from it, all on one side, and v stands out
// neither from the noise nor from 0. All are released, in one unit. Values on both sides of 0 have
// a radius of several times a centre that is no better than this.
func Missed(centre, radius, v, stdErr float64) bool {
	centre, v = math.Abs(centre), math.Abs(v)
	return radius >= centre/2 && radius <= 3*centre && v <= centre/2 && !Stands(v, stdErr)
}

// Stands reports whether an answer stands out from its noise.
func Stands(v, stdErr float64) bool { return math.Abs(v) > leastNoises*stdErr }

// leastNoises is the least number of standard errors of an answer that stands out.
const leastNoises = 2.5

// centreStep describes the search for the centre.
func (c Centred) centreStep() estimator.Step {
	if c.drawn {
		return c.chosen.Step("centre", 1)
	}
	return c.median.Step("centre")
}

// find returns the median of the means.
func (c Centred) find(n noise.Noiser, m estimator.Memory, means []int64) int64 {
	cells := c.axis.Cells(m, means)
	defer estimator.Free(m, cells)
	if c.drawn {
		return c.axis.Value(c.chosen.Choose(n, m, cells, uint64(c.axis.cells)))
	}
	return c.median.Search(n, cells)
}

// Steps describes the searches.
func (c Centred) Steps() []estimator.Step {
	if c.bounded {
		return nil
	}
	if c.only {
		return []estimator.Step{c.centreStep()}
	}
	return []estimator.Step{c.centreStep(), c.radius.Step("clip")}
}

// Search returns centre and radius >= 1 in units of 2^-Shift steps; radius 1 after NewCentre. m is
// for what it makes of the columns.
func (c Centred) Search(n noise.Noiser, m estimator.Memory, rows, sums []int64) (centre, radius int64) {
	centre, radius, _ = c.Found(n, m, rows, sums)
	return centre, radius
}

// Found is Search, which also reports whether a distance stands out from the noise; otherwise the
// radius is a guess.
func (c Centred) Found(n noise.Noiser, m estimator.Memory, rows, sums []int64) (centre, radius int64, ok bool) {
	if c.bounded {
		centre, radius = c.Middle()
		return centre, radius, true
	}
	means := c.All(m, rows, sums)
	defer estimator.Free(m, means)
	centre = c.find(n, m, means)
	if c.only {
		return centre, 1, true
	}
	radius, ok = c.radius.Choose(n, Distances(means, centre))
	return centre, radius, ok
}
